//! Tools that are more than one script: with modules, as components, and outside of the sandbox.

use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::Duration;

use nb_tests::wait::within;
use nb_tests::{Agent, Daemon, Home};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat, open};
use serde_json::{Value, json};

const PREOPENS: &str = include_str!("components/preopens.wat");
const ASK: &str = include_str!("components/ask.wat");

fn native(source: &str) -> Agent {
    Agent::new("native")
        .permissions(&["unsandboxed", "kv.write"])
        .file("tools/tool.lua", source)
        .tool_entry("name: tool\nsource: tools/tool.lua\nsandboxed: false")
}

fn fails(daemon: &Daemon, source: &str) -> String {
    daemon.install(&native(source));
    daemon.failure("native", "tool", &json!({}))
}

#[test]
fn a_tool_may_have_several_files() {
    let daemon = Home::new().start();
    let agent = Agent::new("parts")
        .tool("lua.lua", "local text = require('text')\nreturn text.twice(parameters.word)")
        .tool("fennel.fnl", "(import-macros {: twice} :lib.forms)\n(var n 0)\n(twice (set n (+ n 1)))\nn")
        .tool("wrong.lua", "return require('text').wrong()")
        .file("tools/lib/text.lua", "local text = {}\nfunction text.twice(word) return word .. word end\nfunction text.wrong()\n  error('wrong here')\nend\nreturn text")
        .file("tools/lib/forms.fnl", "{:twice (fn [form] `(do ,form ,form))}");
    daemon.install(&agent);
    assert_eq!(daemon.result("parts", "lua", &json!({"word": "ha"})), "haha");
    assert_eq!(daemon.result("parts", "fennel", &json!({})), 2);
    let error = daemon.failure("parts", "wrong", &json!({}));
    assert_eq!(error, "tool `wrong`: tools/lib/text.lua:4: wrong here\n  4 |   error('wrong here')");

    let broken = agent.named("broken").file("tools/lib/text.lua", "return (");
    let refused = daemon.install_with(&daemon.package(&broken), &["--grant", "all"]).fails(1);
    // Once, and of the module alone, although two tools require it.
    assert!(refused.error().starts_with("tools/lib/text.lua:1:9: "), "{refused}");
    assert_eq!(refused.stderr.matches("tools/lib/text.lua").count(), 1, "{refused}");
    assert!(!refused.stderr.contains("tool `"), "{refused}");
}

#[test]
fn a_module_that_nobody_requires_must_compile_whatever_the_tools_are() {
    let daemon = Home::new().start();
    let sandboxed = Agent::lua("broken", "return 1");
    let native = Agent::new("broken")
        .permissions(&["unsandboxed"])
        .tool_entry("name: tool\nlua: return 1\nsandboxed: false");
    for (file, text, place) in [
        ("tools/lib/unused.lua", "return (", "tools/lib/unused.lua:1:9: "),
        ("tools/lib/unused.fnl", "(local x 1)\n(let [x] x)", "tools/lib/unused.fnl:2:"),
        ("tools/lib/unused.fnl", "(fn m [x] `(do ,x))\n(let [x] x)\n{: m}", "tools/lib/unused.fnl:2:"),
    ] {
        for agent in [&sandboxed, &native] {
            let package = daemon.package(&agent.clone().file(file, text));
            for grant in ["all", "none"] {
                let refused = daemon.install_with(&package, &["--grant", grant]).fails(1);
                assert!(refused.error().starts_with(place), "{text}: {refused}");
                assert_eq!(refused.stderr.matches(file).count(), 1, "{refused}");
            }
        }
    }
    // Macros, and modules that use them, are as good.
    let macros = [("macros.fnl", "(fn twice [x] `(do ,x ,x))\n{: twice}"), ("init/init-macros.fnl", "{}")];
    let user = ("user.fnl", "(import-macros {: twice} :macros)\n(local n (require :number))\n(twice n)");
    for agent in [sandboxed, native] {
        let files = macros.iter().chain([&user, &("number.lua", "return 1")]);
        let agent = files.fold(agent, |agent, (file, text)| agent.file(&format!("tools/lib/{file}"), text));
        daemon.install(&agent);
        daemon.nbctl(&["uninstall", "broken"]).success();
    }
}

