//! The home, the daemon, and what the steps need of them.

use std::fs;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use nb_api::agents::{InstallOptions, Installed};
use nb_api::host::{KeyView, Status, TrustRequest};
use nb_api::runs::{RunRecord, RunRequest, RunView, RunsQuery};
use nb_api::wake::{SignQuery, SignedRequest};
use nb_api::{ApiError, Client, Paths};
use nb_package::{BuildOptions, SecretKey, build};
use nb_spec::Files;
use tempfile::TempDir;
use tokio::time::{Instant, sleep};

use super::wrong;
use crate::error::Error;

/// The daemon may take this long to be ready: it compiles the guest at the first start of a home.
const START: Duration = Duration::from_secs(15);
/// How often a state that must come about is looked at.
const LOOK: Duration = Duration::from_millis(10);

/// A throw-away home with its daemon.
pub(super) struct Stage {
    home: TempDir,
    keep: bool,
    paths: Paths,
    pub client: Client,
    daemon: Option<Child>,
}

impl Stage {
    /// Makes the home.
    pub fn set(keep: bool) -> Result<Self, Error> {
        let home = TempDir::with_prefix("nanobot-demo-").map_err(|source| Error::Io {
            action: "make a folder in",
            path: std::env::temp_dir(),
            source,
        })?;
        let paths = Paths::in_home(home.path());
        Ok(Self { client: Client::new(&paths.socket), home, keep, paths, daemon: None })
    }

    /// Makes a signing key.
    pub fn make_key(&self) -> Result<SecretKey, Error> {
        let key = SecretKey::generate()?;
        self.make_dir(&self.paths.keys)?;
        key.save(&self.paths.keys.join("demo.key"))?;
        Ok(key)
    }

    /// Puts a secret where the daemon finds it.
    pub fn put_secret(&self, name: &str, value: &str) -> Result<(), Error> {
        let dir = self.paths.config.join("secrets");
        self.make_dir(&dir)?;
        let path = dir.join(name);
        let written = fs::write(&path, value)
            .and_then(|()| fs::set_permissions(&path, fs::Permissions::from_mode(0o600)));
        written.map_err(|source| Error::Io { action: "write", path, source })
    }

    fn make_dir(&self, dir: &std::path::Path) -> Result<(), Error> {
        let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(dir);
        made.map_err(|source| Error::Io { action: "make", path: dir.to_owned(), source })
    }

    /// Builds a package; signs it when a key is given.
    pub fn package(&self, files: &Files, key: Option<&SecretKey>) -> Result<Vec<u8>, Error> {
        // One build of each agent: any serial does.
        let options = BuildOptions { modified: 1, serial: Some(1), key };
        let built =
            build(files, options).map_err(|source| Error::Package { path: "the sample".into(), source })?;
        Ok(built.bytes)
    }

    /// Starts the daemon that lies beside this program, and waits until it is ready.
    pub async fn start(&mut self) -> Result<Status, Error> {
        let program = daemon_program()?;
        let log_path = self.home.path().join("nanobotd.log");
        let log = fs::File::options()
            .create(true)
            .append(true)
            .open(&log_path)
            .map_err(|source| Error::Io { action: "write", path: log_path.clone(), source })?;
        let child = Command::new(&program)
            .arg("--home")
            .arg(self.home.path())
            .args(["--listen", "127.0.0.1:0"])
            .env_remove("NANOBOT_SOCKET")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .map_err(|source| Error::Io { action: "start", path: program, source })?;
        let daemon = self.daemon.insert(child);
        let deadline = Instant::now() + START;
        loop {
            if let Ok(Some(status)) = daemon.try_wait() {
                let log = fs::read_to_string(&log_path).unwrap_or_default();
                return Err(wrong(format!("the daemon left with {status}: {}", log.trim())));
            }
            match self.client.get("/v1/status", &()).await {
                Ok(status) => return Ok(status),
                Err(error) if Instant::now() > deadline => return Err(error.into()),
                Err(_) => sleep(LOOK).await,
            }
        }
    }

