//! Packages: what is refused, what is granted, and what an uninstall leaves.

use std::fs;
use std::path::{Path, PathBuf};

use nb_tests::archive::{self, Archive};
use nb_tests::home::KEY;
use nb_tests::http::Request;
use nb_tests::{Agent, Daemon, Home};
use serde_json::json;

fn hello(version: &str) -> Agent {
    Agent::lua("hello", &format!("return '{version}'")).version(version)
}

fn save(daemon: &Daemon, package: &[u8]) -> PathBuf {
    daemon.write("evil.nap", package)
}

/// The refusal of a package, without any option.
#[track_caller]
fn refusal(daemon: &Daemon, package: &Path) -> String {
    let refused = daemon.install_with(package, &["--grant", "all"]).fails(1);
    refused.error().to_owned()
}

#[test]
fn each_reason_not_to_trust_a_package_is_told_in_its_own_words() {
    let daemon = Home::new().start();
    daemon.nbctl(&["key", "generate", "stranger"]).success();
    let unsigned = daemon.package_by(&hello("1.0.0"), None);
    assert_eq!(
        refusal(&daemon, &unsigned),
        "hello is not signed; install it only if you trust where it came from, with --allow-unsigned"
    );
    let strange = daemon.package_by(&hello("1.0.0"), Some("stranger"));
    assert!(refusal(&daemon, &strange).starts_with("signed by a key that is not trusted here: "));

    let signed = fs::read(daemon.package(&hello("1.0.0"))).unwrap();
    let altered = save(&daemon, &archive::altered(&signed, "tools/tool.lua", "return 'evil!'"));
    assert!(refusal(&daemon, &altered).starts_with("`tools/tool.lua` was altered: "));
    // Whoever alters the list of digests as well breaks the signature.
    let digests = String::from_utf8(
        archive::read(&signed).into_iter().find(|(path, _)| path == "NAP-DIGESTS").unwrap().1,
    )
    .unwrap();
    let newer =
        save(&daemon, &archive::altered(&signed, "NAP-DIGESTS", &digests.replace("serial 3", "serial 9")));
    assert!(
        refusal(&daemon, &newer)
            .starts_with("the signature does not match the content: the package was altered after tests ")
    );
    let garbage = save(&daemon, b"PK\x03\x04 is a zip file");
    assert_eq!(refusal(&daemon, &garbage), "this is not a package: it is not gzip-compressed");

    daemon.nbctl(&["ls"]).success().stdout_contains("no agent is installed");
    let whole = save(&daemon, &signed);
    daemon.install_with(&whole, &["--grant", "all"]).success();
    let id = daemon.nbctl(&["--json", "key", "ls"]).success().json()[0]["id"].as_str().unwrap().to_owned();
    daemon.nbctl(&["key", "revoke", &id]).success();
    assert!(refusal(&daemon, &whole).starts_with("signed by a key that was revoked: "));
}

#[test]
fn allow_unsigned_lets_in_what_nobody_vouches_for_but_never_what_was_altered() {
    let daemon = Home::new().start();
    daemon.nbctl(&["key", "generate", "stranger"]).success();
    let allowed = ["--grant", "all", "--allow-unsigned"];
    daemon.install_with(&daemon.package_by(&hello("1.0.0"), None), &allowed).success();
    daemon.nbctl(&["--json", "show", "hello"]).success().stdout_contains("\"signer\":null");
    daemon
        .install_with(&daemon.package_by(&Agent::lua("other", "return 1"), Some("stranger")), &allowed)
        .success();
    let signed = fs::read(daemon.package(&Agent::lua("third", "return 1"))).unwrap();
    let altered = save(&daemon, &archive::altered(&signed, "tools/tool.lua", "return 2"));
    daemon.install_with(&altered, &allowed).fails(1).stderr_contains("was altered");
}