#[test]
fn a_component_is_a_tool_and_sees_the_folders_that_were_granted() {
    let daemon = Home::new().start();
    let folder = daemon.path().join("notes");
    fs::create_dir(&folder).unwrap();
    let permission = format!("files.read:{}", folder.display());
    let agent = Agent::new("component")
        .permissions(&[&permission])
        .tool_entry("name: folders\ncomponent: tools/folders.wasm")
        .file("tools/folders.wasm", wat::parse_str(PREOPENS).unwrap());
    let package = daemon.package(&agent);
    daemon.install_with(&package, &["--grant", "none"]).success();
    assert_eq!(daemon.result("component", "folders", &json!({})), json!([]));
    daemon.install_with(&package, &["--grant", &permission]).success();
    assert_eq!(daemon.result("component", "folders", &json!({})), json!([folder]));
    daemon.nbctl(&["show", "component"]).success().stdout_contains("component in tools/folders.wasm");
    fs::remove_dir(&folder).unwrap();
    let error = daemon.failure("component", "folders", &json!({}));
    assert!(error.contains("the folder") && error.contains("cannot be opened"), "{error}");
}

/// An agent whose component lists the folders that it has.
fn reader(folder: &Path) -> Agent {
    Agent::new("reader")
        .permissions(&[&format!("files.read:{}", folder.display())])
        .tool_entry("name: folders\ncomponent: tools/folders.wasm")
        .file("tools/folders.wasm", wat::parse_str(PREOPENS).unwrap())
}

#[test]
fn a_folder_that_leads_to_what_is_the_daemons_own_is_never_granted() {
    let daemon = Home::new().secret("TOKEN", "value").start();
    let home = daemon.path().canonicalize().unwrap();
    let link = home.join("link");
    symlink(home.join("config"), &link).unwrap();
    let links = home.join("links");
    fs::create_dir(&links).unwrap();
    symlink(&home, links.join("up")).unwrap();
    for folder in [
        home.join("config"),
        home.join("config/secrets"),
        home.join("state/store"),
        home.join("keys"),
        home.clone(),
        "/".into(),
        "/proc/self".into(),
        link.clone(),
        links.join("up/state"),
    ] {
        let package = daemon.package(&reader(&folder));
        let refused = daemon.install_with(&package, &["--grant", "all"]).fails(1);
        assert!(refused.error().contains("which is the daemon's own"), "{}: {refused}", folder.display());
        daemon.nbctl(&["show", "reader"]).fails(1);
    }
    // It may be asked for, and is granted no later.
    let package = daemon.package(&reader(&link));
    let installed = daemon.install_with(&package, &["--grant", "none"]).success();
    assert!(installed.to_string().contains("it cannot be granted"), "{installed}");
    daemon.install_with(&package, &["--grant", "all"]).fails(1);
    assert_eq!(daemon.granted("reader"), [""; 0]);
    assert_eq!(daemon.result("reader", "folders", &json!({})), json!([]));
}

#[test]
fn a_granted_folder_that_becomes_the_daemons_own_is_not_read() {
    let daemon = Home::new().start();
    let (folder, other) = (daemon.path().join("notes"), daemon.path().join("other"));
    fs::create_dir(&other).unwrap();
    symlink(&other, &folder).unwrap();
    let installed = daemon.install(&reader(&folder)).to_string();
    let told = format!("`files.read:{}` leads to {}", folder.display(), other.display());
    assert!(installed.contains(&told), "{installed}");
    assert_eq!(daemon.result("reader", "folders", &json!({})), json!([folder]));
    fs::remove_file(&folder).unwrap();
    symlink(daemon.path().join("config"), &folder).unwrap();
    let error = daemon.failure("reader", "folders", &json!({}));
    assert!(error.contains("which is the daemon's own"), "{error}");
}

#[test]
fn a_folder_that_is_not_there_or_that_no_tool_can_read_is_warned_about() {
    let daemon = Home::new().start();
    let folder = daemon.path().join("nowhere");
    let installed = daemon.install(&reader(&folder));
    let warning = format!("`files.read:{0}`: there is no folder {0}", folder.display());
    assert!(installed.to_string().contains(&warning), "{installed}");
    fs::create_dir(&folder).unwrap();
    let script = Agent::lua("script", "return 1").permissions(&[&format!("files.read:{}", folder.display())]);
    let installed = daemon.install(&script);
    assert!(installed.to_string().contains("is for components, and no tool is one"), "{installed}");
    assert!(!installed.to_string().contains("there is no folder"), "{installed}");
}

