//! The README is true: its first bot works as it is written, and its promises are tests.

use std::path::Path;
use std::process::Command;

use nb_tests::Home;
use nb_tests::home::binary;

fn page(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    std::fs::read_to_string(root.join(name)).unwrap()
}

/// The text of a section, without its heading.
fn section(title: &str) -> String {
    let readme = page("README.md");
    let begin = readme.find(&format!("## {title}\n")).unwrap();
    let rest = &readme[begin + 3..];
    rest[..rest.find("\n## ").unwrap()].to_owned()
}

fn blocks(text: &str, language: &str) -> Vec<String> {
    let fence = format!("```{language}\n");
    text.split(&fence).skip(1).map(|block| block.split("```").next().unwrap().to_owned()).collect()
}

#[test]
fn the_first_bot_works_as_it_is_written() {
    let daemon = Home::new().start();
    let programs = binary("nbctl").parent().unwrap().display().to_string();
    let script = blocks(&section("A first bot"), "sh").join("\n");
    let output = Command::new("bash")
        .args(["-euo", "pipefail", "-c", &script])
        .current_dir(daemon.path())
        .env_clear()
        .env("PATH", format!("{programs}:/usr/local/bin:/usr/bin:/bin"))
        .env("NANOBOT_HOME", daemon.path())
        .output()
        .unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{stdout}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(stdout.contains("\n1\n2\n"), "the counts: {stdout}");
    assert!(stdout.contains("\"shown\": \"inbox\""), "the notification: {stdout}");
    let inbox = daemon.nbctl(&["--json", "inbox"]).success().json();
    assert_eq!((&inbox[0]["title"], &inbox[0]["body"]), (&"Today".into(), &"coffee: 2".into()));
}

#[test]
fn every_promise_has_a_test_of_its_name() {
    let tests = include_str!("promises.rs");
    let rows: Vec<String> =
        section("Why").lines().filter_map(|line| line.strip_prefix("| `").map(str::to_owned)).collect();
    assert!(rows.len() >= 8, "{rows:?}");
    for row in rows {
        let name = row.split('`').next().unwrap();
        assert!(tests.contains(&format!("fn {name}(")), "promises.rs has no test `{name}`");
    }
}

#[test]
fn the_triggers_that_are_shown_are_valid() {
    let triggers = blocks(&section("What wakes an agent"), "yaml").concat();
    let home = Home::new();
    let chains = ["report", "tidy", "poll", "warn", "on-push"];
    let manifest = format!("name: shown\nversion: 1.0.0\npermissions: [flow.stop]\n{triggers}");
    home.write("shown/manifest.yaml", manifest);
    for chain in chains {
        let steps = "steps:\n  - {id: stop, ability: flow.stop}\n";
        home.write(&format!("shown/chains/{chain}.yaml"), format!("id: {chain}\n{steps}"));
    }
    let dir = home.path().join("shown").display().to_string();
    let out = home.path().join("shown.nap").display().to_string();
    home.nbctl(&["package", "build", &dir, "-o", &out]).success();
}

#[test]
fn the_chain_that_is_shown_is_valid() {
    let page = page("docs/agents.md");
    let chain = blocks(&page, "yaml").into_iter().find(|block| block.starts_with("id: report")).unwrap();
    let home = Home::new();
    let permissions = "permissions: [data.fetch_url, flow.branch, notify.user, log.error]";
    home.write("shown/manifest.yaml", format!("name: shown\nversion: 1.0.0\n{permissions}\n"));
    home.write("shown/chains/report.yaml", chain);
    let dir = home.path().join("shown").display().to_string();
    let built = home.nbctl(&["package", "build", &dir, "-o", &format!("{dir}.nap")]).success();
    assert!(!format!("{built:?}").contains("warning"), "{built:?}");
}

#[test]
fn the_configuration_that_is_shown_holds_the_defaults() {
    let yaml = blocks(&page("docs/daemon.md"), "yaml").concat();
    let daemon = Home::new().config(&yaml).start();
    let status = daemon.nbctl(&["--json", "status"]).success().json();
    assert_eq!(status["timezone"], "Europe/Rome");
}