#[test]
fn a_key_signs_only_the_names_it_is_trusted_for() {
    let daemon = Home::new().start();
    daemon.nbctl(&["key", "generate", "team"]).success();
    daemon.nbctl(&["key", "trust", "keys/team.pub", "--for", "team-*"]).success();
    let by_team = |name: &str| daemon.package_by(&Agent::lua(name, "return 1"), Some("team"));
    assert!(refusal(&daemon, &by_team("hello")).contains("is trusted only for team-*, not for hello"));
    daemon.install_with(&by_team("team-bot"), &["--grant", "all"]).success();
}

#[test]
fn an_older_build_is_refused_also_after_an_uninstall() {
    let daemon = Home::new().start();
    let (old, new) = (daemon.package(&hello("1.0.0")), daemon.package(&hello("2.0.0")));
    daemon.install_with(&new, &["--grant", "all"]).success();
    assert_eq!(refusal(&daemon, &old), "hello has serial 1, older than 2, which was installed before");
    daemon.nbctl(&["uninstall", "hello", "--purge"]).success();
    daemon.install_with(&old, &["--grant", "all"]).fails(1).stderr_contains("--allow-downgrade");
    daemon.install_with(&old, &["--grant", "all", "--allow-downgrade"]).success();
    assert_eq!(daemon.result("hello", "tool", &json!({})), "1.0.0");
}

#[test]
fn a_person_grants_all_none_or_some() {
    let daemon = Home::new().start();
    let package =
        daemon.package(&hello("1.0.0").permissions(&["kv.read", "kv.write", "http.fetch:*.example.com"]));
    let with = |grant: &str| daemon.install_with(&package, &["--grant", grant]);
    with("none").success().stdout_contains("not granted  kv.read, kv.write, http.fetch:*.example.com");
    assert_eq!(daemon.granted("hello"), [""; 0]);
    with("kv.read").success();
    assert_eq!(daemon.granted("hello"), ["kv.read"]);
    with("all").success();
    assert_eq!(daemon.granted("hello"), ["kv.read", "kv.write", "http.fetch:*.example.com"]);
    for more in ["notify.user", "http.fetch", "http.fetch:example.org", "all,none", "unsandboxed"] {
        let refused = with(more).fails(2);
        assert!(refused.error().starts_with("hello does not ask for `"), "{more}: {refused}");
    }
    assert_eq!(daemon.granted("hello").len(), 3, "a refused grant changes nothing");
    // Nobody can be asked here.
    daemon.nbctl(&["uninstall", "hello"]).success();
    let undecided = daemon.install_with(&package, &[]).fails(2);
    assert!(
        undecided.error().contains("permissions that nobody decided about: kv.read, kv.write"),
        "{undecided}"
    );
}

#[test]
fn an_upgrade_keeps_what_was_granted_and_withdraws_what_is_not_asked_for_any_more() {
    let daemon = Home::new().start();
    let build =
        |version: &str, permissions: &[&str]| daemon.package(&hello(version).permissions(permissions));
    daemon
        .install_with(&build("1.0.0", &["kv.read", "kv.write", "log.info"]), &["--grant", "kv.read,kv.write"])
        .success();
    // What was not granted before is asked for again, and what was granted is not.
    let same = build("1.1.0", &["kv.read", "kv.write", "log.info"]);
    let undecided = daemon.install_with(&same, &[]).fails(2);
    assert!(undecided.error().ends_with("nobody decided about: log.info"), "{undecided}");
    let same = build("1.1.0", &["kv.read", "kv.write"]);
    assert_eq!(daemon.install_with(&same, &["--json"]).success().json()["replaces"], "1.0.0");
    assert_eq!(daemon.granted("hello"), ["kv.read", "kv.write"]);
    let fewer = daemon.install_with(&build("1.2.0", &["kv.read"]), &["--json"]).success();
    assert_eq!(fewer.json()["withdrawn"], json!(["kv.write"]));
    assert_eq!(daemon.granted("hello"), ["kv.read"]);
    let again = daemon.install_with(&build("1.3.0", &["kv.read", "kv.write"]), &[]).fails(2);
    assert!(again.error().contains("nobody decided about: kv.write"), "{again}");
    assert_eq!(daemon.result("hello", "tool", &json!({})), "1.2.0", "the version before goes on");
}