#[test]
fn a_component_uses_the_abilities_that_were_granted() {
    let daemon = Home::new().start();
    let agent = Agent::new("asks")
        .permissions(&["kv.write"])
        .tool_entry("name: count\ncomponent: tools/count.wasm")
        .file("tools/count.wasm", wat::parse_str(ASK).unwrap());
    daemon.install(&agent);
    for count in 1..4 {
        assert_eq!(daemon.result("asks", "count", &json!({})), count);
    }
}

#[test]
fn what_is_no_component_is_not_installed() {
    let daemon = Home::new().start();
    for (bytes, reason) in [(&b"\0asm\x01\0\0\0"[..], "not a component"), (b"text", "cannot be a tool")] {
        let agent = Agent::new("wrong")
            .tool_entry("name: tool\ncomponent: tools/tool.wasm")
            .file("tools/tool.wasm", bytes);
        let refused = daemon.install_with(&daemon.package(&agent), &["--grant", "all"]).fails(1);
        assert!(refused.error().starts_with("tool `tool`: tools/tool.wasm "), "{refused}");
        assert!(refused.error().contains(reason), "{refused}");
        assert_eq!(refused.error().lines().count(), 1, "{refused}");
    }
}

#[test]
fn a_tool_leaves_the_sandbox_only_with_the_grant() {
    let daemon = Home::new().variable("NATIVE", "from the environment").start();
    let agent =
        native("return {os.getenv('NATIVE'), io.open('/etc/passwd') ~= nil, nb.kv.increment('calls', 1)}");
    let package = daemon.package(&agent);
    daemon.install_with(&package, &["--grant", "kv.write"]).success();
    let error = daemon.failure("native", "tool", &json!({}));
    assert!(
        error.contains("`sandboxed: false`") && error.contains("permission `unsandboxed` was not granted"),
        "{error}"
    );
    let list = daemon.nbctl(&["ls"]).success();
    assert!(!list.to_string().contains("[unsandboxed]"), "{list}");

    daemon.install_with(&package, &["--grant", "all"]).success();
    assert_eq!(daemon.result("native", "tool", &json!({})), json!(["from the environment", true, 1]));
    for words in [&["ls"][..], &["show", "native"], &["runs", "native"]] {
        daemon.nbctl(words).success().stdout_contains("[unsandboxed]");
    }
    let run = daemon.call("native", "tool", &json!({}));
    assert_eq!(run["unsandboxed"], true);
    let id = run["id"].as_str().unwrap();
    daemon
        .nbctl(&["run-show", id])
        .success()
        .stdout_contains("[unsandboxed]")
        .stdout_contains("unsandboxed=true");
}

#[test]
fn a_crash_or_a_loop_outside_of_the_sandbox_ends_the_call_and_not_the_daemon() {
    let daemon = Home::new().config("limits:\n  wall_ms: 1000\n").start();
    let before = daemon.pid();
    for (source, expected) in [
        ("os.exit(3)", "exit code 3"),
        ("os.execute('kill -ABRT $PPID') while true do end", "SIGABRT"),
        ("while true do end", "out of fuel"),
        ("os.execute('sleep 60')", "out of time"),
        ("local t = {} while true do t[#t + 1] = ('x'):rep(100000) .. #t end", "out of memory"),
        ("\n\nerror('boom')", "tools/tool.lua:3: boom"),
    ] {
        let error = fails(&daemon, source);
        assert!(error.contains(expected), "{source}: {error}");
    }
    assert_eq!(daemon.pid(), before);
    daemon.install(&native("return 'well'"));
    assert_eq!(daemon.result("native", "tool", &json!({})), "well");
}

/// A pipe that a tool opens and each of its programs inherits: while one of them lives, its end does not come.
fn pipe(path: &Path) -> File {
    mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    open(path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty()).unwrap().into()
}

