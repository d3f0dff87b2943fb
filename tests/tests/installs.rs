//! Installs under bad conditions: each is whole or has not happened.

use std::fs;
use std::io::Write;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Instant;

use nb_tests::disk::noise;
use nb_tests::http::Request;
use nb_tests::wait::pass;
use nb_tests::{Agent, Daemon, Home, until};
use serde_json::{Value, json};

fn hello(version: &str) -> Agent {
    Agent::lua("hello", &format!("return '{version}'")).version(version)
}

#[test]
fn two_installs_at_once_come_one_after_the_other() {
    let daemon = Home::new().start();
    let packages: Vec<PathBuf> =
        (1..=6).map(|minor| daemon.package(&hello(&format!("1.{minor}.0")))).collect();
    thread::scope(|scope| {
        for package in &packages {
            scope.spawn(|| {
                let ended = daemon.install_with(package, &["--grant", "all"]);
                // One that comes after a newer one is older than that.
                assert!(ended.code == Some(0) || ended.stderr.contains("older than"), "{ended}");
            });
        }
    });
    assert_eq!(daemon.result("hello", "tool", &json!({})), "1.6.0", "the newest has won");
    assert_eq!(daemon.unpacked().len(), 1, "{:?}", daemon.unpacked());
}

#[test]
fn a_kill_during_an_install_leaves_the_old_version_or_the_new_one() {
    let mut daemon = Home::new().start();
    let versions: Vec<String> = (0..16).map(|minor| format!("1.{minor}.0")).collect();
    let build = |daemon: &Daemon, version: &String| {
        daemon.package(&hello(version).permissions(&["log.info"]).file("large.bin", noise(2 << 20)))
    };
    let mut current = versions[0].clone();
    let first = build(&daemon, &current);
    let begun = Instant::now();
    daemon.install_with(&first, &["--grant", "all"]).success();
    let took = begun.elapsed();
    for (round, version) in versions.iter().enumerate().skip(1) {
        let package = build(&daemon, version).display().to_string();
        let mut install = daemon.command(&["install", &package, "--grant", "all"]);
        let mut install = install.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // Around the end, where files and rows are written; the command itself takes the first part.
        pass(took.mul_f64(0.5 + 0.04 * round as f64));
        let acknowledged = install.try_wait().unwrap().is_some_and(|status| status.success());
        daemon.kill();
        install.wait().unwrap();
        daemon.start_again();

        let shown = daemon.nbctl(&["--json", "show", "hello"]).success().json();
        let found = shown["version"].as_str().unwrap().to_owned();
        assert!(found == current || found == *version, "{found}");
        assert!(!acknowledged || found == *version, "{version} was acknowledged");
        assert_eq!(shown["problem"], Value::Null, "{shown}");
        assert_eq!(daemon.granted("hello"), ["log.info"]);
        assert_eq!(
            daemon.result("hello", "tool", &json!({})),
            found,
            "grants, row and files are of one version"
        );
        current = found;
    }
    // What an interrupted install left behind does not pile up.
    daemon.kill_and_start();
    assert_eq!(daemon.unpacked().len(), 1, "{:?}", daemon.unpacked());
}

#[test]
fn what_a_client_began_is_carried_out_whole_when_it_hangs_up() {
    let mut daemon = Home::new().config("limits: {wall_ms: 60000}").start();
    let spins = Agent::lua("spins", "while true do end")
        .yaml("fuel_limit: 100000000000\nresources: {max_fuel: 100000000000}");
    for _ in 0..3 {
        daemon.install(&spins);
        // The uninstall has to wait for the end of these.
        let runs: Vec<String> = (0..4).map(|_| daemon.begin("spins")).collect();
        until("the runs are at work", || {
            runs.iter().all(|run| daemon.status_of(run) == "running").then_some(())
        });
        let before = uninstalls(&daemon);
        until("the daemon has begun", || {
            let mut client = UnixStream::connect(daemon.socket()).unwrap();
            client.write_all(&Request::new("DELETE", "/v1/agents/spins").bytes()).unwrap();
            drop(client);
            daemon.get("/v1/agents").as_array().unwrap().is_empty().then_some(())
        });
        until("the daemon has ended", || (uninstalls(&daemon) == before + 1).then_some(()));
        daemon.kill_and_start();
        assert_eq!(daemon.get("/v1/agents"), json!([]), "what is gone stays gone");
    }
}

/// How many uninstalls were told of.
fn uninstalls(daemon: &Daemon) -> usize {
    let told = daemon.ask(&Request::new("GET", "/v1/events?after=0")).unwrap().text();
    told.lines().filter(|line| line.contains("\"agent.uninstalled\"")).count()
}

#[test]
fn a_home_may_be_moved_and_a_copy_never_touches_the_original() {
    let mut original = Home::new().start();
    let mut copy = Home::new().start();
    original.install(&hello("1.0.0"));
    original.terminate();
    copy.terminate();
    let state = |daemon: &Daemon| daemon.path().join("state");
    fs::remove_dir_all(state(&copy)).unwrap();
    let copied = Command::new("cp").arg("-a").arg(state(&original)).arg(copy.path()).status().unwrap();
    assert!(copied.success());

    // Without the original, a copy is a home that was moved.
    let (packages, aside) = (state(&original).join("packages"), original.path().join("aside"));
    fs::rename(&packages, &aside).unwrap();
    copy.start_again();
    assert_eq!(copy.result("hello", "tool", &json!({})), "1.0.0");
    fs::rename(&aside, &packages).unwrap();
    copy.nbctl(&["uninstall", "hello"]).success();
    assert_eq!(copy.unpacked(), Vec::<PathBuf>::new());

    original.start_again();
    assert_eq!(original.result("hello", "tool", &json!({})), "1.0.0");
}