#[test]
fn a_reinstall_of_the_same_package_changes_nothing() {
    let daemon = Home::new().start();
    let package = daemon.package(&hello("1.0.0").permissions(&["kv.read"]));
    daemon.install_with(&package, &["--grant", "all"]).success();
    for _ in 0..3 {
        let again = daemon.install_with(&package, &["--json"]).success().json();
        assert_eq!((&again["granted"], &again["withdrawn"]), (&json!(["kv.read"]), &json!([])));
        assert_eq!(daemon.result("hello", "tool", &json!({})), "1.0.0");
    }
}

#[test]
fn a_name_a_path_and_a_namespace_belong_to_who_came_first() {
    let daemon = Home::new().start();
    daemon.nbctl(&["key", "generate", "other"]).success();
    daemon.nbctl(&["key", "trust", "keys/other.pub"]).success();
    let hook = "triggers: {webhooks: [{path: /hook/mine, chain: c}]}";
    let mine = Agent::lua("mine", "return 1").chain("c", "  - {id: a, tool: tool}").yaml(hook);
    daemon.install(&mine);
    let conflict = |agent: &Agent, key: &str| {
        let refused = daemon.install_with(&daemon.package_by(agent, Some(key)), &["--grant", "all"]).fails(1);
        refused.error().to_owned()
    };
    assert!(conflict(&mine, "other").starts_with("mine is installed as signed by the key "));
    let same_path = mine.clone().named("thief");
    assert_eq!(conflict(&same_path, KEY), "webhook path /hook/mine belongs to agent mine");
    let same_data = Agent::lua("reader", "return 1").yaml("kv_namespace: mine");
    assert!(
        conflict(&same_data, "other")
            .starts_with("kv_namespace `mine` belongs to agent mine, which is signed by the key ")
    );
    // Agents of one signer may share.
    daemon.install(&same_data);
    // An upgrade keeps its own path.
    daemon.install(&mine.version("1.1.0"));
}

#[test]
fn what_no_honest_tool_packs_is_refused_and_leaves_no_trace() {
    let daemon = Home::new().start();
    let signed = fs::read(daemon.package(&hello("1.0.0"))).unwrap();
    let with = || Archive::of(&signed);
    let bomb = vec![0; 40 << 20];
    let cases = [
        (with().file("bomb.bin", bomb), "decompression bomb"),
        (with().file("../../evil.lua", "x"), "leads out of the package's folder with `..`"),
        (with().file("/tmp/evil.lua", "x"), "is an absolute path"),
        (with().symlink("tools/link.lua", "/etc/passwd"), "`tools/link.lua` is a symbolic link"),
        (with().file("tools/tool.lua", "x"), "`tools/tool.lua` is in the package twice"),
        (with().file("extra.lua", "x"), "`extra.lua` is in the package but NAP-DIGESTS does not list it"),
        (with().file("tools/TOOL.lua", "x"), "differ only by case"),
        (Archive::new().file("readme.txt", "x"), "it needs one of manifest.yaml"),
    ];
    let before = daemon.get("/v1/agents");
    for (package, reason) in cases {
        let refused = refusal(&daemon, &save(&daemon, &package.nap()));
        assert!(refused.contains(reason), "{refused:?} does not say {reason:?}");
    }
    let cut = save(&daemon, &signed[..signed.len() / 2]);
    assert!(refusal(&daemon, &cut).contains("cut off"));
    assert_eq!(daemon.get("/v1/agents"), before);
    assert_eq!(daemon.unpacked(), Vec::<PathBuf>::new(), "something was unpacked");
    assert!(!Path::new("/tmp/evil.lua").exists());
}

