//! The daemon as a process: how it starts, whom it serves, how it leaves.

use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader, Read};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use nb_tests::daemon::ends_within;
use nb_tests::http::{self, Request};
use nb_tests::wait::{DEADLINE, within};
use nb_tests::{Agent, Daemon, Ended, Home, skip, until};
use rustix::process::Signal;
use serde_json::{Value, json};

/// A tool that is still computing when the daemon is told to leave.
fn spins() -> Agent {
    Agent::lua("spins", "while true do end")
        .yaml("fuel_limit: 100000000000\nresources: {max_fuel: 100000000000}")
}

#[test]
fn a_second_daemon_is_refused_and_told_of_the_first() {
    let daemon = Home::new().start();
    let second = daemon.nanobotd(&[]).fails(1);
    let expected = format!(
        "another nanobotd, process {}, already runs on {}/state",
        daemon.pid(),
        daemon.path().display()
    );
    assert_eq!(second.error(), expected);
    // It must not have touched the socket of the first one.
    daemon.nbctl(&["status"]).success();
    let elsewhere = Home::new().start();
    elsewhere.nbctl(&["status"]).success();
}

#[test]
fn the_socket_of_another_home_is_not_taken_and_what_is_no_socket_stays() {
    let first = Home::new().start();
    let second = Home::new();
    let socket = first.socket().display().to_string();
    let refused = second.nanobotd(&["--socket", &socket]).fails(1);
    let expected = format!(
        "cannot serve on {socket}: another daemon answers there; stop it, or choose another place with --socket"
    );
    assert_eq!(refused.error(), expected);
    first.nbctl(&["status"]).success();
    let diary = second.write("diary", "dear diary");
    second.nanobotd(&["--socket", &diary.display().to_string()]).fails(1).stderr_contains("no socket");
    assert_eq!(fs::read_to_string(diary).unwrap(), "dear diary");
}

#[test]
fn folders_that_others_may_write_into_are_refused() {
    for folder in ["state", "cache"] {
        let home = Home::new();
        let path = home.path().join(folder);
        fs::create_dir(&path).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o777)).unwrap();
        let refused = home.nanobotd(&[]).fails(1);
        let shown = path.display();
        let expected = format!("others may write into the folder {shown}; chmod 700 {shown}");
        assert_eq!(refused.error(), expected);
        assert_eq!(fs::read_dir(&path).unwrap().count(), 0, "nothing was written");
    }
}

#[test]
fn a_store_of_a_newer_version_is_refused_and_left_alone() {
    let mut daemon = Home::new().start();
    daemon.terminate();
    let dir = daemon.path().join("state/store");
    {
        let db = sled::Config::new().path(&dir).segment_size(1 << 20).open().unwrap();
        let meta = db.open_tree("meta").unwrap();
        let row: Value = serde_json::from_slice(&meta.get("schema").unwrap().unwrap()).unwrap();
        let newer = json!({"version": row["version"].as_u64().unwrap() + 1, "since": row["since"]});
        meta.insert("schema", newer.to_string().as_bytes()).unwrap();
        db.flush().unwrap();
    }
    let refused = daemon.nanobotd(&[]).fails(1);
    assert_eq!(
        refused.error(),
        "the store has schema version 2 and this program supports versions up to 1: update the program, or restore a backup"
    );
    let again = daemon.nanobotd(&[]).fails(1);
    assert_eq!(again.error(), refused.error(), "the first refusal changed nothing");
}

#[test]
fn the_socket_and_the_folders_are_the_owners_alone() {
    let daemon = Home::new().start();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&daemon.socket()), 0o600);
    for folder in ["state", "cache", "state/store", "keys"] {
        assert_eq!(mode(&daemon.path().join(folder)), 0o700, "{folder}");
    }
    assert_eq!(mode(&daemon.path().join("keys/tests.key")), 0o600);
}

