//! A folder with everything that one daemon needs.

use std::fs::{self, DirBuilder, Permissions};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::agent::Agent;
use crate::command::Ended;
use crate::daemon::Daemon;

/// The key that signs the packages of a test, and that its daemon trusts.
pub const KEY: &str = "tests";

/// A throw-away home.
#[derive(Debug)]
pub struct Home {
    dir: tempfile::TempDir,
    variables: Vec<(String, String)>,
    serial: AtomicU64,
}

impl Default for Home {
    fn default() -> Self {
        Self::new()
    }
}

impl Home {
    /// An empty one with a signing key.
    pub fn new() -> Self {
        Self::below(&std::env::temp_dir())
    }

    /// The same in a folder of the test's own choice.
    pub fn below(folder: &Path) -> Self {
        let dir = tempfile::Builder::new().prefix("nb-").tempdir_in(folder).unwrap();
        let home = Self { dir, variables: Vec::new(), serial: AtomicU64::new(1) };
        home.nbctl(&["key", "generate", KEY]).success();
        home
    }

    /// The same with this `config.yaml`.
    pub fn config(self, yaml: &str) -> Self {
        self.write("config/config.yaml", yaml);
        self
    }

    /// The same with a secret.
    pub fn secret(self, name: &str, value: &str) -> Self {
        let path = self.write(&format!("config/secrets/{name}"), value);
        fs::set_permissions(path, Permissions::from_mode(0o600)).unwrap();
        self
    }

    /// The same with a variable in the daemon's environment.
    pub fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Starts a daemon, which trusts the home's key.
    pub fn start(self) -> Daemon {
        Daemon::start(self)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// The daemon's socket.
    pub fn socket(&self) -> PathBuf {
        self.path().join("nanobotd.sock")
    }

    /// Writes a file into the home.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    /// The command line of `nbctl` with this home, in this home, and nothing else from the surroundings.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(binary("nbctl"));
        command.args(args).env_clear().env("NANOBOT_HOME", self.path());
        command.current_dir(self.path()).stdin(Stdio::null());
        command
    }

    /// Runs `nbctl` to its end.
    pub fn nbctl(&self, args: &[&str]) -> Ended {
        Ended::new(format!("nbctl {}", args.join(" ")), self.command(args).output().unwrap())
    }

    /// The command line of the daemon with this home.
    pub fn daemon_command(&self) -> Command {
        let mut command = Command::new(binary("nanobotd"));
        command.args(["--listen", "127.0.0.1:0", "--home"]).arg(self.path());
        command.env_clear().envs(self.variables.iter().cloned()).stdin(Stdio::null());
        command
    }

    /// Runs a daemon that is expected to end by itself.
    pub fn nanobotd(&self, args: &[&str]) -> Ended {
        let output = self.daemon_command().args(args).output().unwrap();
        Ended::new(format!("nanobotd {}", args.join(" ")), output)
    }

    /// Packs an agent, signed with the home's key. Each package has a higher serial than the one before.
    pub fn package(&self, agent: &Agent) -> PathBuf {
        self.package_by(agent, Some(KEY))
    }

    /// Packs an agent, signed with another key or with none.
    pub fn package_by(&self, agent: &Agent, key: Option<&str>) -> PathBuf {
        let serial = self.serial.fetch_add(1, Ordering::Relaxed).to_string();
        let dir = self.path().join(format!("agents/{}-{serial}", agent.name));
        agent.write(&dir);
        let file = self.path().join(format!("{}-{serial}.nap", agent.name));
        let (dir, path) = (dir.display().to_string(), file.display().to_string());
        let mut args = vec!["package", "build", &dir, "-o", &path, "--serial", &serial];
        args.extend(key.into_iter().flat_map(|key| ["--sign", key]));
        self.nbctl(&args).success();
        file
    }

    /// Compiling the guest takes half a second, so that tests share what one of them compiled.
    pub(crate) fn take_cache(&self) {
        let own = self.path().join("cache");
        DirBuilder::new().recursive(true).mode(0o700).create(&own).unwrap();
        for file in cached(&shared_cache()) {
            fs::copy(&file, own.join(file.file_name().unwrap())).unwrap();
        }
    }

    pub(crate) fn share_cache(&self) {
        let shared = shared_cache();
        DirBuilder::new().recursive(true).mode(0o700).create(&shared).unwrap();
        for file in cached(&self.path().join("cache")) {
            let target = shared.join(file.file_name().unwrap());
            if !target.exists() {
                // Under another name first: a test beside this one must not take half of it.
                let half = tempfile::NamedTempFile::new_in(&shared).unwrap();
                fs::copy(&file, half.path()).unwrap();
                half.persist(target).unwrap();
            }
        }
    }
}

fn shared_cache() -> PathBuf {
    build_folder().join("nb-tests-cache")
}

fn cached(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "cwasm"))
        .collect()
}

/// The folder of the build that this test belongs to, such as `target/debug`.
fn build_folder() -> PathBuf {
    std::env::current_exe().unwrap().ancestors().nth(2).unwrap().to_owned()
}

/// A program of this project, of the same build as the test.
///
/// # Panics
/// When it is not built.
pub fn binary(name: &str) -> PathBuf {
    let path = build_folder().join(name);
    assert!(path.exists(), "{} is missing; build it first: cargo build -p nanobotd -p nbctl", path.display());
    path
}