#[test]
fn an_uninstalled_agent_leaves_its_data_until_it_is_purged() {
    let daemon = Home::new().start();
    let agent = Agent::new("keeper")
        .permissions(&["kv.read", "kv.write"])
        .tool("count.lua", "return nb.kv.increment('n', 1)")
        .chain("c", "  - {id: a, tool: count}")
        .yaml(
            "triggers: {webhooks: [{path: /hook/keeper, chain: c}], scheduled: [{chain: c, interval: 1d}]}",
        );
    daemon.install(&agent);
    assert_eq!(daemon.result("keeper", "count", &json!({})), 1);
    daemon.nbctl(&["uninstall", "keeper"]).success().stdout_contains("its data is kept");
    daemon
        .nbctl(&["run", "keeper", "--tool", "count"])
        .fails(1)
        .stderr_contains("there is no agent `keeper`");
    assert_eq!(daemon.nbctl(&["--json", "webhook", "ls"]).success().json(), json!([]));
    assert_eq!(daemon.nbctl(&["--json", "schedule", "ls"]).success().json(), json!([]));
    assert_eq!(daemon.runs("keeper").len(), 1, "what it did stays on record");
    assert_eq!(daemon.unpacked(), Vec::<PathBuf>::new());
    daemon.install(&agent);
    assert_eq!(daemon.result("keeper", "count", &json!({})), 2, "the data was kept");
    daemon.nbctl(&["uninstall", "keeper", "--purge"]).success();
    daemon.install(&agent);
    assert_eq!(daemon.result("keeper", "count", &json!({})), 1, "the data was deleted");
    daemon.nbctl(&["uninstall", "nobody"]).fails(1).stderr_contains("there is no agent `nobody`");
}

#[test]
fn an_uninstall_ends_what_runs() {
    let daemon = Home::new().config("limits: {wall_ms: 60000}").start();
    daemon.install(
        &Agent::lua("spins", "while true do end")
            .yaml("fuel_limit: 100000000000\nresources: {max_fuel: 100000000000}"),
    );
    let run = daemon.begin("spins");
    daemon.nbctl(&["uninstall", "spins"]).success();
    let record = daemon.ended(&run);
    assert_eq!(
        (&record["run"]["status"], &record["run"]["error"]),
        (&json!("cancelled"), &json!("the agent was uninstalled"))
    );
}

/// An agent that counts in its own data.
fn keeper() -> Agent {
    Agent::new("keeper")
        .permissions(&["kv.read", "kv.write"])
        .tool("count.lua", "return nb.kv.increment('n', 1)")
}

#[test]
fn data_that_an_agent_left_is_given_to_nobody_else() {
    let mut daemon = Home::new().start();
    daemon.nbctl(&["key", "generate", "other"]).success();
    daemon.nbctl(&["key", "trust", "keys/other.pub"]).success();
    daemon.install(&keeper());
    assert_eq!(daemon.result("keeper", "count", &json!({})), 1);
    daemon.nbctl(&["uninstall", "keeper"]).success();
    daemon.kill_and_start();

    let spy = keeper().named("spy").yaml("kv_namespace: keeper");
    for (agent, key) in
        [(keeper(), Some("other")), (keeper(), None), (spy.clone(), Some("other")), (spy, None)]
    {
        let package = daemon.package_by(&agent, key);
        let refused = daemon.install_with(&package, &["--grant", "all", "--allow-unsigned"]).fails(1);
        let reason = "kv_namespace `keeper` holds data of agent keeper, signed by the key ";
        assert!(refused.error().starts_with(reason), "{refused}");
        refused.stderr_contains("nbctl uninstall keeper --purge deletes it");
    }
    // Its own signer finds it again.
    daemon.install(&keeper());
    assert_eq!(daemon.result("keeper", "count", &json!({})), 2);
    daemon.nbctl(&["uninstall", "keeper"]).success();

    // The data can be deleted when the agent is gone, and then the name is free.
    daemon.nbctl(&["uninstall", "keeper", "--purge"]).success();
    daemon.nbctl(&["uninstall", "keeper", "--purge"]).fails(1).stderr_contains("there is no agent `keeper`");
    let package = daemon.package_by(&keeper(), Some("other"));
    daemon.install_with(&package, &["--grant", "all"]).success();
    assert_eq!(daemon.result("keeper", "count", &json!({})), 1);
}

