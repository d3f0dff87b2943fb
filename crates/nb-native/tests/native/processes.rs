//! What a tool does to its own process, and what its process is like for programs.

use std::time::Duration;

use nb_native::{NativeCall, NativeTool, Runner, run};
use nb_sandbox::{CancelFlag, Host, Lang, Limit, Limits, Source, ToolError};

use crate::common::lua;

#[test]
fn a_tool_that_ends_its_process_crashes_alone() {
    assert_eq!(lua("os.exit(3)").crash(), "it ended itself with the exit code 3 instead of answering");
    assert_eq!(lua("os.exit()").crash(), "it ended itself with the exit code 0 instead of answering");
    for (signal, number) in [("SEGV", 11), ("KILL", 9), ("TERM", 15), ("ABRT", 6)] {
        // More than once: Rust looks whether a SEGV means that its stack is full, and else lets it happen again.
        let crash = lua(&format!("os.execute('while kill -{signal} $PPID; do :; done')")).crash();
        assert_eq!(crash, format!("it was ended by signal {number} (SIG{signal})"));
    }
    let error = lua("os.exit(1)").error().to_string();
    assert!(error.starts_with("test.lua: "), "{error}");
}

#[test]
fn a_program_that_answers_in_no_protocol_is_a_crash() {
    let with = |script: &str| {
        let runner = Runner { program: "/bin/sh".into(), arguments: vec!["-c".into(), script.into()] };
        let source = Source::new(Lang::Lua, "test.lua", "return 1");
        let finished = run(NativeCall {
            tool: NativeTool { source, modules: Vec::new() },
            variables: "{}".into(),
            limits: Limits { wall: Duration::from_millis(300), ..Limits::default() },
            cancel: CancelFlag::default(),
            host: Box::new(Deaf),
            runner,
        });
        finished.outcome.unwrap_err()
    };
    let is_crash = |error: &ToolError| matches!(error, ToolError::Crashed { .. });
    for socket in ["&0", "&1"] {
        assert!(is_crash(&with(&format!("printf 'garbage that is long enough' >{socket}; cat"))));
        assert!(is_crash(&with(&format!("printf '\\001\\000\\000\\000x' >{socket}; cat"))));
    }
    assert!(is_crash(&with("exit 0")));
    // The first is told by the end of its standard input; the second does not hear and is killed.
    for silent in ["exec cat >/dev/null", "exec sleep 600"] {
        let error = with(silent);
        assert!(matches!(error, ToolError::Limit { limit: Limit::WallClock, .. }), "{silent}: {error:?}");
    }
}

#[test]
fn a_program_that_is_not_there_is_a_crash() {
    let source = Source::new(Lang::Lua, "test.lua", "return 1");
    let runner = Runner { program: "/nonexistent/program".into(), arguments: Vec::new() };
    let error = nb_native::check(&NativeTool { source, modules: Vec::new() }, &runner).unwrap_err();
    assert!(error.to_string().contains("its process cannot be started"), "{error}");
}

struct Deaf;

impl Host for Deaf {
    fn invoke(&mut self, _: &str, _: &str) -> Result<String, String> {
        Err("nobody hears".into())
    }

    fn log(&mut self, _: &str) {}

    fn now_ns(&mut self) -> u64 {
        0
    }

    fn random(&mut self) -> u64 {
        0
    }
}

#[test]
fn a_program_is_ended_by_a_closed_pipe_as_everywhere() {
    let ignored = "return io.popen('grep SigIgn /proc/self/status'):read('a')";
    let ignored = lua(ignored).result();
    let mask = u64::from_str_radix(
        ignored.trim_matches('"').split("\\t").nth(1).unwrap().trim_end_matches("\\n"),
        16,
    );
    assert_eq!(mask.unwrap() & (1 << 12), 0, "SIGPIPE is ignored: {ignored}");
    // For the tool itself it is no end.
    let source =
        "local p = io.popen('exit', 'w') for i = 1, 1000 do p:write(('x'):rep(1000)) end return 'well'";
    assert_eq!(lua(source).result(), r#""well""#);
}

#[test]
fn large_messages_in_both_directions_are_waited_for_by_nobody() {
    let large = "x".repeat(6 << 20);
    let script =
        lua("print('early') local back = nb.call('a', {parameters.text}) return #back + #parameters.text");
    let script =
        script.with(format!(r#"{{"parameters":{{"text":"{large}"}}}}"#)).answering(move |_, args| {
            assert!(args.len() > 6 << 20);
            Ok(format!("\"{large}\""))
        });
    assert_eq!(script.result(), (12 << 20).to_string());
}

#[test]
fn a_program_that_answers_before_it_listens_is_heard() {
    let large = "x".repeat(6 << 20);
    let answer = |bytes: usize, end: &str| {
        let script = format!("head -c {bytes} /dev/zero; {end}");
        let runner = Runner { program: "/bin/sh".into(), arguments: vec!["-c".into(), script.into()] };
        let source = Source::new(Lang::Lua, "test.lua", large.as_str());
        nb_native::check(&NativeTool { source, modules: Vec::new() }, &runner).unwrap_err().to_string()
    };
    // Four zeros are a message of no bytes, which is none.
    for end in ["exec cat", "exit 0"] {
        let error = answer(20 << 20, end);
        assert!(error.contains("the connection to its process failed"), "{end}: {error}");
    }
}

#[test]
fn the_kernels_limits_hold_for_programs_as_well() {
    let limits = lua("return io.popen('ulimit -c; ulimit -n; ulimit -t; ulimit -v'):read('a')").result();
    let kilobytes = (64 << 10) + (768 << 10);
    assert_eq!(limits, format!(r#""0\n256\n8\n{kilobytes}\n""#));
}
