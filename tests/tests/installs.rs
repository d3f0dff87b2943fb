//! Installs under bad conditions: each is whole or has not happened.

use std::fs;
use std::io::Write;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Instant;

use nb_tests::archive::{self, Archive};
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

/// The refusal of an agent, built with the checks of its author or without.
fn refusal(daemon: &Daemon, agent: &Agent) -> String {
    daemon.install_with(&daemon.package(agent), &["--grant", "all"]).fails(1).stderr
}

#[test]
fn all_scripts_that_do_not_compile_are_told_at_once() {
    let daemon = Home::new().start();
    let agent = Agent::new("broken")
        .permissions(&["unsandboxed"])
        .tool("first.lua", "\nreturn (")
        .tool("good.lua", "return require('text')")
        .tool("second.fnl", "(let [x] x)")
        .tool_with("third.lua", "return 1", "{type: 5}")
        .tool_with("fifth.lua", "return 1", "{$ref: other.json}")
        .tool_entry("name: fourth\nlua: return +\nsandboxed: false")
        .file("tools/lib/text.lua", "local = 1");
    let told = refusal(&daemon, &agent);
    for place in [
        "tools/lib/text.lua:1:7: ",
        "tool `first`: tools/first.lua:2:9: ",
        "  2 | return (",
        "tool `second`: tools/second.fnl:1:",
        "tool `third`: `parameters` is not a JSON Schema",
        "tool `fourth`: manifest.yaml:",
        "a `$ref` leads to `other.json`, which is not there",
    ] {
        assert_eq!(told.matches(place).count(), 1, "{place}: {told}");
    }
    assert!(!told.contains("good"), "{told}");

    let many = (0..13).fold(Agent::new("many"), |agent, n| agent.tool(&format!("t{n:02}.lua"), "return ("));
    let told = refusal(&daemon, &many);
    assert_eq!(told.matches("unexpected symbol").count(), 10, "{told}");
    assert!(told.contains("there may be more\n"), "{told}");
    assert_eq!(daemon.unpacked(), Vec::<PathBuf>::new());
}

#[test]
fn a_module_that_the_package_does_not_have_is_refused_by_the_build_and_by_the_install() {
    let daemon = Home::new().start();
    let good = Agent::lua("parts", "return require 'lib.text'").file("tools/lib/text.lua", "return 'text'");
    let package = fs::read(daemon.package(&good)).unwrap();
    let bad = good.clone().named("bad").file("tools/tool.lua", "\nreturn require 'lib.txet'");
    let expected = "tools/tool.lua:2: there is no module `lib.txet`; did you mean `lib.text`?";
    let dir = daemon.path().join("bad");
    bad.write(&dir);
    let refused = daemon.nbctl(&["package", "build", dir.to_str().unwrap()]).fails(1);
    assert!(refused.stderr.contains(expected), "{refused}");

    // As one that was built without that check.
    let altered = archive::altered(&package, "tools/tool.lua", "\nreturn require 'lib.txet'");
    let files = archive::read(&altered).into_iter().filter(|(path, _)| !path.starts_with("NAP-"));
    let plain = files.fold(Archive::new(), |plain, (path, bytes)| plain.file(&path, bytes));
    let file = daemon.write("plain.nap", plain.nap());
    let refused = daemon.install_with(&file, &["--grant", "all", "--allow-unsigned"]).fails(1);
    assert_eq!(refused.error(), expected);
    daemon.nbctl(&["ls"]).success().stdout_contains("no agent is installed");
}
