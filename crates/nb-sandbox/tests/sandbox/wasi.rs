//! What a component that uses WASI finds: its log as standard output, the folders that were granted, and nothing else.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use crate::c_component::wasi;
use crate::common::component;
use crate::components::component_text;
use nb_sandbox::{CancelFlag, ComponentTool, Limit, Limits, ToolError};

#[test]
fn without_a_grant_there_is_no_file_no_environment_and_no_input() {
    let Some(tool) = wasi() else { return };
    assert_eq!(component(tool, "preopens").result(), "[]");
    assert_eq!(component(tool, "environment").result(), "[]");
    assert_eq!(component(tool, "read standard input").result(), "-1");
    for path in ["/etc/passwd", "/", ".", "/proc/self/environ", "../../etc/passwd"] {
        let read = component(tool, "read").and("path", path).result();
        assert!(!read.contains("content"), "{path}: {read}");
        let list = component(tool, "list").and("path", path).result();
        assert!(!list.starts_with('['), "{path}: {list}");
    }
    let created = component(tool, "create").and("path", "/tmp/new").result();
    assert_ne!(created, r#""done""#);
}

/// A component that asks WASI for a socket and answers the error's number; 100 means that it got one.
fn socket(protocol: &str) -> String {
    let text = component_text(
        r#"(func (export "run") (param i32 i32 i32 i32) (result i32)
          (call $create (i32.const 0) (i32.const 2048))
          (i32.store8 (i32.const 3072) (i32.const 48))
          (if (i32.load8_u (i32.const 2048))
            (then (i32.store8 (i32.const 3072) (i32.add (i32.const 48) (i32.load8_u (i32.const 2052))))))
          (i32.store8 (i32.const 1024) (i32.const 0))
          (i32.store (i32.const 1028) (i32.const 3072))
          (i32.store (i32.const 1032) (i32.const 1))
          i32.const 1024)"#,
    );
    let imports = format!(
        r#"(import "wasi:sockets/network@0.2.0" (instance $network
            (type $code (enum "unknown" "access-denied" "not-supported" "invalid-argument" "out-of-memory" "timeout"
              "concurrency-conflict" "not-in-progress" "would-block" "invalid-state" "new-socket-limit"
              "address-not-bindable" "address-in-use" "remote-unreachable" "connection-refused" "connection-reset"
              "connection-aborted" "datagram-too-large" "name-unresolvable" "temporary-resolver-failure"
              "permanent-resolver-failure"))
            (export "error-code" (type (eq $code)))
            (type $family (enum "ipv4" "ipv6"))
            (export "ip-address-family" (type (eq $family)))))
          (alias export $network "error-code" (type $code))
          (alias export $network "ip-address-family" (type $family))
          (import "wasi:sockets/{protocol}@0.2.0" (instance $protocol
            (export "{protocol}-socket" (type (sub resource)))))
          (alias export $protocol "{protocol}-socket" (type $socket))
          (import "wasi:sockets/{protocol}-create-socket@0.2.0" (instance $create
            (alias outer 1 $code (type $code'))
            (export "error-code" (type $code'' (eq $code')))
            (alias outer 1 $family (type $family'))
            (export "ip-address-family" (type $family'' (eq $family')))
            (alias outer 1 $socket (type $socket'))
            (export "{protocol}-socket" (type $socket'' (eq $socket')))
            (export "create-{protocol}-socket" (func (param "address-family" $family'')
              (result (result (own $socket'') (error $code'')))))))
          (core module $memory (memory (export "memory") 1))
          (core instance $memory (instantiate $memory))
          (core func $create (canon lower (func $create "create-{protocol}-socket") (memory $memory "memory")))"#
    );
    text.replacen("(component", &format!("(component {imports}"), 1)
        .replace(
            r#"(memory (export "memory") 1)
            (func (export "realloc")"#,
            r#"(memory (import "wasi" "memory") 1)
            (func $create (import "wasi" "create") (param i32 i32))
            (func (export "realloc")"#,
        )
        .replace(
            "(instantiate $module)",
            r#"(instantiate $module (with "wasi" (instance (export "memory" (memory $memory "memory"))
              (export "create" (func $create)))))"#,
        )
        .replace(r#"(memory $tool "memory")"#, r#"(memory $memory "memory")"#)
}

#[test]
fn there_is_no_network() {
    const ACCESS_DENIED: &str = "1";
    for protocol in ["tcp", "udp"] {
        let wasm = wat::parse_str(socket(protocol)).unwrap();
        let tool = crate::common::sandbox().load_component("socket.wasm", &wasm).unwrap();
        assert_eq!(component(&tool, "create").result(), ACCESS_DENIED, "{protocol}");
    }
}

/// `granted/{notes.txt, sub/deep.txt, out → ../outside.txt, out-folder → .., in → notes.txt}` and `outside.txt`.
fn folders() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let granted = home.path().join("granted");
    fs::create_dir_all(granted.join("sub")).unwrap();
    fs::write(granted.join("notes.txt"), "my notes\n").unwrap();
    fs::write(granted.join("sub/deep.txt"), "deep\n").unwrap();
    fs::write(home.path().join("outside.txt"), "secret\n").unwrap();
    symlink("../outside.txt", granted.join("out")).unwrap();
    symlink(home.path().join("outside.txt"), granted.join("absolute")).unwrap();
    symlink("..", granted.join("out-folder")).unwrap();
    symlink("notes.txt", granted.join("in")).unwrap();
    home
}

#[test]
fn with_a_folder_it_reads_exactly_that_folder() {
    let Some(tool) = wasi() else { return };
    let home = folders();
    let call = |action: &str, path: &str| {
        component(tool, action).and("path", path).reading("/notes", &home.path().join("granted")).result()
    };
    assert_eq!(call("preopens", ""), r#"["/notes"]"#);
    assert_eq!(call("read", "/notes/notes.txt"), r#"{"content":"my notes"}"#);
    assert_eq!(call("read", "/notes/sub/deep.txt"), r#"{"content":"deep"}"#);
    assert_eq!(call("read", "/notes/sub/../notes.txt"), r#"{"content":"my notes"}"#);
    assert_eq!(call("read", "/notes/in"), r#"{"content":"my notes"}"#);
    assert_eq!(call("list", "/notes/sub"), r#"["deep.txt"]"#);
    let mut list: Vec<String> = serde_json::from_str(&call("list", "/notes")).unwrap();
    list.sort();
    assert_eq!(list, ["absolute", "in", "notes.txt", "out", "out-folder", "sub"]);

    for outside in [
        "/notes/../outside.txt",
        "/notes/sub/../../outside.txt",
        "/notes/out",
        "/notes/absolute",
        "/notes/out-folder/outside.txt",
        "/notes/out-folder/granted/notes.txt",
        "/outside.txt",
        "/etc/passwd",
    ] {
        let read = call("read", outside);
        assert!(!read.contains("content"), "{outside}: {read}");
    }
    for outside in ["/notes/..", "/notes/out-folder", "/"] {
        let list = call("list", outside);
        assert!(!list.starts_with('['), "{outside}: {list}");
    }
}

/// All files and links below a folder, with what is in them.
fn snapshot(folder: &Path) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let kind = fs::symlink_metadata(&path).unwrap();
        let shown = path.display().to_string();
        if kind.is_dir() {
            all.extend(snapshot(&path));
            all.push((shown, String::new()));
        } else if kind.is_symlink() {
            all.push((shown, fs::read_link(&path).unwrap().display().to_string()));
        } else {
            all.push((
                shown,
                format!("{} {:?}", fs::read_to_string(&path).unwrap(), kind.modified().unwrap()),
            ));
        }
    }
    all.sort();
    all
}

#[test]
fn a_folder_cannot_be_changed() {
    let Some(tool) = wasi() else { return };
    let home = folders();
    let before = snapshot(home.path());
    for (action, path, to) in [
        ("write", "/notes/notes.txt", ""),
        ("append", "/notes/notes.txt", ""),
        ("truncate", "/notes/notes.txt", ""),
        ("create", "/notes/new.txt", ""),
        ("create", "/notes/sub/new.txt", ""),
        ("create", "/notes/../new.txt", ""),
        ("write", "/notes/out", ""),
        ("make folder", "/notes/folder", ""),
        ("delete", "/notes/notes.txt", ""),
        ("delete", "/notes/in", ""),
        ("delete folder", "/notes/sub", ""),
        ("rename", "/notes/notes.txt", "/notes/renamed.txt"),
        ("hard link", "/notes/notes.txt", "/notes/linked.txt"),
        ("symbolic link", "/notes/link", "notes.txt"),
        ("set times", "/notes/notes.txt", ""),
    ] {
        let call = component(tool, action).and("path", path).and("to", to);
        let outcome = call.reading("/notes", &home.path().join("granted")).result();
        assert_ne!(outcome, r#""done""#, "{action} {path}");
        assert_eq!(snapshot(home.path()), before, "{action} {path}");
    }
}

#[test]
fn several_folders_are_apart() {
    let Some(tool) = wasi() else { return };
    let home = folders();
    let call = |path: &str| {
        let call = component(tool, "read").and("path", path);
        call.reading("/a", &home.path().join("granted/sub")).reading("/b", home.path()).result()
    };
    assert_eq!(call("/a/deep.txt"), r#"{"content":"deep"}"#);
    assert_eq!(call("/b/outside.txt"), r#"{"content":"secret"}"#);
    assert!(!call("/a/../outside.txt").contains("content"));
}

#[test]
fn a_folder_that_cannot_be_opened_is_an_error_with_its_name() {
    let Some(tool) = wasi() else { return };
    let home = folders();
    let nowhere = home.path().join("nowhere");
    let error = component(tool, "preopens").reading("/x", &nowhere).script_error().to_string();
    let nowhere = nowhere.display();
    assert_eq!(
        error,
        format!(
            "wasi.wasm: the folder {nowhere}, which it may read, cannot be opened: \
             No such file or directory (os error 2)"
        )
    );
    let file = home.path().join("outside.txt");
    let error = component(tool, "preopens").reading("/x", &file).script_error().to_string();
    assert!(error.contains("cannot be opened: Not a directory"), "{error}");
}

#[test]
fn what_it_prints_is_its_log() {
    let Some(tool) = wasi() else { return };
    let (finished, seen) =
        component(tool, "print").and("times", 2).and("line", "é𝄞").and("error", "oh").run();
    assert_eq!(finished.outcome.unwrap(), "null");
    assert_eq!(finished.usage.host_calls, 0);
    let mut lines = seen.lines;
    lines.sort();
    assert_eq!(lines.concat(), "ohé𝄞é𝄞");
}

#[test]
fn what_it_prints_too_much_is_dropped_and_told() {
    let Some(tool) = wasi() else { return };
    let print =
        component(tool, "print").and("times", 1000).and("line", "ten bytes").limits(|l| l.log_bytes = 1000);
    let (finished, seen) = print.limits(|l| l.fuel = 100_000_000).run();
    assert_eq!(finished.outcome.unwrap(), "null");
    let (last, lines) = seen.lines.split_last().unwrap();
    assert!(lines.iter().all(|line| line == "ten bytes"), "{lines:?}");
    assert_eq!(*last, format!("… {} bytes of log dropped", 10_000 - 10 * lines.len()));

    let (finished, seen) = component(tool, "print for ever").run();
    assert!(
        matches!(finished.outcome, Err(ToolError::Limit { limit: Limit::Fuel, .. })),
        "{:?}",
        finished.outcome
    );
    assert!(seen.lines.iter().map(|line| line.len() + 64).sum::<usize>() < 257 << 10);
}

/// Runs a call that waits, and calls `then` when it does.
fn waiting(
    tool: &ComponentTool,
    action: &str,
    limits: impl FnOnce(&mut Limits),
    then: impl FnOnce(&CancelFlag),
) -> ToolError {
    let cancel = CancelFlag::default();
    let (asleep, told) = mpsc::channel();
    let call = component(tool, action).limits(|l| l.fuel = u64::MAX).limits(limits).cancelled_by(&cancel);
    let call = call.answering(move |_, _| {
        asleep.send(()).unwrap();
        Ok("null".into())
    });
    thread::scope(|scope| {
        let call = scope.spawn(|| call.error());
        told.recv().unwrap();
        then(&cancel);
        call.join().unwrap()
    })
}

#[test]
fn one_that_sleeps_ends_by_its_wall_clock() {
    let Some(tool) = wasi() else { return };
    for action in ["sleep", "nap for ever"] {
        let error = waiting(tool, action, |l| l.wall = Duration::from_millis(50), |_| ());
        assert!(matches!(error, ToolError::Limit { limit: Limit::WallClock, allowed: 50, .. }), "{error:?}");
    }
}

#[test]
fn one_that_sleeps_is_cancelled_within_100_ms() {
    let Some(tool) = wasi() else { return };
    for action in ["sleep", "nap for ever"] {
        let mut cancelled = Instant::now();
        let error = waiting(
            tool,
            action,
            |_| (),
            |cancel| {
                cancelled = Instant::now();
                cancel.cancel();
            },
        );
        assert_eq!(error, ToolError::Cancelled { tool: "wasi.wasm".into() });
        assert!(cancelled.elapsed() < Duration::from_millis(100), "{:?}", cancelled.elapsed());
    }
}

#[test]
fn it_opens_neither_pipes_nor_devices() {
    let Some(tool) = wasi() else { return };
    let home = folders();
    let pipe = home.path().join("granted/pipe");
    // Nobody writes to the pipe, so that opening it would never end, and would keep a thread of the host.
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR).unwrap();
    std::os::unix::fs::symlink("pipe", home.path().join("granted/link")).unwrap();
    for (folder, file) in [
        (home.path().join("granted"), "pipe"),
        (home.path().join("granted"), "link"),
        ("/dev".into(), "null"),
    ] {
        let read = component(tool, "read").and("path", format!("/notes/{file}")).reading("/notes", &folder);
        assert_eq!(read.result(), "\"Operation not permitted\"", "{file}");
    }
}

#[test]
fn one_that_exits_has_not_answered() {
    let Some(tool) = wasi() else { return };
    for code in [0, 3] {
        let error = component(tool, "exit").and("code", code).script_error().to_string();
        let code = code.min(1); // WASI 0.2 knows success and failure alone
        assert_eq!(error, format!("wasi.wasm: it ended itself with exit code {code} instead of answering"));
    }
}

#[test]
fn it_cannot_take_all_descriptors_of_the_process() {
    let Some(tool) = wasi() else { return };
    let home = folders();
    let open = component(tool, "open many").and("path", "/notes/notes.txt");
    let error = open.reading("/notes", &home.path().join("granted")).error().to_string();
    assert_eq!(error, "wasi.wasm: it has more than 100 files, streams and timers open at once");
}

#[test]
fn it_cannot_make_the_host_keep_much_randomness() {
    let Some(tool) = wasi() else { return };
    let error = component(tool, "much randomness").error().to_string();
    assert!(error.contains("requested len 1048576 exceeds limit 65536; "), "{error}");
}
