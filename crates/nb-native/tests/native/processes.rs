//! What a tool does to processes, its own and others.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use nb_native::{NativeCall, NativeTool, Runner, run};
use nb_sandbox::{CancelFlag, Host, Lang, Limit, Limits, Source, ToolError};

use crate::common::{fennel, lua};

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
    assert!(is_crash(&with("printf 'garbage that is long enough' >&0")));
    assert!(is_crash(&with("printf '\\001\\000\\000\\000x' >&0")));
    assert!(is_crash(&with("exit 0")));
    let silent = with("exec <&-; exec sleep 600");
    assert!(matches!(silent, ToolError::Limit { limit: Limit::WallClock, .. }), "{silent:?}");
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

/// Whether a process with this word in its command line runs; one that has ended and waits for its parent does not.
fn runs(word: &str) -> bool {
    fs::read_dir("/proc").unwrap().flatten().any(|entry| {
        let command = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&command).split('\0').any(|argument| argument == word)
    })
}

/// The kernel takes a moment to end what was killed; the programs here would run for hours.
fn ends(word: &str) -> bool {
    becomes(|| !runs(word))
}

/// A shell takes a moment to start what it leaves behind.
fn begins(word: &str) -> bool {
    becomes(|| runs(word))
}

fn becomes(holds: impl Fn() -> bool) -> bool {
    let asked = Instant::now();
    while !holds() && asked.elapsed() < Duration::from_secs(30) {
        thread::yield_now();
    }
    holds()
}

#[test]
fn a_program_ends_with_the_call_that_started_it() {
    let limits = |limits: &mut Limits| limits.wall = Duration::from_millis(300);
    lua("os.execute('sleep 61001')").limits(limits).exceeds(Limit::WallClock);
    assert!(ends("61001"));

    // Left behind, with the pipe of the log held open.
    assert_eq!(lua("os.execute('sleep 61002 &') return 'done'").result(), r#""done""#);
    assert!(ends("61002"));
    assert_eq!(
        fennel("(io.popen \"sleep 61003\" :w)\n(os.exit 7)").crash(),
        "it ended itself with the exit code 7 instead of answering"
    );
    assert!(ends("61003"));
}

#[test]
fn a_program_that_left_the_group_ends_with_the_call_as_well() {
    // It has written before the tool goes on, so that it has left.
    let leaves =
        |number: u32| format!("io.popen('setsid sh -c \"echo left; exec sleep {number}\" &'):read('l')");
    assert_eq!(lua(&format!("{} return 'done'", leaves(61004))).result(), r#""done""#);
    assert!(ends("61004"));
    lua(&format!("{} os.exit(7)", leaves(61005))).crash();
    assert!(ends("61005"));
    lua(&format!("{} while true do end", leaves(61006))).exceeds(Limit::Fuel);
    assert!(ends("61006"));
    // A daemon: its parent has ended, so that nothing leads from the tool to it.
    let daemon = "io.popen('(setsid sh -c \"echo left; exec sleep 61007\" &)'):read('l') return 'done'";
    assert_eq!(lua(daemon).result(), r#""done""#);
    assert!(ends("61007"));
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
        let script = format!("head -c {bytes} /dev/zero >&0; {end}");
        let runner = Runner { program: "/bin/sh".into(), arguments: vec!["-c".into(), script.into()] };
        let source = Source::new(Lang::Lua, "test.lua", large.as_str());
        nb_native::check(&NativeTool { source, modules: Vec::new() }, &runner).unwrap_err().to_string()
    };
    // Four zeros are a message of no bytes, which is none.
    for end in ["exec sleep 61008", "exit 0"] {
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

/// What the next test runs in a process of its own, to end it: a call that tells its number and never ends.
#[test]
#[ignore = "does not end; started by the next test"]
fn an_endless_call() {
    let source =
        "os.execute('sleep 61009 &') io.popen('setsid sh -c \"echo left; exec sleep 61010\" &'):read('l')
        print(io.open('/proc/self/stat'):read('n')) ";
    let source = match std::env::var("WAITS_FOR") {
        Ok(_) => format!("{source} nb.call('wait')"),
        Err(_) => format!("{source} while true do end"),
    };
    let script = lua(&source).on_line(|line| println!("pid {line}")).answering(|_, _| {
        loop {
            thread::park();
        }
    });
    script.limits(|limits| (limits.fuel, limits.wall) = (u64::MAX, Duration::from_secs(600))).run();
}

#[test]
fn a_call_and_its_programs_end_with_the_daemon() {
    for waits in [None, Some("the host")] {
        let mut daemon = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "processes::an_endless_call", "--ignored", "--nocapture"])
            .envs(waits.map(|waits| ("WAITS_FOR", waits)))
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(daemon.stdout.take().unwrap()).lines().map_while(Result::ok);
        let pid = lines.find_map(|line| Some(line.split_once("pid ")?.1.to_owned())).unwrap();
        let command = format!("/proc/{pid}/cmdline");
        let alive = || fs::read_to_string(&command).is_ok_and(|command| command.contains("native_child"));
        assert!(alive() && begins("61009") && begins("61010"));
        daemon.kill().unwrap();
        daemon.wait().unwrap();
        assert!(ends("61009") && ends("61010"), "a program outlives the daemon");
        let ended = Instant::now();
        while alive() && ended.elapsed() < Duration::from_secs(30) {
            thread::yield_now();
        }
        assert!(!alive());
    }
}