#[test]
fn a_purge_spares_data_that_another_agent_uses() {
    let daemon = Home::new().start();
    daemon.install(&keeper());
    daemon.install(&keeper().named("partner").yaml("kv_namespace: keeper"));
    assert_eq!(daemon.result("partner", "count", &json!({})), 1);
    let refused = daemon.nbctl(&["uninstall", "keeper", "--purge"]).fails(1);
    assert_eq!(refused.error(), "agent partner uses kv_namespace `keeper` as well");
    assert_eq!(daemon.result("keeper", "count", &json!({})), 2, "nothing was changed");
    daemon.nbctl(&["uninstall", "partner"]).success();
    daemon.nbctl(&["uninstall", "keeper", "--purge"]).success();
    daemon.install(&keeper());
    assert_eq!(daemon.result("keeper", "count", &json!({})), 1);
}

#[test]
fn an_agent_whose_files_were_changed_runs_no_more_and_its_data_stays_its_own() {
    let mut daemon = Home::new().start();
    daemon.nbctl(&["key", "generate", "other"]).success();
    daemon.nbctl(&["key", "trust", "keys/other.pub"]).success();
    for (file, content, reason) in [
        ("tools/count.lua", "return 'evil, and as long'", "`tools/count.lua` "),
        ("NAP-DIGESTS", "nap 1\n", "NAP-DIGESTS"),
    ] {
        daemon.install(&keeper());
        let before = daemon.result("keeper", "count", &json!({})).as_u64().unwrap();
        daemon.terminate();
        fs::write(daemon.unpacked()[0].join(file), content).unwrap();
        daemon.start_again();

        let listed = daemon.get("/v1/agents")[0]["problem"].as_str().unwrap().to_owned();
        assert!(listed.starts_with("its files are not as they were installed: "), "{listed}");
        daemon.nbctl(&["ls"]).success().stdout_contains("its files are not as they were installed");
        let refused = daemon.nbctl(&["run", "keeper", "--tool", "count"]).fails(1);
        assert!(refused.error().contains(reason), "{refused}");
        let spy = keeper().named("spy").yaml("kv_namespace: keeper");
        let spy = daemon.package_by(&spy, Some("other"));
        assert!(refusal(&daemon, &spy).starts_with("kv_namespace `keeper` belongs to agent keeper, "));

        daemon.nbctl(&["uninstall", "keeper"]).success();
        daemon.install(&keeper());
        assert_eq!(daemon.result("keeper", "count", &json!({})), before + 1);
        daemon.nbctl(&["uninstall", "keeper"]).success();
    }
}

#[test]
fn a_part_of_a_permission_is_shown_and_an_update_neither_drops_nor_widens_it() {
    let daemon = Home::new().start();
    let build = |version: &str| daemon.package(&hello(version).permissions(&["http.fetch"]));
    daemon.install_with(&build("1.0.0"), &["--grant", "http.fetch:a.example"]).success();
    assert_eq!(daemon.granted("hello"), ["http.fetch:a.example"]);
    let update = build("1.1.0");
    let undecided = daemon.install_with(&update, &[]).fails(2);
    assert!(undecided.error().ends_with("nobody decided about: http.fetch"), "{undecided}");
    let answer = daemon.ask(&Request::post("/v1/agents", fs::read(update).unwrap())).unwrap();
    assert_eq!(answer.json()["granted"], json!(["http.fetch:a.example"]));
    assert_eq!((&answer.json()["replaces"], &answer.json()["withdrawn"]), (&json!("1.0.0"), &json!([])));
    assert_eq!(daemon.granted("hello"), ["http.fetch:a.example"]);
}

#[test]
fn keys_that_are_revoked_at_the_same_moment_are_all_revoked() {
    let daemon = Home::new().start();
    let ids: Vec<String> = (0..24).map(|number| format!("{number:016X}")).collect();
    std::thread::scope(|scope| {
        for id in &ids {
            let request = Request::new("DELETE", &format!("/v1/keys/{id}"));
            scope.spawn(|| assert_eq!(daemon.ask(&{ request }).unwrap().status, 200));
        }
    });
    let revoked = fs::read_to_string(daemon.path().join("state/trust.d/revoked")).unwrap();
    let mut found: Vec<&str> = revoked.lines().collect();
    found.sort_unstable();
    assert_eq!(found, ids);
}
