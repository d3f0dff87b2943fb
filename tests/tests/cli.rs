//! `nbctl` and a real daemon: each command with `--json`, and the exit codes.

use std::collections::BTreeSet;

use nb_tests::home::KEY;
use nb_tests::{Agent, Daemon, Ended, Home};
use serde_json::{Value, json};

/// An agent with something of everything.
fn bot() -> Agent {
    Agent::new("bot")
        .permissions(&["kv.read", "notify.user"])
        .tool("tool.lua", "print('at work'); return parameters")
        .tool("wait.lua", "while true do end")
        .chain("tell", "  - {id: tell, ability: notify.user, args: {title: Hello, message: there}}")
        .yaml(
            "fuel_limit: 100000000000\nresources: {max_fuel: 100000000000}\ntriggers:\n  scheduled: [{chain: tell, interval: 1d}]\n  events: [{on: some.event, chain: tell}]\n  \
             webhooks: [{path: /hook/bot, chain: tell, secret: a secret of many bytes}]",
        )
}

/// Runs a command with `--json`, and expects one document on stdout and nothing on stderr.
#[track_caller]
fn json_of(daemon: &Daemon, args: &[&str]) -> Value {
    let ended = daemon.nbctl(&[&["--json"], args].concat()).success();
    assert_eq!(ended.stderr, "", "{ended}");
    assert_eq!(ended.stdout.lines().count(), 1, "{ended}");
    ended.json()
}

/// The commands that `--help` lists, with those below them.
fn commands(daemon: &Daemon, of: &[&str]) -> BTreeSet<String> {
    let help = daemon.nbctl(&[of, &["--help"]].concat()).success().stdout;
    let Some((_, list)) = help.split_once("\nCommands:\n") else { return BTreeSet::from([of.join(" ")]) };
    let name = |line: &str| {
        let is_name = line.starts_with("  ") && !line.starts_with("   ");
        is_name.then(|| line.split_whitespace().next().unwrap().to_owned())
    };
    let names =
        list.lines().take_while(|line| !line.is_empty()).filter_map(name).filter(|name| name != "help");
    names.flat_map(|name| commands(daemon, &[of, &[name.as_str()]].concat())).collect()
}