    /// Kills the daemon as `kill -9` does.
    pub fn kill(&mut self) -> Result<u32, Error> {
        let mut daemon = self.daemon.take().ok_or_else(|| wrong("there is no daemon"))?;
        let id = daemon.id();
        let killed = daemon.kill().and_then(|()| daemon.wait());
        killed.map_err(|source| Error::Io {
            action: "kill",
            path: format!("process {id}").into(),
            source,
        })?;
        Ok(id)
    }

    /// Trusts a key.
    pub async fn trust(&self, key: &SecretKey) -> Result<KeyView, Error> {
        let request = TrustRequest {
            public_key: key.public().to_string(),
            label: "demo".to_owned(),
            names: Vec::new(),
        };
        Ok(self.client.post("/v1/keys", &request).await?)
    }

    /// Installs a package.
    pub async fn install(&self, package: Vec<u8>, grant: &str) -> Result<Installed, ApiError> {
        let options = InstallOptions { grant: grant.to_owned(), ..InstallOptions::default() };
        self.client.upload("/v1/agents", &options, package).await
    }

    /// Calls a tool.
    pub async fn call(&self, agent: &str, tool: &str, params: &[(&str, &str)]) -> Result<RunView, Error> {
        let params = params.iter().map(|(name, value)| ((*name).to_owned(), (*value).into())).collect();
        let tool = Some(tool.to_owned());
        let request = RunRequest { agent: agent.to_owned(), tool, params, ..RunRequest::default() };
        Ok(self.client.post("/v1/runs", &request).await?)
    }

    /// The request that a webhook's sender would make.
    pub async fn sign(&self, agent: &str, path: &str, body: &str) -> Result<SignedRequest, Error> {
        let query = SignQuery { agent: agent.to_owned(), path: path.to_owned() };
        Ok(self.client.upload("/v1/webhooks/sign", &query, body.as_bytes().to_vec()).await?)
    }

    /// The runs of an agent, the newest first.
    pub async fn runs(&self, agent: Option<&str>) -> Result<Vec<RunView>, Error> {
        let query = RunsQuery { agent: agent.map(str::to_owned), limit: Some(1000) };
        Ok(self.client.get("/v1/runs", &query).await?)
    }

    /// The record of a run that has ended; waits for its end.
    pub async fn ended(&self, id: &str) -> Result<RunRecord, Error> {
        let deadline = Instant::now() + START;
        loop {
            let record: RunRecord = self.client.get(&format!("/v1/runs/{id}"), &()).await?;
            match record.run.status.as_str() {
                "completed" => return Ok(record),
                "failed" | "cancelled" => return Err(Error::Run(Box::new(record.run))),
                _ if Instant::now() > deadline => return Err(wrong(format!("run {id} does not end"))),
                _ => sleep(LOOK).await,
            }
        }
    }

    /// The newest run of an agent that came after `known` others, once it has completed.
    pub async fn next_run(&self, agent: &str, known: usize) -> Result<RunView, Error> {
        let deadline = Instant::now() + START;
        loop {
            let runs = self.runs(Some(agent)).await?;
            match runs.first() {
                Some(run) if runs.len() > known && run.status == "completed" => return Ok(run.clone()),
                _ if Instant::now() > deadline => return Err(wrong(format!("{agent} does not wake"))),
                _ => sleep(LOOK).await,
            }
        }
    }

    /// The address of the webhooks.
    pub async fn webhooks_at(&self) -> Result<String, Error> {
        let status: Status = self.client.get("/v1/status", &()).await?;
        Ok(status.webhooks_at)
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        if self.daemon.is_some() {
            // It is ours and nothing of it is kept.
            let _ = self.kill();
        }
        if self.keep {
            #[expect(clippy::print_stderr, reason = "the demo may have failed: its report cannot say it")]
            {
                eprintln!("the home of the demo stays in {}", self.home.path().display());
            }
            self.home.disable_cleanup(true);
        }
    }
}

/// The daemon beside this program.
fn daemon_program() -> Result<PathBuf, Error> {
    let this = std::env::current_exe().map_err(|source| Error::Io {
        action: "find",
        path: "this program".into(),
        source,
    })?;
    let program = this.with_file_name("nanobotd");
    if program.exists() {
        return Ok(program);
    }
    let message = format!("there is no {}", program.display());
    Err(ApiError::new(nb_api::ErrorKind::NotFound, message)
        .hint("nanobotd and nbctl belong into one folder")
        .into())
}
