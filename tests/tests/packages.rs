//! Packages: what is refused, what is granted, and that an install is whole or has not happened.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Instant;

use nb_tests::archive::{self, Archive};
use nb_tests::home::KEY;
use nb_tests::wait::pass;
use nb_tests::{Agent, Daemon, Home};
use serde_json::{Value, json};

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

/// What an agent may do now.
fn granted(daemon: &Daemon, agent: &str) -> Vec<String> {
    let shown = daemon.nbctl(&["--json", "show", agent]).success().json();
    let permissions = shown["permissions"].as_array().unwrap().iter();
    permissions
        .filter(|view| view["granted"] == true)
        .map(|view| view["permission"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn a_person_grants_all_none_or_some() {
    let daemon = Home::new().start();
    let package =
        daemon.package(&hello("1.0.0").permissions(&["kv.read", "kv.write", "http.fetch:*.example.com"]));
    let with = |grant: &str| daemon.install_with(&package, &["--grant", grant]);
    with("none").success().stdout_contains("not granted  kv.read, kv.write, http.fetch:*.example.com");
    assert_eq!(granted(&daemon, "hello"), [""; 0]);
    with("kv.read").success();
    assert_eq!(granted(&daemon, "hello"), ["kv.read"]);
    with("all").success();
    assert_eq!(granted(&daemon, "hello"), ["kv.read", "kv.write", "http.fetch:*.example.com"]);
    for more in ["notify.user", "http.fetch", "http.fetch:example.org", "all,none", "unsandboxed"] {
        let refused = with(more).fails(2);
        assert!(refused.error().starts_with("hello does not ask for `"), "{more}: {refused}");
    }
    assert_eq!(granted(&daemon, "hello").len(), 3, "a refused grant changes nothing");
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
    let same = daemon.install_with(&build("1.1.0", &["kv.read", "kv.write", "log.info"]), &["--json"]);
    // What was not granted before is asked for again.
    let same = if same.code == Some(0) {
        same
    } else {
        daemon.install_with(&build("1.1.0", &["kv.read", "kv.write"]), &["--json"]).success()
    };
    assert_eq!(same.json()["replaces"], "1.0.0");
    assert_eq!(granted(&daemon, "hello"), ["kv.read", "kv.write"]);
    let fewer = daemon.install_with(&build("1.2.0", &["kv.read"]), &["--json"]).success();
    assert_eq!(fewer.json()["withdrawn"], json!(["kv.write"]));
    assert_eq!(granted(&daemon, "hello"), ["kv.read"]);
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
    assert_eq!(folders(&daemon), [PathBuf::new(); 0], "something was unpacked");
    assert!(!Path::new("/tmp/evil.lua").exists());
}

/// The folders of unpacked packages: NAME/DIGEST, and those that are not in place yet.
fn folders(daemon: &Daemon) -> Vec<PathBuf> {
    let below = |dir: &Path| -> Vec<PathBuf> {
        fs::read_dir(dir).into_iter().flatten().map(|entry| entry.unwrap().path()).collect()
    };
    let packages = daemon.path().join("state/packages");
    below(&packages).iter().flat_map(|agent| below(agent)).collect()
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
    assert_eq!(folders(&daemon).len(), 1, "{:?}", folders(&daemon));
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
    assert_eq!(folders(&daemon), [PathBuf::new(); 0]);
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

/// A file system in memory that is unmounted at the end.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    fn mount(size: &str) -> Result<Self, String> {
        if !rustix::process::geteuid().is_root() {
            return Err("only root can mount a file system".to_owned());
        }
        let dir = tempfile::tempdir().unwrap();
        let option = format!("size={size},mode=700");
        let output = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &option, "nb-tests"])
            .arg(dir.path())
            .output()
            .unwrap();
        if output.status.success() {
            Ok(Self(dir))
        } else {
            Err(String::from_utf8_lossy(&output.stderr).into_owned())
        }
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Lazily: a process that was killed may hold it for another moment.
        let _ = Command::new("umount").arg("-l").arg(self.0.path()).stderr(Stdio::null()).status();
    }
}

#[test]
fn a_full_disk_stops_an_install_and_nothing_else() {
    let disk = match SmallDisk::mount("48m") {
        Ok(disk) => disk,
        Err(reason) => return println!("skipped: {reason}"),
    };
    let daemon = Home::below(disk.0.path()).start();
    daemon.install(&hello("1.0.0"));
    let next = daemon.package(&hello("2.0.0").file("large.bin", noise(512 << 10)));
    let filler = daemon.path().join("filler");
    fill(&filler);
    let refused = daemon.install_with(&next, &["--grant", "all"]).fails(1);
    assert!(refused.error().contains("is full") || refused.error().contains("No space left"), "{refused}");
    assert_eq!(daemon.nbctl(&["--json", "ls"]).success().json()[0]["version"], "1.0.0");
    assert_eq!(folders(&daemon).len(), 1, "{:?}", folders(&daemon));
    fs::remove_file(&filler).unwrap();
    assert_eq!(daemon.result("hello", "tool", &json!({})), "1.0.0", "the old version still works");
    daemon.install_with(&next, &["--grant", "all"]).success();
    assert_eq!(daemon.result("hello", "tool", &json!({})), "2.0.0");
    drop(daemon);
    drop(disk);
}

/// Bytes that do not compress.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    std::iter::repeat_with(next).take(length).collect()
}

/// Writes until nothing more fits.
fn fill(path: &Path) {
    use std::io::Write;
    let mut file = fs::File::create(path).unwrap();
    let mut part = vec![b'x'; 1 << 20];
    while !part.is_empty() {
        if file.write(&part).is_err() {
            part.truncate(part.len() / 2);
        }
    }
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
        assert_eq!(granted(&daemon, "hello"), ["log.info"]);
        assert_eq!(
            daemon.result("hello", "tool", &json!({})),
            found,
            "grants, row and files are of one version"
        );
        current = found;
    }
    // What an interrupted install left behind does not pile up.
    daemon.kill_and_start();
    assert_eq!(folders(&daemon).len(), 1, "{:?}", folders(&daemon));
}
