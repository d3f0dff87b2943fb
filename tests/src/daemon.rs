//! A daemon at work.

use std::fs::{self, File, OpenOptions};
use std::ops::Deref;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::agent::Agent;
use crate::command::Ended;
use crate::home::{Home, KEY};
use crate::http::{self, Answer, Request};
use crate::wait::{until, within};

/// A daemon in a home. It is killed when the test ends.
#[derive(Debug)]
pub struct Daemon {
    home: Home,
    child: Child,
    webhooks: String,
}

impl Deref for Daemon {
    type Target = Home;

    fn deref(&self) -> &Home {
        &self.home
    }
}

impl Daemon {
    pub(crate) fn start(home: Home) -> Self {
        home.take_cache();
        let child = spawn(&home, home.daemon_command());
        let mut daemon = Self { home, child, webhooks: String::new() };
        daemon.wait_ready();
        daemon.home.share_cache();
        let key = daemon.path().join(format!("keys/{KEY}.pub")).display().to_string();
        daemon.nbctl(&["key", "trust", &key]).success();
        daemon
    }

    /// Starts it again with the same home.
    pub fn start_again(&mut self) {
        assert!(self.has_ended().is_some(), "the daemon still runs");
        self.child = spawn(&self.home, self.home.daemon_command());
        self.wait_ready();
    }

    /// Returns when it answers.
    fn wait_ready(&mut self) {
        let status = until("the daemon is ready", || {
            if let Some(status) = self.has_ended() {
                panic!("the daemon ended with {status}:\n{}", self.log());
            }
            self.ask(&Request::new("GET", "/v1/status")).ok()
        });
        let at = status.json()["webhooks_at"].as_str().unwrap().to_owned();
        self.webhooks = at.trim_start_matches("http://").to_owned();
    }

    /// Kills it at once, as a power cut would.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Kills it and starts it again.
    pub fn kill_and_start(&mut self) {
        self.kill();
        self.start_again();
    }

