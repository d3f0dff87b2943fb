//! Ending one run, and ending only the wait for it.

use std::net::TcpListener;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use nb_tests::{Agent, Daemon, Ended, Home, until};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

/// A busy machine gets so long for a command and what it does; a cancellation itself takes about 10 ms.
const SOON: Duration = Duration::from_secs(2);

/// An agent with one run of each kind that does not end by itself. `address` takes connections and says nothing.
fn endless(address: &str, mark: &Path) -> Agent {
    let native = format!(
        "local f = io.open('{}', 'w') f:write(io.open('/proc/self/stat'):read('n')) f:close() os.execute('exec sleep 60')",
        mark.display()
    );
    Agent::new("endless")
        .permissions(&["unsandboxed", "http.fetch"])
        .yaml("fuel_limit: 100000000000\nresources: {max_fuel: 100000000000}")
        .tool("spins.lua", "while true do end")
        .tool("asks.lua", &format!("return nb.http.fetch('http://{address}/')"))
        .tool("fails.lua", "error('no luck')")
        .file("tools/leaves.lua", native)
        .tool_entry("name: leaves\nsource: tools/leaves.lua\nsandboxed: false")
        .chain(
            "fetches",
            &format!("  - {{id: one, ability: http.fetch, args: {{url: 'http://{address}/'}}}}"),
        )
        .chain("pauses", "  - {id: one, tool: fails, on_failure: {retry: {attempts: 2, delay: 1h}}}")
}

/// Starts a run and returns its id when its record has an event of that kind.
fn begin(daemon: &Daemon, what: &[&str], event: &str) -> String {
    let words = [&["--json", "run", "endless"], what, &["--detach"]].concat();
    let run = daemon.nbctl(&words).success().json()["id"].as_str().unwrap().to_owned();
    until(&format!("{event} of {what:?}"), || {
        let record = daemon.get(&format!("/v1/runs/{run}"));
        record["events"].as_array().unwrap().iter().any(|found| found["event"] == event).then_some(())
    });
    run
}

#[test]
fn cancel_ends_a_run_whatever_it_does() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap().to_string();
    let daemon =
        Home::new().config(&format!("egress: {{allow: ['{address}']}}\nlimits: {{wall_ms: 600000}}")).start();
    let mark = daemon.path().join("pid");
    daemon.install(&endless(&address, &mark));
    for (what, event) in [
        (&["--tool", "spins"][..], "tool.started"),
        (&["--tool", "leaves"], "tool.started"),
        (&["--tool", "asks"], "host.begun"),
        (&["fetches"], "host.begun"),
        (&["pauses"], "step.retry"),
    ] {
        let run = begin(&daemon, what, event);
        let process = (what[1..] == ["leaves"]).then(|| {
            let pid =
                until("the tool runs", || std::fs::read_to_string(&mark).ok().filter(|pid| !pid.is_empty()));
            Path::new("/proc").join(pid)
        });
        let begun = Instant::now();
        let cancelled = daemon.nbctl(&["cancel", &run]).success();
        assert!(begun.elapsed() < SOON, "{what:?} took {:?}", begun.elapsed());
        assert_eq!(cancelled.stdout, format!("{run} of endless is cancelled\n"));
        assert!(process.is_none_or(|process| !process.exists()), "its process goes on");

        let record = daemon.get(&format!("/v1/runs/{run}"));
        assert_eq!(record["run"]["status"], "cancelled", "{record}");
        assert_eq!(record["run"]["error"], "cancelled by a person", "{record}");
        let last = record["events"].as_array().unwrap().last().unwrap();
        assert_eq!((&last["event"], &last["error"]), (&json!("finished"), &json!("cancelled by a person")));
        daemon.nbctl(&["run-show", &run]).success().stdout_contains("error       cancelled by a person\n");
        let logs = daemon.nbctl(&["logs", &run]).success();
        assert!(logs.stdout.ends_with("  cancelled by a person\n"), "{logs}");
    }
    assert_eq!(daemon.get("/v1/status")["runs_unfinished"], 0);
}

#[test]
fn what_has_ended_or_never_was_is_not_cancelled() {
    let daemon = Home::new().start();
    daemon.install(&Agent::lua("brief", "return 1"));
    let run = daemon.call("brief", "tool", &json!({}))["id"].as_str().unwrap().to_owned();
    let refused = daemon.nbctl(&["cancel", &run]).fails(1);
    assert_eq!(refused.error(), format!("run {run} has already ended: completed"));
    assert!(refused.stderr.contains(&format!("hint: nbctl run-show {run} ")), "{refused}");
    assert_eq!(daemon.status_of(&run), "completed");
    let as_json = daemon.nbctl(&["--json", "cancel", &run]).fails(1);
    assert_eq!(serde_json::from_str::<Value>(&as_json.stderr).unwrap()["error"]["kind"], "conflict");
    for unknown in ["run_01234567890123456789ABCDEF", "brief", "../status"] {
        let refused = daemon.nbctl(&["cancel", unknown]).fails(1);
        assert_eq!(refused.error(), format!("there is no run `{unknown}`"));
    }
    daemon.nbctl(&["cancel"]).fails(2);
}

/// A command that waits for a run of `endless`, and that run.
fn waiting(daemon: &Daemon, words: &[&str]) -> (std::process::Child, String) {
    let before = daemon.runs("endless").len();
    let child = daemon
        .command(&[&["run", "endless", "--tool", "spins"], words].concat())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let run = until("the run is at work", || {
        let runs = daemon.runs("endless");
        let is_new = runs.len() > before && runs[0]["status"] == "running";
        is_new.then(|| runs[0]["id"].as_str().unwrap().to_owned())
    });
    (child, run)
}

fn spinning_daemon() -> Daemon {
    let daemon = Home::new().config("limits: {wall_ms: 600000}").start();
    daemon.install(&endless("127.0.0.1:1", &daemon.path().join("pid")));
    daemon
}

#[test]
fn who_waits_for_a_cancelled_run_is_told_by_whom() {
    let daemon = spinning_daemon();
    let (child, run) = waiting(&daemon, &[]);
    assert_eq!(daemon.nbctl(&["--json", "cancel", &run]).success().json()["id"], run);
    let ended = Ended::new("nbctl run endless".to_owned(), child.wait_with_output().unwrap()).fails(130);
    assert_eq!(ended.error(), "cancelled by a person");
}

#[test]
fn a_signal_ends_the_wait_and_not_the_run() {
    let daemon = spinning_daemon();
    for (signal, words) in [(Signal::INT, &[][..]), (Signal::TERM, &[]), (Signal::INT, &["--json"])] {
        // The run is at work a moment before its command knows of it: a signal that comes then leaves no word.
        let (run, ended) = until("the command says that the run goes on", || {
            let (child, run) = waiting(&daemon, words);
            kill_process(Pid::from_child(&child), signal).unwrap();
            let ended = Ended::new("nbctl run endless".to_owned(), child.wait_with_output().unwrap());
            let ended = ended.fails(130);
            let early = ended.stderr.contains("the run may have begun");
            (!early).then_some((run, ended))
        });
        assert_eq!(ended.stdout, "");
        let hint = format!("look: nbctl run-show {run}; end it: nbctl cancel {run}");
        if words.is_empty() {
            assert_eq!(ended.stderr, format!("the run goes on in the daemon; {hint}\n"));
        } else {
            let error = &serde_json::from_str::<Value>(&ended.stderr).unwrap()["error"];
            assert_eq!(error["hint"], hint);
        }
        assert_eq!(daemon.status_of(&run), "running");
        daemon.nbctl(&["cancel", &run]).success();
    }
}
