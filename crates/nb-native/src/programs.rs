//! The programs that a call started: found by a mark in their environment, wherever among the processes they went.
//!
//! Killing the process group ends what stayed in it, at once. A program that began a session of its own (`setsid`, a
//! daemon) is in no group and below no process that is known here, but still has the environment of the call.

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use std::{env, fs, process};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// The variable that every program of a call has.
pub(crate) const VARIABLE: &str = "NANOBOT_CALL";

/// Programs that start others faster than they are ended are given up on after this time.
const PATIENCE: Duration = Duration::from_secs(1);

/// What a program that was killed may take to end, before the others are looked for again.
const END: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// What the programs of one call have in their environment, and those of no other call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mark(String);

impl Mark {
    /// One that nobody else has, on this machine and since it was started.
    pub(crate) fn new() -> Self {
        static CALLS: AtomicU64 = AtomicU64::new(0);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        Self(format!("{}.{now}.{}", process::id(), CALLS.fetch_add(1, Ordering::Relaxed)))
    }

    /// The one that this process was started with.
    pub(crate) fn own() -> Option<Self> {
        env::var(VARIABLE).ok().map(Self)
    }

    /// The variable's value.
    pub(crate) fn value(&self) -> &str {
        &self.0
    }

    /// Ends all programs with this mark, except for the process that asks. What was given another environment, or
    /// runs as another user, is not found.
    pub(crate) fn end_programs(&self) {
        let entry = format!("{VARIABLE}={}", self.0);
        let begun = Instant::now();
        // Again, because one that was not yet looked at can have started another one meanwhile.
        while begun.elapsed() < PATIENCE {
            let killed: Vec<OwnedFd> = processes().filter_map(|pid| kill_marked(pid, &entry)).collect();
            if killed.is_empty() {
                return;
            }
            for program in &killed {
                while poll(&mut [PollFd::new(program, PollFlags::IN)], Some(&END)) == Err(Errno::INTR) {}
            }
        }
    }
}

fn processes() -> impl Iterator<Item = Pid> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    numbers.filter_map(Pid::from_raw).filter(|pid| *pid != rustix::process::getpid())
}

/// Kills a process that has this entry in its environment. What becomes readable when it has ended.
fn kill_marked(pid: Pid, entry: &str) -> Option<OwnedFd> {
    if !has(pid, entry) {
        return None;
    }
    // Its number can have been given to another process since: that the mark is there is seen again.
    let process = pidfd_open(pid, PidfdFlags::empty()).ok()?;
    if !has(pid, entry) {
        return None;
    }
    pidfd_send_signal(&process, Signal::KILL).ok()?;
    Some(process)
}

/// One that has ended has no environment any more.
fn has(pid: Pid, entry: &str) -> bool {
    let environment = fs::read(format!("/proc/{}/environ", pid.as_raw_nonzero())).unwrap_or_default();
    environment.split(|byte| *byte == 0).any(|found| found == entry.as_bytes())
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn of_all_programs_those_with_the_mark_are_ended() {
        let (mark, other) = (Mark::new(), Mark::new());
        assert_ne!(mark, other);
        let sleeps = |mark: &Mark| {
            Command::new("setsid").args(["sleep", "600"]).env(VARIABLE, mark.value()).spawn().unwrap()
        };
        let (mut marked, mut unmarked) = (sleeps(&mark), sleeps(&other));
        mark.end_programs();
        assert!(!marked.wait().unwrap().success());
        assert!(unmarked.try_wait().unwrap().is_none(), "the program of another call");
        unmarked.kill().unwrap();
        unmarked.wait().unwrap();
    }
}