#[test]
fn another_user_is_refused_even_when_the_file_lets_it_in() {
    if !rustix::process::geteuid().is_root() {
        return skip("only root can become another user");
    }
    let daemon = Home::new().start();
    fs::set_permissions(daemon.path(), Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(daemon.socket(), Permissions::from_mode(0o666)).unwrap();
    // The build's folder may be closed to others, so the command goes where they can reach it.
    let nbctl = daemon.path().join("nbctl");
    fs::copy(nb_tests::home::binary("nbctl"), &nbctl).unwrap();
    fs::set_permissions(&nbctl, Permissions::from_mode(0o755)).unwrap();
    let socket = daemon.socket().display().to_string();
    let as_user = |user: &str| {
        let words = ["--reuid", user, "--regid", user, "--clear-groups", "--inh-caps=-all"];
        let command = Command::new("setpriv")
            .args(words)
            .arg(&nbctl)
            .args(["--socket", &socket, "ls"])
            .output()
            .unwrap();
        Ended::new(format!("setpriv --reuid {user} nbctl ls"), command)
    };
    let refused = as_user("65534").fails(1);
    assert_eq!(refused.error(), "this daemon belongs to another user");
    daemon.nbctl(&["ls"]).success();
}

#[test]
fn sigterm_ends_an_idle_daemon_at_once() {
    let mut daemon = Home::new().start();
    let (status, took) = daemon.terminate();
    assert!(status.success() && took < Duration::from_secs(1), "{status} after {took:?}");
    assert!(!daemon.socket().exists());
    daemon.start_again();
    daemon.signal(Signal::INT);
    assert!(until("it leaves", || daemon.has_ended()).success());
    let down = daemon.nbctl(&["status"]).fails(1);
    assert!(down.stderr.contains("hint: ") && down.stderr.contains("nanobotd"), "{down}");
}

#[test]
fn sigterm_waits_for_a_short_run_and_a_long_one_goes_on_after_the_next_start() {
    let mut daemon = Home::new().config("limits: {wall_ms: 600000}").start();
    daemon.install(&spins());
    let run = daemon.begin("spins");
    until("the tool runs", || (daemon.status_of(&run) == "running").then_some(()));
    let (status, took) = daemon.terminate();
    assert!(status.success() && took < Duration::from_secs(5), "{status} after {took:?}");
    daemon.start_again();
    let record = daemon.get(&format!("/v1/runs/{run}"));
    assert_eq!(record["run"]["status"], "running", "{record}");
    let events: Vec<&str> =
        record["events"].as_array().unwrap().iter().map(|event| event["event"].as_str().unwrap()).collect();
    assert!(events.contains(&"resumed"), "{events:?}");
    daemon.nbctl(&["stop", "spins"]).success();
    assert_eq!(daemon.ended(&run)["run"]["status"], "cancelled");
}

#[test]
fn a_command_that_waits_for_a_run_is_told_when_the_daemon_leaves() {
    let mut daemon = Home::new().config("limits: {wall_ms: 600000}").start();
    daemon.install(&spins());
    let mut waiting =
        daemon.command(&["run", "spins"]).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    until("the tool runs", || {
        daemon.runs("spins").first().filter(|run| run["status"] == "running").map(drop)
    });
    daemon.terminate();
    let status = ends_within(&mut waiting, DEADLINE).expect("the command ends");
    let mut stderr = String::new();
    waiting.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    assert!(stderr.is_empty() || !stderr.contains("panicked"), "{stderr}");
    assert!(matches!(status.code(), Some(0 | 1)), "{status} {stderr}");
}

#[test]
fn a_socket_that_a_killed_daemon_left_is_replaced() {
    let mut daemon = Home::new().start();
    daemon.kill();
    assert!(daemon.socket().exists());
    let down = daemon.nbctl(&["ls"]).fails(1);
    assert!(down.stderr.contains("hint: "), "{down}");
    daemon.start_again();
    daemon.nbctl(&["ls"]).success();
}

#[test]
fn a_wrong_configuration_is_refused_whole_with_its_lines() {
    let home =
        Home::new().config("timezone: Nowhere\nlimits: {wall_ms: 0}\nwebhooks:\n  lisen: 127.0.0.1:1\n");
    let refused = home.nanobotd(&[]).fails(1);
    let file = home.path().join("config/config.yaml").display().to_string();
    for (line, reason) in [
        (1, "`Nowhere` is not a time zone"),
        (2, "`limits.wall_ms` must be 1 to 600000; it is 0"),
        (4, "unknown key `webhooks.lisen`; did you mean `listen`?"),
    ] {
        assert!(refused.stderr.contains(&format!("{file}:{line}: {reason}")), "{refused}");
    }
    assert!(!home.socket().exists());
    for (yaml, reason) in
        [("webhooks: {listen: '0.0.0.0:80'}", "not a loopback address"), ("- a\n- b", ":1: "), ("a: [", ": ")]
    {
        let home = Home::new().config(yaml);
        let refused = home.nanobotd(&[]).fails(1);
        assert!(refused.error().contains("config.yaml") && refused.stderr.contains(reason), "{refused}");
    }
    home.nanobotd(&["--log", "=,="]).fails(2);
    home.nanobotd(&["--no-such-option"]).fails(2);
}

#[test]
fn a_port_that_is_taken_or_open_to_all_is_refused() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let home = Home::new();
    let listen = |address: &str| {
        let mut command = Command::new(nb_tests::home::binary("nanobotd"));
        let output = command.args(["--listen", address, "--home"]).arg(home.path()).output().unwrap();
        Ended::new(format!("nanobotd --listen {address}"), output)
    };
    let refused = listen(&address).fails(1);
    assert!(refused.error().contains(&address) && refused.error().contains("--listen"), "{refused}");
    listen("0.0.0.0:0").fails(1).stderr_contains("not a loopback address");
}

