//! What the command does with a daemon's answers, good and bad.

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};

use crate::support::Home;
use insta::assert_snapshot;
use serde_json::{Value, json};

fn run_json(status: &str) -> String {
    json!({
        "id": "run_01KJN4R5ZB3V0T6Q2W8X9Y7A1C", "kind": "tool", "agent": "hello", "task": null, "tool": "greet",
        "status": status, "outcome": null, "error": (status == "failed").then_some("tool greet: out of fuel"),
        "output": (status == "completed").then_some("hello, Ada"), "actor": "you",
        "created_at": "2026-03-01T12:00:00Z", "finished_at": null, "duration_ms": 1.5,
    })
    .to_string()
}

fn agent_line(name: &str) -> Value {
    json!({
        "name": name, "version": "0.1.0", "state": "running", "description": "Greets", "signer": "ada",
        "tools": 1, "tasks": 0, "triggers": 0, "problem": null,
    })
}

fn event_line(seq: u64) -> String {
    json!({"seq": seq, "id": "evt_1", "name": "a.b", "data": {"x": 1}, "source": "person", "at": "2026-03-01T12:00:00Z"})
        .to_string()
        + "\n"
}

#[test]
fn without_a_daemon_it_says_how_to_start_one() {
    assert_snapshot!(Home::empty().run(&["ls"]), @"
    exit 1
    --- stdout
    --- stderr
    error: no daemon answers at HOME/nanobotd.sock
    hint: start one with `nanobotd`, or `systemctl --user start nanobotd`; name another with --socket
    ");
    assert_snapshot!(Home::empty().run(&["ls", "--json"]), @r#"
    exit 1
    --- stdout
    --- stderr
    {"error":{"kind":"unreachable","message":"no daemon answers at HOME/nanobotd.sock","hint":"start one with `nanobotd`, or `systemctl --user start nanobotd`; name another with --socket"}}
    "#);
}

#[test]
fn a_refusal_comes_with_its_hint_and_exit_code() {
    let home = Home::with_daemon(|line| {
        match line {
        "GET /v1/agents/helo" => {
            (404, json!({"kind": "not_found", "message": "there is no agent `helo`", "hint": "did you mean `hello`?"}).to_string())
        }
        _ => (400, json!({"kind": "usage", "message": "a name is lower case"}).to_string()),
    }
    });
    assert_snapshot!(home.run(&["show", "helo"]), @"
    exit 1
    --- stdout
    --- stderr
    error: there is no agent `helo`
    hint: did you mean `hello`?
    ");
    assert_snapshot!(home.run(&["start", "../keys?x"]), @"
    exit 2
    --- stdout
    --- stderr
    error: a name is lower case
    ");
    assert_eq!(home.asked()[1].0, "POST /v1/agents/..%2Fkeys%3Fx/start");
    assert_snapshot!(home.run(&["--json", "show", "helo"]), @r#"
    exit 1
    --- stdout
    --- stderr
    {"error":{"kind":"not_found","message":"there is no agent `helo`","hint":"did you mean `hello`?"}}
    "#);
}

#[test]
fn a_wrong_command_line_is_a_usage_error_in_json_as_well() {
    let home = Home::empty();
    assert_eq!(home.run(&["run", "hello", "task", "--tool", "x"]).code, Some(2));
    let ended = home.run(&["run", "hello", "--json", "--input", "Ada"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""));
    let error: Value = serde_json::from_str(&ended.stderr).unwrap();
    assert_eq!(error["error"]["kind"], "usage");
    assert_eq!(home.run(&[]).code, Some(2));
}

#[test]
fn a_run_sends_what_was_given_and_prints_what_came_out() {
    let home = Home::with_daemon(|_| (200, run_json("completed")));
    let ended =
        home.run(&["run", "hello", "--tool", "greet", "-p", "name=Ada", "-p", "times=2", "--input", "[1]"]);
    assert_snapshot!(ended, @"
    exit 0
    --- stdout
    hello, Ada
    --- stderr
    ");
    let (line, body) = &home.asked()[0];
    assert_eq!(line, "POST /v1/runs");
    assert_eq!(
        serde_json::from_str::<Value>(body).unwrap(),
        json!({"agent": "hello", "task": null, "tool": "greet", "input": [1], "params": {"name": "Ada", "times": "2"}, "detach": false, "follow": true})
    );
}

#[test]
fn a_failed_run_ends_with_1_and_leads_to_its_record() {
    let home = Home::with_daemon(|_| (200, run_json("failed")));
    assert_snapshot!(home.run(&["run", "hello", "--tool", "greet"]), @"
    exit 1
    --- stdout
    --- stderr
    error: tool greet: out of fuel
    run run_01KJN4R5ZB3V0T6Q2W8X9Y7A1C of hello failed
    hint: `nbctl run-show run_01KJN4R5ZB3V0T6Q2W8X9Y7A1C` shows everything that happened
    ");
    let ended = home.run(&["run", "hello", "--tool", "greet", "--json"]);
    assert_eq!(ended.code, Some(1));
    assert_eq!(serde_json::from_str::<Value>(&ended.stdout).unwrap()["status"], "failed");
    assert_eq!(serde_json::from_str::<Value>(&ended.stderr).unwrap()["error"]["kind"], "failed");
    let home = Home::with_daemon(|_| (200, run_json("cancelled")));
    assert_eq!(home.run(&["run", "hello", "--tool", "greet"]).code, Some(130));
}

#[test]
fn of_a_run_that_is_told_twice_the_end_counts() {
    let home = Home::with_daemon(|_| (200, format!("{}\n{}\n", run_json("created"), run_json("completed"))));
    assert_snapshot!(home.run(&["run", "hello", "--tool", "greet"]), @"
    exit 0
    --- stdout
    hello, Ada
    --- stderr
    ");
    let as_json = home.run(&["run", "hello", "--tool", "greet", "--json"]);
    assert_eq!(serde_json::from_str::<Value>(&as_json.stdout).unwrap()["status"], "completed");
}

#[test]
fn a_daemon_that_stops_in_the_middle_of_a_run_is_told_with_the_run() {
    let line = run_json("running") + "\n";
    let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: 9999\r\n\r\n{line}");
    let killed = Home::with_bytes(answer.leak().as_bytes());
    let left = Home::with_daemon(move |_| (200, line.clone()));
    let ended = killed.run(&["run", "hello", "--tool", "greet"]).to_string();
    assert_snapshot!(ended, @"
    exit 1
    --- stdout
    --- stderr
    error: the daemon stopped before run run_01KJN4R5ZB3V0T6Q2W8X9Y7A1C of hello had ended; after its next start it goes on, or ends as failed
    hint: `nbctl run-show run_01KJN4R5ZB3V0T6Q2W8X9Y7A1C` shows everything that happened
    ");
    assert_eq!(left.run(&["run", "hello", "--tool", "greet"]).to_string(), ended);
    assert_eq!(Home::with_daemon(|_| (200, String::new())).run(&["run", "hello"]).code, Some(1));
}

#[test]
fn a_run_is_cancelled_by_its_id() {
    let home = Home::with_daemon(|line| match line {
        "POST /v1/runs/run_1/cancel" => (200, run_json("cancelled")),
        _ => (409, json!({"kind": "conflict", "message": "run run_2 has already ended: failed"}).to_string()),
    });
    assert_snapshot!(home.run(&["cancel", "run_1"]), @"
    exit 0
    --- stdout
    run_01KJN4R5ZB3V0T6Q2W8X9Y7A1C of hello is cancelled
    --- stderr
    ");
    assert_snapshot!(home.run(&["cancel", "run_2"]), @"
    exit 1
    --- stdout
    --- stderr
    error: run run_2 has already ended: failed
    ");
    let as_json = home.run(&["cancel", "run_1", "--json"]);
    assert_eq!(serde_json::from_str::<Value>(&as_json.stdout).unwrap()["status"], "cancelled");
}

#[test]
fn a_detached_run_says_how_to_follow_it() {
    let home = Home::with_daemon(|_| (200, run_json("created")));
    assert_snapshot!(home.run(&["run", "hello", "--tool", "greet", "--detach"]), @"
    exit 0
    --- stdout
    run_01KJN4R5ZB3V0T6Q2W8X9Y7A1C of hello is created
    next: nbctl run-show run_01KJN4R5ZB3V0T6Q2W8X9Y7A1C
    --- stderr
    ");
}

#[test]
fn json_is_one_document() {
    let home = Home::with_daemon(|line| match line {
        "GET /v1/agents" => (200, json!([agent_line("hello")]).to_string()),
        "DELETE /v1/agents/hello?purge=true" => (200, json!({"name": "hello", "purged": true}).to_string()),
        "GET /v1/events?after=3&follow=false" => (200, event_line(4) + &event_line(5)),
        "GET /v1/events?follow=true" => (200, event_line(4) + event_line(5).trim_end()),
        "GET /v1/logs?agent=hello&follow=false&limit=2" => (200, String::new()),
        other => (400, json!({"kind": "usage", "message": other}).to_string()),
    });
    assert_snapshot!(home.run(&["--json", "ls"]), @r#"
    exit 0
    --- stdout
    [{"name":"hello","version":"0.1.0","state":"running","description":"Greets","signer":"ada","tools":1,"unsandboxed":false,"tasks":0,"triggers":0,"problem":null}]
    --- stderr
    "#);
    assert_snapshot!(home.run(&["uninstall", "hello", "--purge", "--json"]), @r#"
    exit 0
    --- stdout
    {"name":"hello","purged":true}
    --- stderr
    "#);
    assert_snapshot!(home.run(&["event", "tail", "--after", "3", "--no-follow", "--json"]), @r#"
    exit 0
    --- stdout
    [{"seq":4,"id":"evt_1","name":"a.b","data":{"x":1},"source":"person","at":"2026-03-01T12:00:00Z"},{"seq":5,"id":"evt_1","name":"a.b","data":{"x":1},"source":"person","at":"2026-03-01T12:00:00Z"}]
    --- stderr
    "#);
    assert_snapshot!(home.run(&["event", "tail", "--json"]), @r#"
    exit 0
    --- stdout
    {"seq":4,"id":"evt_1","name":"a.b","data":{"x":1},"source":"person","at":"2026-03-01T12:00:00Z"}
    {"seq":5,"id":"evt_1","name":"a.b","data":{"x":1},"source":"person","at":"2026-03-01T12:00:00Z"}
    --- stderr
    "#);
    assert_snapshot!(home.run(&["logs", "hello", "-n", "2", "--json"]), @"
    exit 0
    --- stdout
    []
    --- stderr
    ");
    assert_snapshot!(home.run(&["event", "tail", "--after", "3", "--no-follow"]).stdout.lines().count(), @"2");
}

#[test]
fn a_daemon_that_talks_nonsense_is_an_error_and_no_panic() {
    assert_snapshot!(Home::with_bytes(b"SSH-2.0-OpenSSH_9.9\r\n").run(&["status"]), @"
    exit 1
    --- stdout
    --- stderr
    error: the daemon at HOME/nanobotd.sock broke off: invalid HTTP version parsed
    ");
    assert_snapshot!(Home::with_bytes(b"").run(&["status"]), @"
    exit 1
    --- stdout
    --- stderr
    error: the daemon at HOME/nanobotd.sock broke off: connection closed before message completed
    ");
    assert_snapshot!(Home::with_bytes(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{\"ver").run(&["status"]), @"
    exit 1
    --- stdout
    --- stderr
    error: the daemon at HOME/nanobotd.sock broke off: error reading a body from connection
    ");
    assert_snapshot!(Home::with_daemon(|_| (200, "[{}]".to_owned())).run(&["ls"]), @"
    exit 1
    --- stdout
    --- stderr
    error: the daemon at HOME/nanobotd.sock gave an answer that is not understood here: missing field `name` at line 1 column 3
    hint: are nbctl and nanobotd of the same version?
    ");
    assert_snapshot!(Home::with_daemon(|_| (502, "<html>".to_owned())).run(&["ls"]), @"
    exit 1
    --- stdout
    --- stderr
    error: the daemon answered 502 Bad Gateway without a reason
    ");
}

#[test]
fn half_an_answer_is_never_taken_for_a_whole_one() {
    let home = Home::with_bytes(
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n7e\r\n{\"seq\":1,\"id\":\"evt_1\",\"name\":\"a.b\",\"data\":null,\"source\":\"person\",\"at\":\"2026-03-01T12:00:00Z\"}                              \n\r\n",
    );
    let ended = home.run(&["event", "tail"]);
    assert_eq!(ended.code, Some(1));
    assert_eq!(ended.stdout.lines().count(), 1);
    assert!(ended.stderr.contains("broke off"), "{ended}");
    assert_eq!(home.run(&["event", "tail", "--no-follow", "--json"]).stdout, "");
}

#[test]
fn a_closed_stdout_ends_it_quietly() {
    let home = Home::with_daemon(|_| (200, (0..100_000).map(event_line).collect()));
    let mut child =
        home.command(&["event", "tail"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut first = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
    let mut stderr = String::new();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    assert_eq!((child.wait().unwrap().code(), stderr.as_str()), (Some(0), ""));
    assert!(first.contains("a.b"));
}

#[test]
fn a_full_disk_is_said() {
    let home = Home::with_daemon(|_| (200, "[]".to_owned()));
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = home.command(&["ls"]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("error: cannot write to stdout"));
}

#[test]
fn ctrl_c_ends_it_with_130() {
    let home = Home::with_silence_after(
        b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n{\"seq\":1,\"id\":\"evt_1\",\"name\":\"a.b\",\"data\":null,\"source\":\"person\",\"at\":\"2026-03-01T12:00:00Z\"}\n",
    );
    let mut child = home.command(&["event", "tail"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut first = String::new();
    out.read_line(&mut first).unwrap();
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
}
