//! Which daemon is meant, and where the signing keys are.

use std::path::{Path, PathBuf};

use nb_api::Paths;

use crate::cli::Globals;
use crate::error::Error;

/// The socket and the folders that the options and the environment name.
#[derive(Debug)]
pub(crate) struct Places {
    socket: Option<PathBuf>,
    paths: Result<Paths, String>,
}

impl Places {
    /// `--socket`, `$NANOBOT_SOCKET`, `--home`, `$NANOBOT_HOME`, the XDG folders: the first that is given counts.
    /// `--system` takes the place of everything but `--socket`.
    pub fn find(globals: &Globals, variable: impl Fn(&str) -> Option<String>) -> Self {
        let given = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let from_environment = || if globals.system { None } else { given("NANOBOT_SOCKET") };
        let socket = globals.socket.clone().or_else(from_environment);
        let paths = if globals.system {
            Ok(Paths::system())
        } else if let Some(home) = globals.home.clone().or_else(|| given("NANOBOT_HOME")) {
            Ok(Paths::in_home(&home))
        } else {
            Paths::user(&variable)
        };
        Self { socket, paths }
    }

    /// The daemon's socket.
    pub fn socket(&self) -> Result<&Path, Error> {
        match &self.socket {
            Some(socket) => Ok(socket),
            None => Ok(&self.paths()?.socket),
        }
    }

    /// The folder of the signing keys.
    pub fn keys(&self) -> Result<&Path, Error> {
        Ok(&self.paths()?.keys)
    }

    fn paths(&self) -> Result<&Paths, Error> {
        self.paths.as_ref().map_err(|problem| Error::usage(problem.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn socket(globals: &Globals, variables: &[(&str, &str)]) -> String {
        let variable = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        Places::find(globals, variable).socket().unwrap().display().to_string()
    }

    #[test]
    fn the_nearest_word_about_the_socket_counts() {
        let mut environment = vec![
            ("HOME", "/home/ada"),
            ("XDG_RUNTIME_DIR", "/run/user/1000"),
            ("NANOBOT_HOME", "/env-home"),
            ("NANOBOT_SOCKET", "/env.sock"),
        ];
        let plain = Globals::default();
        let home = Globals { home: Some("/home-option".into()), ..Globals::default() };
        let socket_option = Globals { socket: Some("/option.sock".into()), ..home.clone() };
        let system = Globals { system: true, ..Globals::default() };
        assert_eq!(socket(&socket_option, &environment), "/option.sock");
        assert_eq!(socket(&home, &environment), "/env.sock");
        assert_eq!(socket(&system, &environment), "/run/nanobot/nanobotd.sock");
        environment.pop();
        assert_eq!(socket(&home, &environment), "/home-option/nanobotd.sock");
        assert_eq!(socket(&plain, &environment), "/env-home/nanobotd.sock");
        environment.pop();
        assert_eq!(socket(&plain, &environment), "/run/user/1000/nanobot/nanobotd.sock");
    }

    #[test]
    fn a_given_socket_needs_no_home() {
        let globals = Globals { socket: Some("/option.sock".into()), ..Globals::default() };
        let places = Places::find(&globals, |_| None);
        assert_eq!(places.socket().unwrap(), Path::new("/option.sock"));
        assert!(places.keys().unwrap_err().to_string().contains("--home"));
    }
}