/// A command that follows, with the lines it writes.
struct Follower {
    child: Child,
    lines: mpsc::Receiver<String>,
}

impl Follower {
    fn new(daemon: &Daemon, args: &[&str]) -> Self {
        let mut child = daemon.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let stdout: ChildStdout = child.stdout.take().unwrap();
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines() {
                if sender.send(line.unwrap()).is_err() {
                    return;
                }
            }
        });
        Self { child, lines }
    }

    /// Returns when a line holds the text.
    fn sees(&self, text: &str) {
        let line = within(DEADLINE, || self.lines.try_iter().find(|line| line.contains(text)));
        assert!(line.is_some(), "no line with {text:?} came");
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        // It has ended by itself, when all is well.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn logs_and_events_are_followed_live_until_the_daemon_leaves() {
    let mut daemon = Home::new().start();
    daemon.install(&Agent::lua("says", "print('said ' .. parameters.what)\nreturn 1"));
    daemon.result("says", "tool", &json!({"what": "before"}));
    let mut logs = Follower::new(&daemon, &["logs", "-f"]);
    let mut of_one = Follower::new(&daemon, &["--json", "logs", "says", "-f"]);
    let mut events = Follower::new(&daemon, &["event", "tail"]);
    logs.sees("said before");
    of_one.sees("said before");
    events.sees("agent.installed");
    for round in 0..3 {
        let what = format!("live {round}");
        daemon.result("says", "tool", &json!({"what": what}));
        logs.sees(&format!("said {what}"));
        of_one.sees(&format!("said {what}"));
        daemon
            .nbctl(&["event", "publish", "weather.alert", "--data", &format!("{{\"round\": {round}}}")])
            .success();
        events.sees(&format!("{{\"round\":{round}}}"));
    }
    let (status, took) = daemon.terminate();
    assert!(
        status.success() && took < Duration::from_secs(2),
        "followers hold it up: {status} after {took:?}"
    );
    for follower in [&mut logs, &mut of_one, &mut events] {
        assert!(ends_within(&mut follower.child, DEADLINE).is_some(), "it goes on without a daemon");
    }
}