#[test]
fn every_command_gives_one_json_document() {
    let daemon = Home::new().config("limits: {wall_ms: 60000}").start();
    let package = daemon.package(&bot()).display().to_string();
    let folder = daemon.path().join("agents/bot-1").display().to_string();
    daemon.write("body.json", "{}");
    let mut done = BTreeSet::new();
    let mut ask = |command: &str, rest: &[&str]| -> Value {
        let words: Vec<&str> = command.split(' ').chain(rest.iter().copied()).collect();
        done.insert(command.to_owned());
        json_of(&daemon, &words)
    };
    let has = |value: &Value, key: &str| assert!(value.get(key).is_some(), "no {key:?} in {value}");

    has(&ask("status", &[]), "webhooks_at");
    has(&ask("key generate", &["second"]), "public_key");
    has(&ask("key trust", &["keys/second.pub", "--for", "x-*"]), "id");
    let keys = ask("key ls", &[]);
    assert_eq!(keys.as_array().unwrap().len(), 2, "{keys}");
    let second = keys.as_array().unwrap().iter().find(|key| key["label"] == "second").unwrap();
    assert_eq!(ask("key revoke", &[second["id"].as_str().unwrap()])["revoked"], true);

    has(&ask("package build", &[&folder, "-o", "again.nap", "--sign", KEY]), "digest");
    assert_eq!(ask("package verify", &[&package])["signer"]["trusted"], true);
    has(&ask("package show", &[&package]), "files");
    assert_eq!(ask("install", &[&package, "--grant", "all"])["granted"], json!(["kv.read", "notify.user"]));
    assert_eq!(ask("ls", &[])[0]["name"], "bot");
    has(&ask("show", &["bot"]), "tool_list");
    assert_eq!(ask("stop", &["bot"])["state"], "stopped");
    assert_eq!(ask("start", &["bot"])["state"], "running");

    let run = ask("run", &["bot", "--tool", "tool", "-p", "a=b"]);
    assert_eq!((&run["status"], &run["output"]), (&json!("completed"), &json!({"a": "b"})));
    let id = run["id"].as_str().unwrap();
    assert_eq!(ask("runs", &["bot"])[0]["id"], id);
    assert_eq!(ask("run-show", &[id])["run"]["id"], id);
    assert!(ask("logs", &[id]).as_array().unwrap().iter().any(|line| line["text"] == "print: at work"));
    assert_eq!(ask("run", &["bot", "tell"])["output"]["shown"], "inbox");
    assert_eq!(ask("inbox", &[])[0]["title"], "Hello");
    let waiting = ask("run", &["bot", "--tool", "wait", "--detach"]);
    assert_eq!(ask("cancel", &[waiting["id"].as_str().unwrap()])["status"], "cancelled");

    let event = ask("event publish", &["other.event", "--data", "[1]"]);
    assert_eq!(
        (&event["name"], &event["data"], &event["source"]),
        (&json!("other.event"), &json!([1]), &json!("person"))
    );
    let seq = event["seq"].as_u64().unwrap() - 1;
    assert_eq!(ask("event tail", &["--no-follow", "--after", &seq.to_string()])[0]["id"], event["id"]);
    assert_eq!(ask("schedule ls", &[])[0]["chain"], "tell");
    assert_eq!(ask("webhook ls", &[])[0]["verify"], "hmac");
    has(&ask("webhook sign", &["bot", "/hook/bot", "--file", "body.json"]), "headers");
    has(&ask("completions", &["bash"]), "script");
    assert_eq!(ask("uninstall", &["bot", "--purge"])["purged"], true);

    let bot = "provider: {id: scripted, options: {turns: [{answer: Hello!}]}}";
    std::fs::write(daemon.path().join("talks.yml"), bot).unwrap();
    assert_eq!(ask("provider ask", &["talks.yml", "Hi"])["text"], "Hello!");
    // It serves until it is ended: tests/tests/providers.rs.
    done.insert("provider serve-script".to_owned());
    // It makes a home of its own and is tried as a whole.
    done.insert("demo".to_owned());
    assert_eq!(done, commands(&daemon, &[]), "a command is not tried here");
}

#[test]
fn every_list_of_an_empty_daemon_is_an_empty_document() {
    let daemon = Home::new().start();
    for words in [&["ls"][..], &["runs"], &["logs"], &["schedule", "ls"], &["webhook", "ls"], &["inbox"]] {
        assert_eq!(json_of(&daemon, words), json!([]), "{words:?}");
        daemon.nbctl(words).success();
    }
}

#[test]
fn exit_codes_tell_what_kind_of_failure_it_was() {
    let daemon = Home::new().start();
    daemon.install(&bot());
    daemon.install(&Agent::lua("fails", "error('no luck')"));
    let code = |words: &[&str]| daemon.nbctl(words).code;
    // Failed.
    for words in [
        &["run", "fails"][..],
        &["run", "nobody"],
        &["run", "bot", "no-task"],
        &["run", "bot", "--tool", "no-tool"],
        &["show", "nobody"],
        &["stop", "nobody"],
        &["run-show", "run_01234567890123456789ABCDEF"],
        &["cancel", "run_01234567890123456789ABCDEF"],
        &["logs", "nobody"],
        &["install", "missing.nap"],
        &["package", "verify", "missing.nap"],
    ] {
        let ended = daemon.nbctl(words).fails(1);
        assert!(ended.stderr.starts_with("error: "), "{ended}");
        assert!(!ended.error().is_empty() && !ended.stderr.contains("panicked"), "{ended}");
    }
    // Makes no sense.
    for words in [
        &[][..],
        &["no-such-command"],
        &["run"],
        &["run", ""],
        &["run", "bot", "tell", "--tool", "tool"],
        &["run", "bot", "-p", "novalue"],
        &["run", "bot", "--input", "{not json"],
        &["run", "bot", "tell", "-p", "unknown=1"],
        &["event", "publish", "a..b"],
        &["event", "publish", "a.*"],
        &["key", "revoke", "short"],
        &["key", "generate", "../me"],
        &["webhook", "sign", "bot", "/hook/bot"],
        &["--home", "/x", "--system", "ls"],
    ] {
        assert_eq!(code(words), Some(2), "{words:?}: {}", daemon.nbctl(words));
    }
    assert_eq!(code(&["--help"]), Some(0));
    assert_eq!(code(&["--version"]), Some(0));
}

