//! Where a daemon keeps its things.
//!
//! `--home` or `$NANOBOT_HOME` puts everything below one folder: for tests, demos, and a second daemon. Else a user's
//! daemon follows the XDG base directories and a system daemon the file system hierarchy.

use std::path::{Path, PathBuf};

/// The folders and the socket of one daemon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paths {
    /// `config.yaml` and `secrets/`: written by a person.
    pub config: PathBuf,
    /// The store, the installed packages and the trusted keys: written by the daemon. Owner-only.
    pub state: PathBuf,
    /// What can be made again: the compiled guest. Owner-only.
    pub cache: PathBuf,
    /// Signing keys of a developer; the daemon never reads them.
    pub keys: PathBuf,
    /// The daemon's socket.
    pub socket: PathBuf,
}

impl Paths {
    /// Everything below one folder.
    pub fn in_home(home: &Path) -> Self {
        Self {
            config: home.join("config"),
            state: home.join("state"),
            cache: home.join("cache"),
            keys: home.join("keys"),
            socket: home.join("nanobotd.sock"),
        }
    }

    /// The places of a system daemon.
    pub fn system() -> Self {
        Self {
            config: "/etc/nanobot".into(),
            state: "/var/lib/nanobot".into(),
            cache: "/var/cache/nanobot".into(),
            keys: "/etc/nanobot/keys".into(),
            socket: "/run/nanobot/nanobotd.sock".into(),
        }
    }

    /// The places of a user's daemon, by the environment: `variable` gives the value of one.
    ///
    /// Fails when neither the XDG variables nor `HOME` say where.
    pub fn user(variable: impl Fn(&str) -> Option<String>) -> Result<Self, String> {
        let given = |name: &str| variable(name).filter(|value| value.starts_with('/')).map(PathBuf::from);
        let below_home = |name: &str, rest: &str| {
            given(name)
                .or_else(|| given("HOME").map(|home| home.join(rest)))
                .map(|base| base.join("nanobot"))
                .ok_or_else(|| format!("neither ${name} nor $HOME is set; use --home DIR"))
        };
        let config = below_home("XDG_CONFIG_HOME", ".config")?;
        let state = below_home("XDG_STATE_HOME", ".local/state")?;
        let socket_dir =
            given("XDG_RUNTIME_DIR").map_or_else(|| state.join("run"), |dir| dir.join("nanobot"));
        Ok(Self {
            keys: config.join("keys"),
            config,
            state,
            cache: below_home("XDG_CACHE_HOME", ".cache")?,
            socket: socket_dir.join("nanobotd.sock"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_daemon_follows_the_xdg_variables() {
        let paths = Paths::user(|name| match name {
            "HOME" => Some("/home/ada".to_owned()),
            "XDG_RUNTIME_DIR" => Some("/run/user/1000".to_owned()),
            "XDG_CONFIG_HOME" => Some("relative is ignored".to_owned()),
            _ => None,
        })
        .unwrap();
        assert_eq!(paths.config, Path::new("/home/ada/.config/nanobot"));
        assert_eq!(paths.state, Path::new("/home/ada/.local/state/nanobot"));
        assert_eq!(paths.socket, Path::new("/run/user/1000/nanobot/nanobotd.sock"));
        assert!(Paths::user(|_| None).unwrap_err().contains("--home"));
    }
}
