//! The units in `systemd/`, judged by systemd's own tools, and what the daemon does for a service manager.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use nb_tests::home::binary;
use nb_tests::{Home, skip, wait};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// A service that may do anything scores 10.
const EXPOSURE: f64 = 2.0;

const KINDS: [&str; 2] = ["system", "user"];

fn units() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../systemd")
}

/// Whether a program of systemd is not installed. Then the test has nothing to say, and says so.
fn is_missing(program: &str) -> bool {
    let found =
        Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok();
    if !found {
        skip(&format!("not installed: {program}"));
    }
    !found
}

/// The units of a kind in a folder of their own. The daemon that they start is the one under test.
fn installed(kind: &str) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(units().join(kind)).unwrap() {
        let path = entry.unwrap().path();
        let unit = fs::read_to_string(&path).unwrap();
        let start = format!("ExecStart={}", binary("nanobotd").display());
        fs::write(dir.path().join(path.file_name().unwrap()), unit.replace("ExecStart=nanobotd", &start))
            .unwrap();
    }
    dir
}

fn analyze(dir: &TempDir, words: &[&str]) -> Output {
    let mut command = Command::new("systemd-analyze");
    // A user's units are only looked at where a user's service manager could be.
    command.args(words).current_dir(dir.path()).env("XDG_RUNTIME_DIR", dir.path()).output().unwrap()
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[test]
fn systemd_has_nothing_to_say_about_the_units() {
    if is_missing("systemd-analyze") {
        return;
    }
    for kind in KINDS {
        let dir = installed(kind);
        let scope = format!("--{kind}");
        let verified = analyze(&dir, &["verify", &scope, "./nanobotd.service", "./nanobotd.socket"]);
        assert_eq!((text(&verified).as_str(), verified.status.code()), ("", Some(0)), "{kind}");
    }
}

#[test]
fn the_services_may_do_little() {
    if is_missing("systemd-analyze") {
        return;
    }
    for kind in KINDS {
        let dir = installed(kind);
        let scope = format!("--{kind}");
        let words = ["security", &scope, "--offline=true", "--no-pager", "./nanobotd.service"];
        let judged = text(&analyze(&dir, &words));
        let verdict =
            judged.lines().find_map(|line| line.split_once("Overall exposure level for nanobotd.service: "));
        let exposure = verdict.and_then(|(_, level)| level.split_whitespace().next()?.parse::<f64>().ok());
        assert!(exposure.is_some_and(|exposure| exposure <= EXPOSURE), "{kind}:\n{judged}");
    }
}

#[test]
fn the_system_user_and_its_folders_are_made() {
    if is_missing("systemd-sysusers") || is_missing("systemd-tmpfiles") {
        return;
    }
    if !rustix::process::geteuid().is_root() {
        return skip("only root can give a folder to another user");
    }
    let root = tempfile::tempdir().unwrap();
    let make = |program: &str, words: &[&str], file: &str| {
        let mut command = Command::new(program);
        let output =
            command.arg("--root").arg(root.path()).args(words).arg(units().join(file)).output().unwrap();
        assert_eq!(
            (text(&output).contains("Failed"), output.status.code()),
            (false, Some(0)),
            "{}",
            text(&output)
        );
    };
    fs::create_dir(root.path().join("etc")).unwrap();
    make("systemd-sysusers", &[], "sysusers.d/nanobot.conf");
    make("systemd-tmpfiles", &["--create"], "tmpfiles.d/nanobot.conf");

    let users = fs::read_to_string(root.path().join("etc/passwd")).unwrap();
    let nanobot = users.lines().find(|line| line.starts_with("nanobot:")).unwrap();
    let owner: u32 = nanobot.split(':').nth(2).unwrap().parse().unwrap();
    assert!(nanobot.ends_with(":/var/lib/nanobot:/usr/sbin/nologin"), "{nanobot}");
    let folder = |path: &str| {
        let metadata = fs::metadata(root.path().join(path)).unwrap();
        (metadata.uid(), metadata.permissions().mode() & 0o777)
    };
    assert_eq!(folder("etc/nanobot"), (0, 0o755));
    assert_eq!(folder("etc/nanobot/secrets"), (owner, 0o700));
}

#[test]
fn the_service_manager_is_told_that_the_daemon_is_ready_and_that_it_leaves() {
    let home = Home::new();
    let path = home.path().join("notify");
    let manager = UnixDatagram::bind(&path).unwrap();
    manager.set_read_timeout(Some(wait::DEADLINE)).unwrap();
    let heard = || {
        let mut buffer = [0; 4096];
        let length = manager.recv(&mut buffer).unwrap();
        String::from_utf8(buffer[..length].to_vec()).unwrap()
    };
    let mut daemon = home.variable("NOTIFY_SOCKET", path.to_str().unwrap()).start();
    assert_eq!(heard().trim(), "READY=1");
    let (status, took) = daemon.terminate();
    assert_eq!(heard().trim(), "STOPPING=1");
    assert!(status.success() && took < Duration::from_secs(5), "{status} after {took:?}");
}

/// A daemon behind a socket that it did not make.
struct Activated(Child);

impl Drop for Activated {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn the_daemon_serves_on_the_socket_of_the_service_manager() {
    if is_missing("systemd-socket-activate") {
        return;
    }
    let home = Home::new();
    let mut command = Command::new("systemd-socket-activate");
    command.arg("-l").arg(home.socket()).arg(binary("nanobotd"));
    command.args(["--listen", "127.0.0.1:0", "--home"]).arg(home.path());
    let mut daemon = Activated(command.stdin(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
    wait::until("somebody listens on the socket", || home.socket().exists().then_some(()));
    // The first to come wakes the daemon, and is answered.
    let pid = daemon.0.id();
    home.nbctl(&["status"]).success().stdout_contains(&format!("is running as process {pid};"));
    kill_process(Pid::from_child(&daemon.0), Signal::TERM).unwrap();
    let ended = wait::until("the daemon leaves", || daemon.0.try_wait().unwrap());
    assert!(ended.success(), "{ended}");
    assert!(home.socket().exists(), "the socket is the service manager's to remove");
}
