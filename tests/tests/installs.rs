//! Installs under bad conditions: each is whole or has not happened.

use std::path::PathBuf;
use std::process::Stdio;
use std::thread;
use std::time::Instant;

use nb_tests::disk::noise;
use nb_tests::wait::pass;
use nb_tests::{Agent, Daemon, Home};
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
