//! The supervisor of a call, seen from the daemon: what it tells, and the end of everything below it.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, kill_process_group, pidfd_open};

use crate::channel::Channel;
use crate::descendants;
use crate::protocol::{LONGEST_TOLD, Told};

/// A supervisor that takes longer is not at work any more: it gives up earlier by itself.
const PATIENCE: Duration = descendants::PATIENCE.saturating_add(Duration::from_secs(2));

/// How often one that does not end is told to go on.
const PAUSE: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// A running supervisor. When this is dropped, it and what was below it have ended.
pub(crate) struct LifeLine {
    supervisor: Child,
    pid: Pid,
    /// Becomes readable when the supervisor ends.
    end: OwnedFd,
    line: Channel,
    interpreter: Option<Pid>,
    interpreter_ended: Option<ExitStatus>,
    left: usize,
    /// How the supervisor ended.
    ended: Option<ExitStatus>,
}

/// How a call's processes ended.
pub(crate) struct End {
    /// In words, for a call that has no answer.
    pub(crate) how: String,
    /// That something may have been left behind.
    pub(crate) warning: Option<String>,
}

impl LifeLine {
    /// Of a supervisor that was started with the other end of the line.
    pub(crate) fn new(mut supervisor: Child, line: Channel) -> io::Result<Self> {
        match pid(&supervisor).and_then(|pid| Ok((pid, pidfd_open(pid, PidfdFlags::empty())?))) {
            Ok((pid, end)) => Ok(Self {
                supervisor,
                pid,
                end,
                line,
                interpreter: None,
                interpreter_ended: None,
                left: 0,
                ended: None,
            }),
            Err(error) => {
                // The interpreter, if there is one, ends with it: it was sent nothing yet.
                let _ = supervisor.kill();
                let _ = supervisor.wait();
                Err(error)
            }
        }
    }

    /// What is to be waited for.
    pub(crate) fn poll(&self) -> Option<PollFd<'_>> {
        self.line.poll()
    }

    /// Hears what the supervisor tells. Whether the interpreter has ended, or nobody can tell that any more.
    pub(crate) fn hear(&mut self) -> io::Result<bool> {
        self.line.exchange()?;
        while let Some(told) = self.line.message(LONGEST_TOLD)? {
            match told {
                Told::Started(pid) => self.interpreter = Pid::from_raw(pid),
                Told::Ended(status) => self.interpreter_ended = Some(ExitStatus::from_raw(status)),
                Told::Left(count) => self.left = count,
            }
        }
        Ok(self.interpreter_ended.is_some() || !self.line.is_open())
    }

    /// Ends everything, and waits for that.
    pub(crate) fn end(&mut self) -> End {
        let forced = self.end_supervisor();
        let by_itself = !forced && self.ended.is_some_and(|status| status.success());
        let warning = if !by_itself {
            Some("its supervisor was lost; programs that left the process group may go on".to_owned())
        } else if self.left > 0 {
            let (left, patience) = (self.left, descendants::PATIENCE.as_secs());
            Some(format!("{left} of its programs did not end within {patience} s and may go on"))
        } else {
            None
        };
        let how = match (self.interpreter_ended, self.ended) {
            (Some(status), _) => how_it_ended("it", status),
            (None, Some(status)) => how_it_ended("its supervisor", status),
            (None, None) => "its supervisor cannot be waited for".to_owned(),
        };
        End { how, warning }
    }

    /// Tells whether it had to be killed.
    fn end_supervisor(&mut self) -> bool {
        if self.ended.is_some() {
            return false;
        }
        self.line.end();
        let begun = Instant::now();
        let mut forced = false;
        loop {
            // A tool can have stopped it. Failing means that it has ended.
            let _ = kill_process(self.pid, Signal::CONT);
            if matches!(poll(&mut [PollFd::new(&self.end, PollFlags::IN)], Some(&PAUSE)), Ok(1..)) {
                break;
            }
            if begun.elapsed() > PATIENCE {
                forced = self.supervisor.kill().is_ok();
                break;
            }
        }
        self.ended = self.supervisor.wait().ok();
        // What it told last. One that speaks another language has nothing to tell.
        let _ = self.hear();
        if !self.ended.is_some_and(|status| status.success()) {
            // The interpreter ends with its supervisor. Its programs are in its group, but for those that left.
            let _ = self.interpreter.map(|group| kill_process_group(group, Signal::KILL));
        }
        forced
    }
}

impl Drop for LifeLine {
    fn drop(&mut self) {
        self.end_supervisor();
    }
}

fn pid(process: &Child) -> io::Result<Pid> {
    let raw = i32::try_from(process.id()).ok().and_then(Pid::from_raw);
    raw.ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// In words, how a process ended that should have answered.
fn how_it_ended(who: &str, status: ExitStatus) -> String {
    match status.code() {
        Some(code) => format!("{who} ended itself with the exit code {code} instead of answering"),
        // The standard library writes `signal: 11 (SIGSEGV)`.
        None => format!("{who} was ended by {}", status.to_string().replacen("signal: ", "signal ", 1)),
    }
}
