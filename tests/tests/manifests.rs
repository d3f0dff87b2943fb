//! Manifests: every mistake is told with its file and line before anything is built, and the samples have none.

use std::path::Path;

use nb_tests::home::KEY;
use nb_tests::{Agent, Ended, Home};

/// Builds what a test wrote down.
fn build(agent: &Agent) -> Ended {
    let home = Home::new();
    agent.write(&home.path().join("bot"));
    let ended = home.nbctl(&["package", "build", "bot"]);
    assert!(
        ended.code == Some(0) || !home.path().join("bot-1.0.0.nap").exists(),
        "half a package was built: {ended}"
    );
    ended
}

/// Everything that a person sees of a refusal.
#[track_caller]
fn refusal(agent: &Agent) -> String {
    let ended = build(agent).fails(1);
    assert_eq!(ended.stdout, "", "{ended}");
    ended.stderr
}

fn bot() -> Agent {
    Agent::lua("bot", "return 1")
        .permissions(&["log.info"])
        .chain("log", "  - {id: log, ability: log.info, args: {message: hi}}")
}

#[test]
fn an_unknown_key_is_refused_with_what_was_meant() {
    insta::assert_snapshot!(refusal(&bot().yaml("permisions: [kv.read]")), @"
    manifest.yaml:3: unknown key `permisions`; did you mean `permissions`?
    error: the agent in bot has 1 problem; nothing was built
    ");
    insta::assert_snapshot!(refusal(&bot().yaml("resources: {max_feul: 5}")), @"
    manifest.yaml:3: unknown key `resources.max_feul`; did you mean `max_fuel`?
    error: the agent in bot has 1 problem; nothing was built
    ");
    insta::assert_snapshot!(refusal(&bot().yaml("zzz: 1")), @"
    manifest.yaml:3: unknown key `zzz`
    error: the agent in bot has 1 problem; nothing was built
    ");
}

#[test]
fn a_wrong_type_is_refused() {
    insta::assert_snapshot!(refusal(&bot().yaml("memory_limit_mb: lots")), @r#"
    manifest.yaml:3: memory_limit_mb: invalid type: string "lots", expected a whole number, 0 or more
    error: the agent in bot has 1 problem; nothing was built
    "#);
    insta::assert_snapshot!(refusal(&bot().yaml("subscriptions: {a: b}")), @"
    manifest.yaml:3: subscriptions: invalid type: mapping, expected a list
    error: the agent in bot has 1 problem; nothing was built
    ");
    insta::assert_snapshot!(refusal(&bot().version("first")), @"
    manifest.yaml:2: version: unexpected character 'f' while parsing major version number
    error: the agent in bot has 1 problem; nothing was built
    ");
}

#[test]
fn a_limit_out_of_bounds_is_refused_with_the_bound() {
    insta::assert_snapshot!(refusal(&bot().yaml("memory_limit_mb: 513")), @"
    manifest.yaml:3: `memory_limit_mb` must be 2 to 512; it is 513
    error: the agent in bot has 1 problem; nothing was built
    ");
    insta::assert_snapshot!(refusal(&bot().yaml("fuel_limit: 0")), @"
    manifest.yaml:3: `fuel_limit` must be 1 to 100000000000; it is 0
    error: the agent in bot has 1 problem; nothing was built
    ");
    insta::assert_snapshot!(refusal(&bot().yaml("resources: {max_memory_mb: 0, max_fuel: -1}")), @"
    manifest.yaml:3: resources.max_fuel: invalid type: integer `-1`, expected a whole number, 0 or more
    error: the agent in bot has 1 problem; nothing was built
    ");
}

#[test]
fn a_schedule_that_never_fires_is_refused() {
    let scheduled =
        |timing: &str| bot().yaml(&format!("triggers: {{scheduled: [{{chain: log, {timing}}}]}}"));
    insta::assert_snapshot!(refusal(&scheduled("cron: '0 0 30 2 *'")), @"
    manifest.yaml:3: schedule of `log`: cron `0 0 30 2 *`: it never fires: no date matches
    error: the agent in bot has 1 problem; nothing was built
    ");
    assert!(
        refusal(&scheduled("cron: '61 * * * *'"))
            .contains("manifest.yaml:3: schedule of `log`: cron `61 * * * *`: ")
    );
    insta::assert_snapshot!(refusal(&scheduled("interval: 0s")), @"
    manifest.yaml:3: schedule of `log`: `0s` is below 1 s, the shortest that is allowed
    error: the agent in bot has 1 problem; nothing was built
    ");
    insta::assert_snapshot!(refusal(&scheduled("interval: soon")), @"
    manifest.yaml:3: schedule of `log`: `soon` is not a duration; write for example 30s, 10m, 1h 30m or 7d
    error: the agent in bot has 1 problem; nothing was built
    ");
    insta::assert_snapshot!(refusal(&scheduled("interval: 1h, cron: '* * * * *'")), @"
    manifest.yaml:3: schedule of `log`: has both `interval` and `cron`; one of the two
    error: the agent in bot has 1 problem; nothing was built
    ");
    insta::assert_snapshot!(refusal(&scheduled("interval: 1d, at: '09:00', timezone: Mars/Olympus")), @"
    manifest.yaml:3: schedule of `log`: `Mars/Olympus` is not a time zone; write an IANA name such as Europe/Rome
    error: the agent in bot has 1 problem; nothing was built
    ");
}

#[test]
fn all_problems_are_told_together_each_with_its_file_and_line() {
    let agent = Agent::new("bot")
        .permissions(&["kv.reed", "search.web"])
        .yaml("memory_limit_mb: 9000\ncolour: red")
        .yaml("triggers:\n  scheduled: [{chain: gone, interval: 1h}]\n  webhooks: [{path: hook, chain: work, secret: short}]")
        .tool("tool.lua", "return 1")
        .chain("work", "  - {id: a, ability: kv.write, args: {key: k, value: '{{nobody}}'}}\n  - {id: a, tool: hammer}");
    insta::assert_snapshot!(refusal(&agent), @"
    manifest.yaml:4: unknown key `colour`
    manifest.yaml:3: `memory_limit_mb` must be 2 to 512; it is 9000
    manifest.yaml:8: there is no ability `kv.reed`; did you mean `kv.read`?
    manifest.yaml:8: warning: there is no ability `search.web` here; the permission grants nothing
    manifest.yaml:7: webhook path `hook` must begin with / and hold letters, digits and -_.~/ only
    manifest.yaml:7: a webhook secret has at least 16 bytes; this has 5
    chains/work.yaml:3: step `a` uses `kv.write`, which the manifest's `permissions` do not list
    chains/work.yaml:4: step `a`: another step has the same id
    chains/work.yaml:4: step `a`: the agent has no tool `hammer`
    chains/work.yaml:3: step `a`: `{{nobody}}`: `nobody` is no parameter, step or output of this chain
    manifest.yaml:6: there is no chain `gone`
    error: the agent in bot has 10 problems; nothing was built
    ");
    let home = Home::new();
    agent.write(&home.path().join("bot"));
    let as_json = home.nbctl(&["--json", "package", "build", "bot"]).fails(1);
    let error: serde_json::Value = serde_json::from_str(&as_json.stderr).unwrap();
    let problems = error["error"]["problems"].as_array().unwrap();
    assert!(
        problems.iter().all(|problem| problem["line"].is_u64() && problem["file"].is_string()),
        "{error}"
    );
}

#[test]
fn a_folder_without_a_manifest_is_refused() {
    let home = Home::new();
    std::fs::create_dir(home.path().join("empty")).unwrap();
    home.nbctl(&["package", "build", "empty"]).fails(1).stderr_contains("manifest.yaml");
    home.nbctl(&["package", "build", "nowhere"]).fails(1).stderr_contains("nowhere");
}

#[test]
fn the_samples_build_without_a_warning_install_and_load() {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("manifests");
    let mut names: Vec<String> = std::fs::read_dir(&samples)
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert!(names.len() >= 3, "{names:?}");
    let daemon = Home::new().secret("GITHUB_WEBHOOK", "a long random text").start();
    for name in &names {
        let dir = samples.join(name).display().to_string();
        let file = daemon.path().join(format!("{name}.nap"));
        let args = ["--json", "package", "build", &dir, "--sign", KEY, "-o", &file.display().to_string()];
        let built = daemon.nbctl(&args).success();
        assert_eq!(
            (built.json()["name"].as_str(), built.json()["warnings"].as_array()),
            (Some(name.as_str()), Some(&vec![]))
        );
        let installed = daemon.install_with(&file, &["--grant", "all", "--json"]).success().json();
        assert_eq!(
            (&installed["refused"], &installed["warnings"]),
            (&serde_json::json!([]), &serde_json::json!([]))
        );
    }
    for agent in daemon.nbctl(&["--json", "ls"]).success().json().as_array().unwrap() {
        assert!(agent["problem"].is_null(), "{agent}");
    }
}
