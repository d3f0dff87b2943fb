//! What an agent says, as a person and a program read it.

use nb_tests::{Agent, Daemon, Home};
use serde_json::json;

/// Pretends to be another line of the log, clears the screen in two ways, and pretends to be what a command says.
const SLY: &str = "hello\r\n2026-01-01T00:00:00Z  INFO nanobotd: all is well\u{1b}[2J\u{9b}2J\n  outcome     forged\nerror: disk full\nhint: run this";

fn sly() -> Agent {
    let source =
        "local text = parameters.text\nnb.log.error(text)\nprint(text)\nnb.notify(text)\nreturn text";
    Agent::new("sly")
        .permissions(&["log.error", "notify.user"])
        .tool("says.lua", source)
        .tool("raises.lua", "error(parameters.text)")
        .yaml(&format!("description: {SLY:?}").replace("\\u{1b}", "\\e").replace("\\u{9b}", "\\x9b"))
}

/// A daemon in which the agent said it all, and its two runs.
fn daemon_of_sly() -> (Daemon, [String; 2]) {
    let daemon = Home::new().start();
    daemon.install(&sly());
    let run = |tool: &str| {
        let run = daemon.call("sly", tool, &json!({"text": SLY}));
        run["id"].as_str().unwrap().to_owned()
    };
    let runs = [run("says"), run("raises")];
    (daemon, runs)
}

#[test]
fn an_agent_cannot_write_a_line_of_the_daemons_log() {
    let (daemon, _) = daemon_of_sly();
    let log = daemon.log();
    let escaped = r"hello\r\n2026-01-01T00:00:00Z  INFO nanobotd: all is well\x1b[2J\u{9b}2J\n  outcome";
    assert!(log.contains(escaped), "{log}");
    assert!(!log.lines().any(|line| line.starts_with("2026-01-01T00:00:00Z")), "{log}");
    assert!(!log.contains(|c: char| c.is_control() && c != '\n'), "{log:?}");
}

#[test]
fn an_agent_can_neither_steer_a_terminal_nor_write_a_line_of_a_command() {
    let (daemon, [said, raised]) = daemon_of_sly();
    for words in [
        &["ls"][..],
        &["show", "sly"],
        &["runs"],
        &["run-show", &said],
        &["run-show", &raised],
        &["logs"],
        &["inbox"],
        &["event", "tail", "--no-follow"],
        &["run", "sly", "--tool", "raises", "-p", &format!("text={SLY}")],
    ] {
        let ended = daemon.nbctl(words);
        let written = format!("{}{}", ended.stdout, ended.stderr);
        assert!(!written.contains(|c: char| c.is_control() && c != '\n'), "{words:?}: {written:?}");
        // An error is told with its lines: those that follow the first one are marked.
        for forged in ["2026-01-01T00", "outcome     forged", "error: disk full", "hint: run this"] {
            let passes = |line: &str| line.trim_start().starts_with(forged);
            assert!(!written.lines().any(passes), "{words:?}: {written}");
        }
    }
    let logs = daemon.nbctl(&["logs", &said]).success();
    assert!(logs.stdout.contains(r"error: hello\r\n2026-01-01T00:00:00Z  INFO"), "{logs}");
}

#[test]
fn json_gives_what_an_agent_said_to_the_letter() {
    let (daemon, [said, _]) = daemon_of_sly();
    let raw = daemon.nbctl(&["--json", "logs", &said]).success();
    assert!(!raw.stdout.contains(|c: char| c.is_control() && c != '\n'), "{raw}");
    let lines = raw.json();
    let messages: Vec<&str> =
        lines.as_array().unwrap().iter().filter_map(|line| line["message"].as_str()).collect();
    assert_eq!(messages, [SLY, SLY]);
    assert_eq!(daemon.nbctl(&["--json", "run-show", &said]).success().json()["run"]["output"], SLY);
    assert_eq!(daemon.nbctl(&["--json", "inbox"]).success().json()[0]["title"], SLY);
    assert_eq!(daemon.nbctl(&["--json", "ls"]).success().json()[0]["description"], SLY);
}

#[test]
fn an_error_is_one_line_of_a_table_with_its_source_below() {
    let daemon = Home::new().start();
    daemon.install(
        &Agent::new("wrong")
            .tool("tool.lua", "local a = 1\n\nreturn a.b.c\n")
            .chain("only", "  - {id: one, tool: tool}"),
    );
    let ended = daemon.nbctl(&["run", "wrong"]).fails(1);
    ended.clone().stderr_contains("\n|   3 | return a.b.c\n|     |        ^\n");
    let run = daemon.runs("wrong")[0]["id"].as_str().unwrap().to_owned();
    let place = "step `one`: tool `tool`: tools/tool.lua:3:8: ";

    let shown = daemon.nbctl(&["run-show", &run]).success();
    let row = shown.stdout.lines().find(|line| line.starts_with("  error ")).unwrap();
    assert!(row.contains(place) && !row.contains("return a.b.c") && !row.contains(r"\n"), "{shown}");
    assert!(shown.stdout.contains("\n\n  |   3 | return a.b.c\n  |     |        ^\n"), "{shown}");

    let logs = daemon.nbctl(&["logs", &run]).success();
    let last = logs.stdout.lines().last().unwrap();
    assert!(last.contains(&format!("failed: {place}")), "{logs}");
    assert!(!logs.stdout.contains(r"\n") && !logs.stdout.contains("3 | return"), "{logs}");
}

#[test]
fn durations_of_a_record_have_two_decimals() {
    let daemon = Home::new().start();
    daemon.install(&Agent::lua("brief", "return {ms = 1.23456}"));
    let run = daemon.call("brief", "tool", &json!({}))["id"].as_str().unwrap().to_owned();
    let shown = daemon.nbctl(&["run-show", &run]).success();
    for key in ["running_ms", "waiting_ms"] {
        let (_, rest) = shown.stdout.split_once(&format!("  {key}=")).unwrap();
        let figure = rest.split_whitespace().next().unwrap();
        let (whole, decimals) = figure.split_once('.').unwrap();
        assert!(whole.parse::<u64>().is_ok() && decimals.len() == 2, "{key}={figure}");
    }
    // What a tool gives is not a duration, whatever it is called.
    assert!(shown.stdout.contains("\"ms\": 1.23456"), "{shown}");
}
