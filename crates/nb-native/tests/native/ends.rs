//! What a tool started ends with the call, and with the daemon, whatever it does against that.

use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use nb_sandbox::{Limit, Limits};

use crate::common::{Script, fennel, lua};
use crate::witness::Witness;

/// Starts a program that leaves the process group and goes on when it has.
const LEAVE: &str = "io.popen('setsid sh -c \"echo left; exec sleep 600\" &'):read('l')";

/// What the number of the supervisor is, for a tool.
const SUPERVISOR: &str = "local supervisor = io.open('/proc/self/stat'):read('a'):match('%) %a (%d+)')";

fn briefly(limits: &mut Limits) {
    (limits.fuel, limits.wall) = (u64::MAX, Duration::from_millis(500));
}

/// A script whose programs have all ended when its call returns.
#[track_caller]
fn leaves_nothing(source: &str, run: impl FnOnce(Script)) {
    let mut witness = Witness::new();
    run(lua(&witness.watches(source)));
    assert!(witness.sees_nobody(), "a program outlives the call of {source}");
}

#[test]
fn a_program_ends_with_the_call_that_started_it() {
    leaves_nothing("os.execute('sleep 600')", |script| {
        script.limits(briefly).exceeds(Limit::WallClock);
    });
    // Left behind, with the pipe of the log held open.
    leaves_nothing("os.execute('sleep 600 &') return 'done'", |script| {
        assert_eq!(script.result(), r#""done""#);
    });
    leaves_nothing("io.popen('sleep 600', 'w') os.exit(7)", |script| {
        assert_eq!(script.crash(), "it ended itself with the exit code 7 instead of answering");
    });
    let mut witness = Witness::new();
    let source = "(local pipe (io.open \"FOLDER/pipe\" :w))\n(io.popen \"sleep 600\" :w)\n(os.exit 7)";
    fennel(&witness.filled(source)).crash();
    assert!(witness.sees_nobody());
}

#[test]
fn a_program_that_left_the_group_ends_with_the_call_as_well() {
    leaves_nothing(&format!("{LEAVE} return 'done'"), |script| assert_eq!(script.result(), r#""done""#));
    leaves_nothing(&format!("{LEAVE} os.exit(7)"), |script| drop(script.crash()));
    leaves_nothing(&format!("{LEAVE} while true do end"), |script| {
        script.exceeds(Limit::Fuel);
    });
    for disguise in ["setsid", "env -i setsid", "trap '' HUP INT TERM; cd /; exec -a other setsid"] {
        // A daemon: its parent has ended, so that nothing leads from the tool to it.
        let daemon = format!("({disguise} sh -c \"echo left; exec sleep 600\" &)");
        let source =
            format!("io.popen([[bash -c '{}']]):read('l') return 'done'", daemon.replace('\'', r"'\''"));
        leaves_nothing(&source, |script| assert_eq!(script.result(), r#""done""#));
    }
}

/// Each program starts its successor in a session of its own and ends. While their file is there, that never ends by
/// itself.
const HOPS: &str = "[ -e FOLDER/hop ] && setsid sh FOLDER/hop &\n";

const HOPPING: &str = "for _ = 1, 4 do os.execute('sh FOLDER/hop') end";

/// One program that starts others without end.
const FORKING: &str = "os.execute('(while [ -e FOLDER/hop ]; do setsid sleep 600 & sleep 0.01; done) &')";

#[test]
fn programs_that_start_others_without_end_end_with_the_call() {
    // Often: whoever looks for them by and by is lucky now and then.
    for source in [HOPPING; 10].into_iter().chain([FORKING]) {
        let mut witness = Witness::new();
        witness.write("hop", HOPS);
        let script = lua(&witness.watches(&format!("{source} return 'done'")));
        assert_eq!(script.result(), r#""done""#);
        assert!(witness.sees_nobody(), "a program outlives the call of {source}");
    }
}

#[test]
fn a_tool_that_signals_its_group_or_its_supervisor_politely_gains_nothing() {
    let source = format!("{LEAVE} os.execute('trap \"\" TERM; kill -TERM 0') while true do end");
    leaves_nothing(&source, |script| {
        assert_eq!(script.crash(), "it was ended by signal 15 (SIGTERM)");
    });
    for signal in ["TERM", "HUP", "INT", "QUIT", "USR1", "PIPE", "TSTP"] {
        let source =
            format!("{LEAVE} {SUPERVISOR} os.execute('kill -{signal} ' .. supervisor) return 'done'");
        leaves_nothing(&source, |script| assert_eq!(script.result(), r#""done""#));
    }
}

#[test]
fn a_tool_that_stops_its_supervisor_ends_at_its_limits() {
    let source = format!("{LEAVE} {SUPERVISOR} os.execute('kill -STOP ' .. supervisor) while true do end");
    leaves_nothing(&source, |script| {
        script.limits(briefly).exceeds(Limit::WallClock);
    });
}

#[test]
fn a_tool_that_kills_its_supervisor_ends_with_its_group() {
    let mut witness = Witness::new();
    let source =
        format!("{SUPERVISOR} os.execute('sleep 600 & kill -KILL ' .. supervisor) while true do end");
    let crash = lua(&witness.watches(&source)).limits(|limits| limits.fuel = u64::MAX).crash();
    assert_eq!(crash, "its supervisor was ended by signal 9 (SIGKILL)");
    assert!(witness.sees_the_end());
}

/// What the next tests run in a process of its own, to kill it: a call that never ends.
#[test]
#[ignore = "does not end; started by the next tests"]
fn an_endless_call() {
    let script = lua(&std::env::var("SOURCE").unwrap()).answering(|_, _| {
        loop {
            thread::park();
        }
    });
    script.limits(|limits| (limits.fuel, limits.wall) = (u64::MAX, Duration::from_secs(600))).run();
}

/// A daemon with that call of this tool.
fn daemon(source: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "ends::an_endless_call", "--ignored", "--nocapture"])
        .env("SOURCE", source)
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

/// Kills the daemon of a tool that does this and then says that it has.
#[track_caller]
fn ends_with_its_daemon(source: &str, then: &str) {
    let mut witness = Witness::new();
    witness.write("hop", HOPS);
    let source =
        format!("os.execute('sleep 600 &') {LEAVE} {source} pipe:write('ready') pipe:flush() {then}");
    let mut daemon = daemon(&witness.watches(&source));
    witness.hears();
    daemon.kill().unwrap();
    daemon.wait().unwrap();
    assert!(witness.sees_the_end(), "a program outlives the daemon of {source}");
}

#[test]
fn a_call_and_its_programs_end_with_the_daemon() {
    ends_with_its_daemon("", "while true do end");
    ends_with_its_daemon("", "nb.call('wait')");
    ends_with_its_daemon("", "os.execute('sleep 600')");
}

#[test]
fn a_tool_without_a_free_descriptor_ends_with_the_daemon() {
    let fill = "local all = {} repeat all[#all + 1] = io.open('/dev/null') until #all > 1000 or not io.open('/dev/null')";
    ends_with_its_daemon(fill, "while true do end");
}

#[test]
fn programs_that_start_others_without_end_end_with_the_daemon() {
    ends_with_its_daemon(HOPPING, "while true do end");
    ends_with_its_daemon(FORKING, "while true do end");
}

#[test]
fn a_tool_that_stopped_its_supervisor_ends_with_the_daemon() {
    let stop = format!("{SUPERVISOR} os.execute('kill -STOP ' .. supervisor)");
    ends_with_its_daemon(&stop, "while true do end");
}

#[test]
fn a_tool_that_kills_its_supervisor_and_the_daemon_ends_with_them() {
    let mut witness = Witness::new();
    let kill = "pipe:write('ready') pipe:flush() os.execute('kill -KILL ' .. DAEMON .. ' ' .. supervisor)";
    let kill =
        kill.replace("DAEMON", "io.open('/proc/' .. supervisor .. '/stat'):read('a'):match('%) %a (%d+)')");
    let mut daemon = daemon(&witness.watches(&format!("{SUPERVISOR} {kill} while true do end")));
    witness.hears();
    daemon.wait().unwrap();
    assert!(witness.sees_the_end());
}
