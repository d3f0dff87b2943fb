//! A daemon that answers as the test says, and the command that asks it.

use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Arc, Mutex};
use std::thread;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Request, Response};

/// What the daemon was asked: method and path with query, and the body.
pub type Asked = Arc<Mutex<Vec<(String, String)>>>;

/// A throw-away home, and perhaps a daemon in it.
pub struct Home {
    dir: tempfile::TempDir,
    asked: Asked,
}

/// How a command ended.
#[derive(Debug)]
pub struct Ended {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Home {
    /// Nothing listens.
    pub fn empty() -> Self {
        Self { dir: tempfile::tempdir().unwrap(), asked: Asked::default() }
    }

    /// A daemon that gives each request to `answer`: `METHOD /path?query` to status and body.
    pub fn with_daemon(answer: impl Fn(&str) -> (u16, String) + Send + Sync + 'static) -> Self {
        let home = Self::empty();
        let listener = home.listen();
        listener.set_nonblocking(true).unwrap();
        let (asked, answer) = (home.asked.clone(), Arc::new(answer));
        thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
            runtime.block_on(async {
                let listener = tokio::net::UnixListener::from_std(listener).unwrap();
                let router = Router::new().fallback(move |request: Request<Body>| {
                    let (asked, answer) = (asked.clone(), answer.clone());
                    async move {
                        let line = format!("{} {}", request.method(), request.uri());
                        let body = to_bytes(request.into_body(), usize::MAX).await.unwrap();
                        asked
                            .lock()
                            .unwrap()
                            .push((line.clone(), String::from_utf8_lossy(&body).into_owned()));
                        let (status, body) = answer(&line);
                        Response::builder().status(status).body(Body::from(body)).unwrap()
                    }
                });
                axum::serve(listener, router).await.unwrap();
            });
        });
        home
    }

    /// Something that reads a request, says these bytes, and breaks off.
    pub fn with_bytes(bytes: &'static [u8]) -> Self {
        Self::with_connection(bytes, drop)
    }

    /// Something that reads a request, says these bytes, and then nothing more.
    pub fn with_silence_after(bytes: &'static [u8]) -> Self {
        let mut kept = Vec::new();
        Self::with_connection(bytes, move |stream| kept.push(stream))
    }

    fn with_connection(bytes: &'static [u8], mut then: impl FnMut(UnixStream) + Send + 'static) -> Self {
        let home = Self::empty();
        let listener = home.listen();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let _ = stream.read(&mut [0; 4096]);
                let _ = stream.write_all(bytes);
                then(stream);
            }
        });
        home
    }

    fn listen(&self) -> UnixListener {
        UnixListener::bind(self.path().join("nanobotd.sock")).unwrap()
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Writes a file into the home.
    pub fn file(&self, name: &str, content: &str) -> PathBuf {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    /// The command with this home, in this home, and nothing else from the surroundings.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_nbctl"));
        command.args(args).env_clear().env("NANOBOT_HOME", self.path()).current_dir(self.path());
        command.stdin(std::process::Stdio::null());
        command
    }

    /// Runs the command to its end. The home's path is shown as `HOME`.
    pub fn run(&self, args: &[&str]) -> Ended {
        let Output { status, stdout, stderr } = self.command(args).output().unwrap();
        let text = |bytes: Vec<u8>| {
            String::from_utf8(bytes).unwrap().replace(&self.path().display().to_string(), "HOME")
        };
        Ended { code: status.code(), stdout: text(stdout), stderr: text(stderr) }
    }

    /// What the daemon was asked so far, one request a line.
    pub fn asked(&self) -> Vec<(String, String)> {
        self.asked.lock().unwrap().clone()
    }
}

impl std::fmt::Display for Ended {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let code = self.code.map_or_else(|| "signal".to_owned(), |code| code.to_string());
        write!(f, "exit {code}\n--- stdout\n{}--- stderr\n{}", self.stdout, self.stderr)
    }
}
