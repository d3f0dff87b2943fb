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
    let asked = Instant::now();
    while runs(word) && asked.elapsed() < Duration::from_secs(30) {
        thread::yield_now();
    }
    !runs(word)
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
fn a_program_that_left_the_group_holds_nothing_up() {
    let pid = lua("return io.popen('setsid sleep 61004 > /dev/stderr & echo $!'):read('l')").result();
    // It is found by its number alone, and nobody else would end it.
    let pid: i32 = pid.trim_matches('"').parse().unwrap();
    let found = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    if String::from_utf8_lossy(&found).contains("61004") {
        rustix::process::kill_process(
            rustix::process::Pid::from_raw(pid).unwrap(),
            rustix::process::Signal::KILL,
        )
        .unwrap();
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
    let source = "print(io.open('/proc/self/stat'):read('n')) while true do end";
    let script = lua(source).on_line(|line| println!("pid {line}"));
    script.limits(|limits| (limits.fuel, limits.wall) = (u64::MAX, Duration::from_secs(600))).run();
}

#[test]
fn a_call_ends_with_the_daemon() {
    let mut daemon = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "processes::an_endless_call", "--ignored", "--nocapture"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(daemon.stdout.take().unwrap()).lines();
    let pid =
        lines.map_while(Result::ok).find_map(|line| Some(line.split_once("pid ")?.1.to_owned())).unwrap();
    let command = format!("/proc/{pid}/cmdline");
    let alive = || fs::read_to_string(&command).is_ok_and(|command| command.contains("native_child"));
    assert!(alive());
    daemon.kill().unwrap();
    daemon.wait().unwrap();
    let ended = Instant::now();
    while alive() && ended.elapsed() < Duration::from_secs(30) {
        thread::yield_now();
    }
    assert!(!alive());
}