    /// Tells it to leave.
    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_raw(i32::try_from(self.pid()).unwrap()).unwrap(), signal).unwrap();
    }

    /// Tells it to leave, and says how it ended and how long that took.
    pub fn terminate(&mut self) -> (ExitStatus, Duration) {
        let begun = Instant::now();
        self.signal(Signal::TERM);
        let status = until("the daemon leaves", || self.has_ended());
        (status, begun.elapsed())
    }

    /// How it ended; none while it runs.
    pub fn has_ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().unwrap()
    }

    /// Its process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// What it logged since the home was made.
    pub fn log(&self) -> String {
        fs::read_to_string(log_file(&self.home)).unwrap_or_default()
    }

    /// Its resident memory in bytes.
    pub fn resident_bytes(&self) -> u64 {
        let statm = fs::read_to_string(format!("/proc/{}/statm", self.pid())).unwrap();
        let pages: u64 = statm.split_whitespace().nth(1).unwrap().parse().unwrap();
        pages * rustix::param::page_size() as u64
    }

    /// Where it serves webhooks: `127.0.0.1:PORT`.
    pub fn webhooks(&self) -> &str {
        &self.webhooks
    }

    /// Sends a webhook request.
    pub fn send(&self, request: &Request) -> Answer {
        request.send(&self.webhooks)
    }

    /// Sends a request to its API.
    pub fn ask(&self, request: &Request) -> Result<Answer, String> {
        let stream = UnixStream::connect(self.socket()).map_err(|error| error.to_string())?;
        stream.set_read_timeout(Some(http::SILENCE)).map_err(|error| error.to_string())?;
        http::exchange(stream, &request.bytes())
    }

    /// What its API says about something, as JSON.
    #[track_caller]
    pub fn get(&self, target: &str) -> Value {
        let answer = self.ask(&Request::new("GET", target)).unwrap();
        assert_eq!(answer.status, 200, "{target}: {}", answer.text());
        answer.json()
    }

    /// Starts a run without waiting for its end, and gives its id.
    pub fn begin(&self, agent: &str) -> String {
        let request = json!({"agent": agent, "detach": true}).to_string();
        let answer =
            self.ask(&Request::post("/v1/runs", request).header("content-type", "application/json")).unwrap();
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.json()["id"].as_str().unwrap().to_owned()
    }

    /// The status of a run.
    pub fn status_of(&self, run: &str) -> String {
        self.get(&format!("/v1/runs/{run}"))["run"]["status"].as_str().unwrap().to_owned()
    }

    /// A run once it has ended, with its record.
    pub fn ended(&self, run: &str) -> Value {
        until(&format!("{run} has ended"), || {
            let record = self.get(&format!("/v1/runs/{run}"));
            let status = record["run"]["status"].as_str().unwrap();
            ["completed", "failed", "cancelled"].contains(&status).then_some(record)
        })
    }

    /// The newest thousand runs of an agent, the newest first.
    pub fn runs(&self, agent: &str) -> Vec<Value> {
        self.get(&format!("/v1/runs?agent={agent}&limit=1000")).as_array().unwrap().clone()
    }

    /// Packs and installs an agent with everything it asks for.
    #[track_caller]
    pub fn install(&self, agent: &Agent) -> Ended {
        self.install_with(&self.package(agent), &["--grant", "all"]).success()
    }

    /// Installs a package with further options.
    pub fn install_with(&self, package: &Path, options: &[&str]) -> Ended {
        let package = package.display().to_string();
        self.nbctl(&[&["install", &package], options].concat())
    }

    /// What an agent may do now.
    pub fn granted(&self, agent: &str) -> Vec<String> {
        let shown = self.get(&format!("/v1/agents/{agent}"));
        let permissions = shown["permissions"].as_array().unwrap().iter();
        let granted = permissions.filter(|view| view["granted"] == true);
        granted.map(|view| view["permission"].as_str().unwrap().to_owned()).collect()
    }

    /// The folders of unpacked packages: NAME/DIGEST, and those that are not in place yet.
    pub fn unpacked(&self) -> Vec<PathBuf> {
        let below = |dir: &Path| -> Vec<PathBuf> {
            fs::read_dir(dir).into_iter().flatten().map(|entry| entry.unwrap().path()).collect()
        };
        below(&self.path().join("state/packages")).iter().flat_map(|agent| below(agent)).collect()
    }

    /// Calls a tool with parameters, and gives the run as JSON, whatever came of it.
    #[track_caller]
    pub fn call(&self, agent: &str, tool: &str, parameters: &Value) -> Value {
        self.nbctl(&["--json", "run", agent, "--tool", tool, "--input", &parameters.to_string()]).json()
    }

    /// What a tool gives.
    #[track_caller]
    pub fn result(&self, agent: &str, tool: &str, parameters: &Value) -> Value {
        let run = self.call(agent, tool, parameters);
        assert_eq!(run["status"], "completed", "{run}");
        run["output"].clone()
    }

    /// Why a tool fails.
    #[track_caller]
    pub fn failure(&self, agent: &str, tool: &str, parameters: &Value) -> String {
        let run = self.call(agent, tool, parameters);
        assert_eq!(run["status"], "failed", "{run}");
        run["error"].as_str().unwrap().to_owned()
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            eprintln!("--- the daemon's log\n{}", self.log());
        }
    }
}

/// Starts a daemon with its log in the home.
fn spawn(home: &Home, mut command: Command) -> Child {
    let log: File = OpenOptions::new().create(true).append(true).open(log_file(home)).unwrap();
    command.stderr(log).spawn().unwrap()
}

fn log_file(home: &Home) -> PathBuf {
    home.path().join("daemon.log")
}

/// Waits for a process to end; none when it is still there after the time.
pub fn ends_within(child: &mut Child, time: Duration) -> Option<ExitStatus> {
    within(time, || child.try_wait().unwrap())
}
