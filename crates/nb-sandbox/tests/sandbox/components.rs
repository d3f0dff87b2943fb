//! Tools that are components: what they can do, and which files are none.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use crate::c_component::{self, plain};
use crate::common::{component, sandbox};
use nb_sandbox::{
    CancelFlag, ComponentTool, Host, Position, Sandbox, SandboxConfig, ScriptErrorKind, ToolError,
};

/// A component without imports but for the interface's types. `core` is the rest of a module that exports `run` and
/// has a page of memory; at 1024 is room for `run`'s answer.
pub fn component_text(core: &str) -> String {
    format!(
        r#"(component
          (import "nanobot:sandbox/host@0.2.0" (instance $host
            (type $kind' (enum "syntax" "runtime" "memory" "value" "chunk"))
            (export "error-kind" (type $kind (eq $kind')))
            (type $position' (record (field "file" string) (field "line" u32) (field "column" (option u32))))
            (export "position" (type $position (eq $position')))
            (type $error' (record (field "kind" $kind) (field "message" string)
              (field "position" (option $position)) (field "traceback" string)))
            (export "script-error" (type (eq $error')))))
          (alias export $host "script-error" (type $error))
          (core module $module
            (memory (export "memory") 1)
            (func (export "realloc") (param i32 i32 i32 i32) (result i32) i32.const 8192)
            {core})
          (core instance $tool (instantiate $module))
          (func (export "run") (param "chunk" (list u8)) (param "variables" string)
            (result (result string (error $error)))
            (canon lift (core func $tool "run") (memory $tool "memory") (realloc (func $tool "realloc")))))"#
    )
}

/// Answers `json`, after `body`.
fn answering(json: &str, body: &str) -> String {
    let len = json.len();
    let json = json.replace('"', "\\22");
    format!(
        r#"(data (i32.const 2048) "{json}")
        (func (export "run") (param i32 i32 i32 i32) (result i32)
          {body}
          (i32.store8 (i32.const 1024) (i32.const 0))
          (i32.store (i32.const 1028) (i32.const 2048))
          (i32.store (i32.const 1032) (i32.const {len}))
          i32.const 1024)"#
    )
}

fn load(text: &str) -> ComponentTool {
    sandbox().load_component("text.wasm", &wat::parse_str(text).unwrap()).unwrap()
}

/// Why a file is refused.
fn refusal(wasm: &[u8]) -> String {
    let message = sandbox().load_component("text.wasm", wasm).unwrap_err().to_string();
    assert!(!message.contains('\n'), "{message}");
    message.strip_prefix("text.wasm cannot be a tool: ").expect("a refused tool").to_owned()
}

fn refusal_of_text(text: &str) -> String {
    refusal(&wat::parse_str(text).unwrap())
}

#[test]
fn a_component_in_c_is_a_tool() {
    let Some(tool) = plain() else { return };
    assert_eq!(component(tool, "add").and("a", 17).and("b", 25).result(), "42");
    let variables = r#"{"do":"echo","parameters":{"name":"Ada é𝄞"}}"#;
    assert_eq!(component(tool, "echo").with(variables).result(), variables);
}

#[test]
fn a_component_written_as_text_is_a_tool() {
    let tool = load(&component_text(&answering(r#"{"n":42}"#, "")));
    let (finished, _) = component(&tool, "answer").run();
    assert_eq!(finished.outcome.unwrap(), r#"{"n":42}"#);
    assert_eq!(finished.usage.output_bytes, 8);
    assert_eq!(finished.usage.peak_memory_bytes, 64 << 10);
}

#[test]
fn a_component_asks_its_host_and_writes_its_log() {
    let Some(tool) = plain() else { return };
    let (finished, seen) = component(tool, "invoke").and("times", 3).run();
    assert_eq!(finished.outcome.unwrap(), r#"{"from":"C"}"#);
    assert_eq!(seen.asked, vec![("test.ability".to_owned(), r#"{"from":"C"}"#.to_owned()); 3]);
    assert_eq!(finished.usage.host_calls, 3);

    let refused = component(tool, "invoke").answering(|_, _| Err("not granted".into())).script_error();
    assert_eq!(refused.message, "not granted");

    let (_, seen) = component(tool, "log").and("line", "hello").and("times", 2).run();
    assert_eq!(seen.lines, ["hello", "hello"]);
    assert_eq!(component(tool, "time").result(), "1700000000");
    assert_eq!(component(tool, "random").result(), "1");
}

#[test]
fn an_error_of_a_component_has_its_position_and_traceback() {
    let Some(tool) = plain() else { return };
    let error = component(tool, "fail").script_error();
    assert_eq!(error.kind, ScriptErrorKind::Runtime);
    assert_eq!(error.position, Some(Position { file: "soup.c".into(), line: 12, column: Some(5) }));
    assert_eq!(error.traceback, "soup.c:12: in serve\nsoup.c:40: in run");
    assert_eq!(error.to_string(), "soup.c:12:5: the soup is cold");
}

#[test]
fn a_long_error_of_a_component_is_cut() {
    let Some(tool) = plain() else { return };
    let error =
        component(tool, "fail large").and("size", 1_000_000).limits(|l| l.fuel = u64::MAX).script_error();
    assert_eq!(error.message.len(), 4096 + "…".len());
}

#[test]
fn an_answer_that_is_not_json_is_an_error() {
    for (answer, why) in [
        ("hello", "expected value at line 1 column 1"),
        ("", "EOF while parsing a value at line 1 column 0"),
        ("1 2", "trailing characters at line 1 column 3"),
        ("1e999", "number out of range at line 1 column 5"),
    ] {
        let error = component(&load(&component_text(&answering(answer, ""))), "answer").script_error();
        assert_eq!(error.kind, ScriptErrorKind::Value);
        assert_eq!(error.to_string(), format!("text.wasm: the answer is not JSON: {why}"));
    }
    let deep = "[".repeat(1000) + &"]".repeat(1000);
    let error = component(&load(&component_text(&answering(&deep, ""))), "answer").script_error();
    assert!(error.message.starts_with("the answer is not JSON: recursion limit exceeded"), "{error}");
}

#[test]
fn a_component_that_breaks_off_says_why_in_one_line() {
    let Some(tool) = plain() else { return };
    for (action, why) in [
        ("trap", "wasm `unreachable` instruction executed"),
        ("recurse", "call stack exhausted"),
        ("not UTF-8", "invalid utf-8"),
        ("nowhere", "out of bounds"),
    ] {
        let error = component(tool, action).error();
        assert!(matches!(error, ToolError::Crashed { .. }), "{action}: {error:?}");
        let message = error.to_string();
        assert!(message.contains(why) && !message.contains('\n'), "{action}: {message}");
    }
}

#[test]
fn a_call_of_a_component_leaves_nothing_for_the_next() {
    let Some(tool) = plain() else { return };
    for _ in 0..4 {
        assert_eq!(component(tool, "count calls").result(), "1");
    }
    // Whatever the call before has written, the memory that a call gets is zero.
    let scan = "(local $at i32) (local.set $at (i32.const 4096))
        (loop $next
          (if (i32.load8_u (local.get $at)) (then unreachable))
          (i32.store8 (local.get $at) (i32.const 165))
          (local.set $at (i32.add (local.get $at) (i32.const 1)))
          (br_if $next (i32.lt_u (local.get $at) (i32.const 8192))))";
    let tool = load(&component_text(&answering("1", scan)));
    for _ in 0..4 {
        assert_eq!(component(&tool, "scan").result(), "1");
    }
}

#[test]
fn fuel_of_a_component_counts_its_instructions() {
    // The loop runs once for each byte of the variables.
    let count = "(loop $next
          (local.set 3 (i32.sub (local.get 3) (i32.const 1)))
          (br_if $next (local.get 3)))";
    let body = 6; // two reads, a constant, a subtraction, a write, a branch
    let tool = load(&component_text(&answering("1", count)));
    let fuel = |bytes: usize| {
        let (finished, _) = component(&tool, "count").with("x".repeat(bytes)).run();
        finished.outcome.unwrap();
        finished.usage.fuel
    };
    assert_eq!(fuel(2000) - fuel(1000), 1000 * body);
    assert_eq!(fuel(1000), fuel(1000));
    let Some(tool) = plain() else { return };
    let fuel = || component(tool, "invoke").and("times", 10).run().0.usage.fuel;
    assert_eq!(fuel(), fuel());
}

#[test]
fn a_component_cancelled_in_a_host_call_reaches_its_host_no_more() {
    let Some(tool) = plain() else { return };
    let cancel = CancelFlag::default();
    let flag = cancel.clone();
    let script = component(tool, "invoke").and("times", 1000).cancelled_by(&cancel);
    let (finished, seen) = script
        .answering(move |_, _| {
            flag.cancel();
            Ok("1".into())
        })
        .run();
    assert_eq!(finished.outcome, Err(ToolError::Cancelled { tool: "plain.wasm".into() }));
    assert_eq!(seen.asked.len(), 1);
    // The host is free again: no part of the call holds it.
    let mut host: Box<dyn Host + Send> = finished.host;
    assert_eq!(host.invoke("x", "{}"), Ok("1".into()));
}

#[test]
fn a_file_that_is_no_component_is_refused() {
    assert_eq!(refusal(b""), "it is not a WebAssembly component");
    assert_eq!(refusal(b"(component)"), "it is not a WebAssembly component");
    assert_eq!(
        refusal(&wat::parse_str("(module)").unwrap()),
        "it is a WebAssembly module, and not a component; \
         `wasm-tools component new` makes one of a module that was built for the world `tool`"
    );
    let whole = wat::parse_str(component_text(&answering("1", ""))).unwrap();
    for len in [8, 9, whole.len() / 2, whole.len() - 1] {
        let message = refusal(&whole[..len]);
        assert!(message.starts_with("it is damaged or cut off: ") || len == 8, "{len}: {message}");
    }
    let mut garbage = whole.clone();
    garbage[8..].fill(0xA5);
    let message = refusal(&garbage);
    assert!(message.starts_with("it is damaged or cut off: "), "{message}");
}

#[test]
fn a_component_of_another_world_is_refused() {
    const RUN: &str = "func(chunk: list<u8>, variables: string) -> result<string, script-error>";
    assert_eq!(refusal_of_text("(component)"), format!("it exports no function `run: {RUN}`"));
    let message = refusal_of_text(
        r#"(component
          (core module $m (func (export "run")))
          (core instance $i (instantiate $m))
          (func (export "run") (canon lift (core func $i "run"))))"#,
    );
    assert_eq!(message, format!("its `run` is func(); that of the world `tool` is {RUN}"));
    let message = refusal_of_text(r#"(component (instance $i) (export "run" (instance $i)))"#);
    assert_eq!(message, format!("its `run` is an interface; that of the world `tool` is {RUN}"));
    let message = refusal_of_text(
        r#"(component
          (core module $m (memory (export "m") 1)
            (func (export "realloc") (param i32 i32 i32 i32) (result i32) i32.const 0)
            (func (export "run") (param i32 i32 i64) (result i32) i32.const 0))
          (core instance $i (instantiate $m))
          (func (export "run") (param "names" (list string)) (param "n" u64) (result (option (tuple s8 bool)))
            (canon lift (core func $i "run") (memory $i "m") (realloc (func $i "realloc")))))"#,
    );
    let found = "func(names: list<string>, n: u64) -> option<tuple<s8, bool>>";
    assert_eq!(message, format!("its `run` is {found}; that of the world `tool` is {RUN}"));
    assert_eq!(
        refusal_of_text(r#"(component (import "bank:money/transfer" (func)))"#),
        "it imports `bank:money/transfer`; a tool has nanobot:sandbox/host@0.2.0, and of WASI 0.2 the packages cli, \
         clocks, filesystem, io, random, sockets"
    );
    assert_eq!(
        refusal_of_text(r#"(component (import "wasi:http/outgoing-handler@0.2.0" (instance)))"#),
        "it imports `wasi:http/outgoing-handler@0.2.0`; a tool has no wasi:http: it sends requests with the ability \
         `http.fetch`, through `invoke` of nanobot:sandbox/host@0.2.0"
    );
    let message = refusal_of_text(
        r#"(component (import "nanobot:sandbox/host@0.2.0" (instance (export "delete-everything" (func)))))"#,
    );
    assert!(message.contains("delete-everything"), "{message}");
}

#[test]
fn an_interpreter_is_no_tool() {
    let message = refusal(nb_sandbox::component());
    assert!(message.starts_with("it is an interpreter and no tool: it exports `compile`."), "{message}");
}

#[test]
fn a_component_whose_start_does_not_end_is_refused() {
    let spinning = "(func $start (loop $for_ever (br $for_ever))) (start $start)";
    let message = refusal_of_text(&component_text(&(answering("1", "") + spinning)));
    assert!(message.starts_with("its start: out of fuel: "), "{message}");
    let allocating = "(func $start (loop $more
        (br_if $more (i32.ne (memory.grow (i32.const 16)) (i32.const -1)))) unreachable) (start $start)";
    let message = refusal_of_text(&component_text(&(answering("1", "") + allocating)));
    assert!(message.starts_with("its start: out of memory: "), "{message}");
    let message = refusal_of_text(&component_text(&(answering("1", "") + "(memory 10000)")));
    assert!(message.starts_with("its start: out of memory: "), "{message}");
    let message = refusal_of_text(&component_text(&(answering("1", "") + "(table 100000000 funcref)")));
    assert!(message.starts_with("its start: out of memory: "), "{message}");
    let message =
        refusal_of_text(&component_text(&(answering("1", "") + "(func $start unreachable) (start $start)")));
    assert!(message.starts_with("its start: "), "{message}");
}

#[test]
fn a_component_of_very_many_parts_is_refused() {
    let instances = "(core instance (instantiate $m))".repeat(1000);
    let text = component_text(&answering("1", ""));
    let text = text.replacen("(component", &format!("(component (core module $m) {instances}"), 1);
    let message = refusal_of_text(&text);
    assert!(message.contains("instance"), "{message}");
}

fn start(folder: &Path) -> Sandbox {
    let config = SandboxConfig { cache_dir: Some(folder.to_path_buf()), max_concurrent: 1 };
    Sandbox::new(&config).unwrap()
}

fn cached_tools(folder: &Path) -> Vec<PathBuf> {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    paths.filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with("tool-")).collect()
}

#[test]
fn a_compiled_component_is_kept_and_used_again() {
    let home = tempfile::tempdir().unwrap();
    let sandbox = start(home.path());
    let wasm = wat::parse_str(component_text(&answering("1", ""))).unwrap();
    let inode = || {
        let files = cached_tools(home.path());
        assert_eq!(files.len(), 1, "{files:?}");
        fs::metadata(&files[0]).unwrap().ino()
    };
    sandbox.load_component("a.wasm", &wasm).unwrap();
    let first = inode();
    sandbox.load_component("b.wasm", &wasm).unwrap();
    start(home.path()).load_component("a.wasm", &wasm).unwrap();
    assert_eq!(inode(), first);

    let file = cached_tools(home.path()).remove(0);
    let good = fs::read(&file).unwrap();
    for position in [0, 40, good.len() / 2, good.len() - 1] {
        let mut bad = good.clone();
        bad[position] ^= 1;
        fs::write(&file, &bad).unwrap();
        sandbox.load_component("a.wasm", &wasm).unwrap();
        assert_eq!(fs::read(&file).unwrap(), good, "byte {position}");
    }

    // Each component has a file of its own; the guest's stays as well.
    let other = wat::parse_str(component_text(&answering("2", ""))).unwrap();
    sandbox.load_component("a.wasm", &other).unwrap();
    assert_eq!(cached_tools(home.path()).len(), 2);
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 3);
}

#[test]
fn what_is_no_component_leaves_no_file() {
    let home = tempfile::tempdir().unwrap();
    let sandbox = start(home.path());
    assert!(sandbox.load_component("a.wasm", b"garbage").is_err());
    assert!(cached_tools(home.path()).is_empty());
}

#[test]
fn the_toolchain_builds_a_component_without_wasi() {
    let Some(wasm) = c_component::build("plain") else { return };
    assert!(!wasm.windows(5).any(|bytes| bytes == b"wasi:"));
}

#[test]
fn a_tool_that_is_a_component_can_be_sent_between_threads() {
    static TOOL: LazyLock<ComponentTool> = LazyLock::new(|| load(&component_text(&answering("1", ""))));
    std::thread::scope(|scope| {
        let calls: Vec<_> = (0..16).map(|_| scope.spawn(|| component(&TOOL, "answer").result())).collect();
        for call in calls {
            assert_eq!(call.join().unwrap(), "1");
        }
    });
}
