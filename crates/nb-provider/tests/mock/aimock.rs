//! The mock server: a process of node, for one test.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use nb_egress::Request;
use serde_json::{Value, json};

use crate::bot::TOKEN;
use crate::support::{SECRET, egress};

/// How long it may take to start. It needs less than a second.
const START: Duration = Duration::from_secs(30);
/// Pieces of so many characters: each text and each call's arguments come in several.
const PIECE: &str = "5";

/// The server at work. It ends with this value.
pub struct Aimock {
    child: Child,
    pub address: String,
}

/// A request as it read it.
#[derive(Debug, Clone)]
pub struct Noted {
    pub path: String,
    /// Keys are not in it, only the names of their headers.
    pub headers: Value,
    /// The body in OpenAI's form, whatever form it came in.
    pub body: Value,
}

impl Aimock {
    /// Starts it with a file of `fixtures/`. None, and a line that says so, when it is not there as it is pinned.
    pub fn start(fixtures: &str) -> Option<Self> {
        let program = installed()?;
        let fixtures = here().join("fixtures").join(fixtures);
        let mut command = Command::new("node");
        command
            .arg(program)
            .args(["--port", "0", "--chunk-size", PIECE, "--strict", "--fixtures"])
            .arg(fixtures);
        // What it says of requests that it has no fixture for comes with the output of the test.
        let path = std::env::var_os("PATH").unwrap_or_default();
        // Whoever comes without one of these keys is refused.
        let keys = format!("{SECRET},{TOKEN}");
        command.env_clear().env("PATH", path).env("AIMOCK_API_KEYS", keys);
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = match command.spawn() {
            Ok(child) => child,
            Err(error) => {
                skip(&format!("node cannot be run: {error}"));
                return None;
            }
        };
        let output = BufReader::new(child.stdout.take().unwrap());
        // From here on it ends whatever happens.
        let mut server = Self { child, address: String::new() };
        let (tell, told) = mpsc::channel();
        // Reads on to the end: a full pipe would stop the server.
        std::thread::spawn(move || {
            let mut said = String::new();
            for line in output.lines().map_while(Result::ok) {
                if let Some((_, address)) = line.split_once("listening on ") {
                    let _ = tell.send(Ok(address.trim().to_owned()));
                }
                said += &format!("{line}\n");
            }
            let _ = tell.send(Err(said));
        });
        match told.recv_timeout(START) {
            Ok(Ok(address)) => server.address = address,
            Ok(Err(said)) => panic!("aimock ended:\n{said}"),
            Err(_) => panic!("aimock does not listen after {START:?}"),
        }
        Some(server)
    }

    /// The requests so far, oldest first.
    pub async fn journal(&self) -> Vec<Noted> {
        let found = self.control("GET", "journal", None).await;
        let noted = |entry: &Value| Noted {
            path: entry["path"].as_str().unwrap().to_owned(),
            headers: entry["headers"].clone(),
            body: entry["body"].clone(),
        };
        found.as_array().unwrap().iter().map(noted).collect()
    }

    /// Forgets them.
    pub async fn clear_journal(&self) {
        self.control("POST", "reset/journal", None).await;
    }

    /// How many requests came with this as what the person said last.
    pub async fn asked(&self, said: &str) -> usize {
        let is_it = |noted: &Noted| {
            let messages = noted.body["messages"].as_array().unwrap();
            let last = messages.iter().rfind(|message| message["role"] == "user").unwrap();
            last["content"].to_string().contains(said)
        };
        self.journal().await.iter().filter(|noted| is_it(noted)).count()
    }

    /// The next request is answered with an error, and only that one.
    pub async fn fail_once(&self, status: u16, message: &str) {
        let body = json!({"status": status, "body": {"message": message}});
        self.control("POST", "error", Some(body)).await;
    }

    async fn control(&self, method: &str, what: &str, body: Option<Value>) -> Value {
        let mut request = Request::get(format!("{}/__aimock/{what}", self.address));
        request.method = method.to_owned();
        request.headers.push(("authorization".to_owned(), format!("Bearer {SECRET}")));
        request.body = body.map(|body| body.to_string().into_bytes()).unwrap_or_default();
        let response = egress().fetch(request).await.unwrap();
        assert_eq!(response.status, 200, "{}", String::from_utf8_lossy(&response.body));
        serde_json::from_slice(&response.body).unwrap()
    }
}

impl Drop for Aimock {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The folder of this file.
fn here() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mock")
}

/// Its program, when `cargo xtask oracles` has installed what is pinned.
fn installed() -> Option<PathBuf> {
    let home = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/oracle/node");
    let wanted = fs::read(here().join("package-lock.json")).unwrap();
    if !fs::read(home.join("installed.json")).is_ok_and(|noted| noted == wanted) {
        skip("aimock is not installed; `cargo xtask oracles` does it");
        return None;
    }
    Some(home.join("node_modules/@copilotkit/aimock/dist/cli.js"))
}

fn skip(reason: &str) {
    let test = std::thread::current().name().unwrap_or_default().to_owned();
    // Not by a macro: the test runner shows what those print of failed tests alone.
    std::io::stderr().write_all(format!("skipped: {test}: {reason}\n").as_bytes()).unwrap();
}