#[test]
fn with_json_an_error_is_one_line_of_json_on_stderr() {
    let daemon = Home::new().start();
    daemon.install(&Agent::lua("fails", "error('no luck')"));
    let error = |ended: &Ended| -> Value {
        assert_eq!(ended.stderr.lines().count(), 1, "{ended}");
        serde_json::from_str::<Value>(&ended.stderr).unwrap()["error"].clone()
    };
    let missing = daemon.nbctl(&["--json", "show", "nobody"]).fails(1);
    assert_eq!(missing.stdout, "");
    assert_eq!(error(&missing)["kind"], "not_found");
    assert_eq!(error(&missing)["hint"], "nbctl ls shows which there are");
    assert_eq!(error(&daemon.nbctl(&["--json", "run"]).fails(2))["kind"], "usage");
    // A run that failed is both: the run, and why.
    let failed = daemon.nbctl(&["--json", "run", "fails"]).fails(1);
    assert_eq!(failed.json()["status"], "failed");
    assert!(error(&failed)["message"].as_str().unwrap().contains("tools/tool.lua:1: no luck"), "{failed}");
}

#[test]
fn a_run_that_was_cancelled_ends_with_130() {
    let daemon = Home::new().config("limits: {wall_ms: 60000}").start();
    daemon.install(
        &Agent::lua("spins", "while true do end")
            .yaml("fuel_limit: 100000000000\nresources: {max_fuel: 100000000000}"),
    );
    let waiting = daemon.command(&["run", "spins"]).stderr(std::process::Stdio::piped()).spawn().unwrap();
    nb_tests::until("the run is at work", || {
        daemon.runs("spins").first().filter(|run| run["status"] == "running").map(drop)
    });
    daemon.nbctl(&["stop", "spins"]).success();
    let output = waiting.wait_with_output().unwrap();
    let ended = Ended::new("nbctl run spins".to_owned(), output).fails(130);
    assert!(ended.error().contains("the agent was stopped"), "{ended}");
    daemon.nbctl(&["run", "spins"]).fails(1).stderr_contains("hint: nbctl start spins");
}

#[test]
fn without_a_daemon_a_person_is_told_how_to_start_one() {
    let home = Home::new();
    for words in [&["ls"][..], &["status"], &["run", "x"], &["logs", "-f"]] {
        let ended = home.nbctl(words).fails(1);
        assert!(ended.error().contains("nanobotd.sock") && ended.stderr.contains("hint: "), "{ended}");
    }
    let ended = home.nbctl(&["--json", "ls"]).fails(1);
    assert_eq!(serde_json::from_str::<Value>(&ended.stderr).unwrap()["error"]["kind"], "unreachable");
}

#[test]
fn text_of_an_agent_cannot_move_the_cursor_of_a_person() {
    let daemon = Home::new().start();
    daemon.install(
        &Agent::lua("sly", "print('a\\27[2Jb'); error('c\\27[1Ad')").yaml("description: \"x\\e[31my\""),
    );
    for words in [&["ls"][..], &["show", "sly"], &["run", "sly"], &["runs"], &["logs"]] {
        let ended = daemon.nbctl(words);
        assert!(!ended.stdout.contains('\u{1b}') && !ended.stderr.contains('\u{1b}'), "{words:?}: {ended}");
    }
    assert!(!daemon.log().contains('\u{1b}'), "{}", daemon.log());
}
