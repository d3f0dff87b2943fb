//! Many calls at once. In a process of its own, so that its child processes are those of these calls.
#![allow(clippy::unwrap_used)]

#[path = "native/common.rs"]
#[allow(dead_code, reason = "the other tests use the rest")]
mod common;

use std::fs;
use std::thread;
use std::time::Duration;

use crate::common::lua;

/// The child processes of this one, those that ended but were not waited for included.
fn children() -> Vec<String> {
    let tasks = fs::read_dir("/proc/self/task").unwrap().flatten();
    let lists = tasks.map(|task| fs::read_to_string(task.path().join("children")).unwrap());
    lists.flat_map(|list| list.split_whitespace().map(str::to_owned).collect::<Vec<_>>()).collect()
}

#[test]
fn calls_run_side_by_side_and_leave_nothing() {
    let answer = |number: usize| {
        let source = match number % 4 {
            0 => "os.exit(number)",
            1 => "os.execute('while kill -SEGV $PPID; do :; done')",
            2 => "os.execute('sleep 600 &') error('left')",
            _ => "local n = 0 for i = 1, 1000 do n = n + nb.call('one').n end return {n, number}",
        };
        let script = lua(source).with(format!(r#"{{"number": {number}}}"#));
        let script = script.limits(|limits| limits.wall = Duration::from_secs(60));
        script.answering(|_, _| Ok(r#"{"n":1}"#.into())).run().0.outcome
    };
    // That a running call is seen here makes it mean something that none is seen in the end.
    let script = lua("return nb.call('count').n");
    let seen = script.answering(|_, _| Ok(format!(r#"{{"n":{}}}"#, children().len()))).result();
    assert_eq!(seen, "1");
    thread::scope(|scope| {
        let calls: Vec<_> = (0..20).map(|number| scope.spawn(move || answer(number))).collect();
        for (number, call) in calls.into_iter().enumerate() {
            let outcome = call.join().unwrap().map_err(|error| error.to_string());
            match number % 4 {
                0 => assert!(outcome.unwrap_err().contains(&format!("exit code {number} "))),
                1 => assert!(outcome.unwrap_err().contains("SIGSEGV")),
                2 => assert!(outcome.unwrap_err().contains("left")),
                _ => assert_eq!(outcome, Ok(format!("[1000,{number}]"))),
            }
        }
    });
    assert_eq!(children(), Vec::<String>::new());
}