#[test]
fn a_log_may_begin_with_what_comes() {
    let daemon = Home::new().config("limits: {wall_ms: 600000}").start();
    daemon.install(&spins());
    daemon.install(&Agent::lua("says", "print('said ' .. parameters.what)\nreturn 1"));
    let endless = daemon.begin("spins");
    daemon.result("says", "tool", &json!({"what": "before"}));
    let logs = Follower::new(&daemon, &["logs", "-n", "0", "-f"]);
    // The follower comes when it comes; from then on it sees every run.
    let seen = within(DEADLINE, || {
        daemon.result("says", "tool", &json!({"what": "after"}));
        let lines: Vec<String> = logs.lines.try_iter().collect();
        (!lines.is_empty()).then_some(lines)
    });
    let seen = seen.expect("it follows").concat();
    assert!(!seen.contains("said before") && !seen.contains(&endless), "{seen}");
    // One that had begun long before is followed as well.
    daemon.nbctl(&["stop", "spins"]).success();
    logs.sees("the agent was stopped");
}

#[test]
fn the_log_of_a_run_ends_with_the_run() {
    let daemon = Home::new().start();
    daemon.install(&Agent::lua("brief", "print('a line')\nreturn 1"));
    let run = daemon.begin("brief");
    let followed = daemon.nbctl(&["logs", &run, "-f"]).success();
    assert!(followed.stdout.contains("a line") && followed.stdout.contains("completed with 1"), "{followed}");
}

#[test]
fn a_reader_that_is_gone_or_slow_harms_nobody() {
    let daemon = Home::new().start();
    daemon.install(&Agent::lua("says", "for i = 1, 500 do print(('x'):rep(200)) end\nreturn 1"));
    let slow: Vec<UnixStream> = (0..10)
        .map(|_| {
            let mut stream = UnixStream::connect(daemon.socket()).unwrap();
            std::io::Write::write_all(&mut stream, &Request::new("GET", "/v1/logs?follow=true").bytes())
                .unwrap();
            stream
        })
        .collect();
    for _ in 0..10 {
        daemon.result("says", "tool", &json!({}));
    }
    drop(slow);
    daemon.result("says", "tool", &json!({}));
    let closed = format!("{} logs | head -n 1", nb_tests::home::binary("nbctl").display());
    let output = Command::new("bash")
        .args(["-o", "pipefail", "-c", &closed])
        .env("NANOBOT_HOME", daemon.path())
        .output()
        .unwrap();
    let ended = Ended::new(closed, output).success();
    assert_eq!((ended.stdout.lines().count(), ended.stderr.as_str()), (1, ""), "{ended}");
}

#[test]
fn systemd_is_told_of_readiness_and_of_leaving() {
    let home = Home::new();
    let path = home.path().join("notify.sock");
    let notify = UnixDatagram::bind(&path).unwrap();
    notify.set_read_timeout(Some(DEADLINE)).unwrap();
    let mut daemon = home.variable("NOTIFY_SOCKET", path.to_str().unwrap()).start();
    let told = || {
        let mut message = [0; 256];
        let length = notify.recv(&mut message).unwrap();
        String::from_utf8_lossy(&message[..length]).trim().to_owned()
    };
    assert_eq!(told(), "READY=1");
    daemon.terminate();
    assert_eq!(told(), "STOPPING=1");
}

#[test]
fn a_socket_of_the_service_manager_is_taken_over() {
    let home = Home::new();
    let path = home.path().join("handed-over.sock");
    let listener = OwnedFd::from(UnixListener::bind(&path).unwrap());
    // The shell makes the listener its third descriptor, and becomes the daemon under its own process id.
    let script = format!("exec 3<&{}; LISTEN_PID=$$ LISTEN_FDS=1 exec \"$@\"", listener.as_raw_fd());
    rustix::io::fcntl_setfd(&listener, rustix::io::FdFlags::empty()).unwrap();
    let daemon = home.daemon_command();
    let mut command = Command::new("bash");
    command.args(["-c", &script, "bash"]).arg(daemon.get_program()).args(daemon.get_args());
    let mut child = command.stderr(Stdio::null()).stdin(Stdio::null()).spawn().unwrap();
    drop(listener);
    let status =
        || http::exchange(UnixStream::connect(&path).ok()?, &Request::new("GET", "/v1/status").bytes()).ok();
    let answer = within(DEADLINE, status);
    let own = home.socket().exists();
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(answer.map(|answer| answer.status), Some(200));
    assert!(!own && path.exists(), "the service manager's socket is used and stays");
}