/// What can be seen of it when there is something, within this time.
fn seen(pipe: &File, seconds: i64) -> PollFlags {
    let mut seen = [PollFd::new(pipe, PollFlags::IN)];
    poll(&mut seen, Some(&Timespec { tv_sec: seconds, tv_nsec: 0 })).unwrap();
    seen[0].revents()
}

#[test]
fn what_runs_outside_of_the_sandbox_ends_with_its_daemon_whatever_it_does() {
    let mut daemon = Home::new().config("limits:\n  wall_ms: 60000\n").start();
    let fill = "repeat all[#all + 1] = io.open('/dev/null') until not io.open('/dev/null')";
    let fork = "os.execute('(while [ -e FOLDER/fork ]; do setsid sleep 600 & sleep 0.01; done) &')";
    let stop = "os.execute('kill -STOP ' .. io.open('/proc/self/stat'):read('a'):match('%) %a (%d+)'))";
    for (number, deed) in ["", fill, fork, stop].into_iter().enumerate() {
        let folder = daemon.path().join(number.to_string());
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("fork"), "").unwrap();
        let mut pipe = pipe(&folder.join("pipe"));
        let source = format!(
            "local pipe, all = io.open('FOLDER/pipe', 'w'), {{}}
            io.popen('setsid sh -c \"echo left; exec env -i sleep 600\" &'):read('l') {deed}
            pipe:write('ready') pipe:flush() return ('a'):rep(40):find(('a?'):rep(40) .. ('a'):rep(40))"
        );
        daemon.install(&native(&source.replace("FOLDER", folder.to_str().unwrap())));
        daemon.nbctl(&["run", "native", "--tool", "tool", "--detach"]).success();
        assert_eq!(seen(&pipe, 20), PollFlags::IN, "the tool runs: {deed}");
        daemon.kill();
        assert!(pipe.read(&mut [0; 16]).unwrap() > 0);
        assert_eq!(seen(&pipe, 20), PollFlags::HUP, "a program outlives its daemon: {deed}");
        // Programs of a daemon that left some behind go on until then.
        fs::remove_dir_all(&folder).unwrap();
        daemon.start_again();
    }
}

#[test]
fn a_call_outside_of_the_sandbox_is_not_repeated_after_a_crash() {
    let mut daemon = Home::new().start();
    let mark = daemon.path().join("paid");
    let source = format!(
        "local f = io.open('{}', 'a') f:write('paid\\n') f:close() os.execute('exec sleep 5')",
        mark.display()
    );
    daemon.install(&native(&source));
    daemon.nbctl(&["run", "native", "--tool", "tool", "--detach"]).success();
    let run = daemon.runs("native")[0]["id"].as_str().unwrap().to_owned();
    within(Duration::from_secs(10), || fs::read_to_string(&mark).ok().filter(|text| !text.is_empty()))
        .unwrap();
    daemon.kill_and_start();
    let ended = daemon.ended(&run)["run"].clone();
    assert_eq!(ended["status"], "failed", "{ended}");
    assert!(ended["error"].as_str().unwrap().contains("`tool` had begun"), "{ended}");
    assert_eq!(fs::read_to_string(&mark).unwrap(), "paid\n");
}

#[test]
fn a_run_that_the_daemons_end_interrupts_does_not_look_like_a_success() {
    let mut daemon = Home::new().start();
    daemon.install(&native("os.execute('exec sleep 4.5')"));
    let mut waiting = daemon.command(&["run", "native"]);
    let client =
        waiting.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap();
    within(Duration::from_secs(10), || daemon.runs("native").first().cloned()).unwrap();
    daemon.terminate();
    let output = client.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("the daemon stopped before run"), "{said}");
}

#[test]
fn the_schema_of_a_tool_counts_outside_of_the_sandbox_as_well() {
    let daemon = Home::new().start();
    let agent = Agent::new("native")
        .permissions(&["unsandboxed"])
        .tool_entry("name: tool\nlua: return parameters.n + 1\nsandboxed: false\nparameters: {type: object, required: [n]}");
    daemon.install(&agent);
    assert_eq!(daemon.result("native", "tool", &json!({"n": 1})), Value::from(2));
    assert!(daemon.failure("native", "tool", &json!({})).contains("needs `n`"));
}
