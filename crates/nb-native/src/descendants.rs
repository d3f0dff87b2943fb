//! The processes below the supervisor, and their end.
//!
//! The supervisor adopts every process whose parent ended anywhere below it (`PR_SET_CHILD_SUBREAPER`). So whoever
//! kills its children until it has none has ended everything, wherever a program went: a session, a process group or
//! an environment of its own hides nothing.

use std::fs;
use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitOptions, WaitStatus, getpid, kill_process, set_child_subreaper, wait,
};
use signal_hook::consts::SIGCHLD;
use signal_hook::low_level::pipe;

/// The children of the thread that asks; the supervisor has no other one.
const CHILDREN: &str = "/proc/thread-self/children";

/// What does not end in this time is given up on: a program of another user, or one that the kernel holds.
pub(crate) const PATIENCE: Duration = Duration::from_secs(3);

/// How long an end is waited for before the children are listed again: an orphan comes without a signal.
const PAUSE: Timespec = Timespec { tv_sec: 0, tv_nsec: 5_000_000 };

/// All processes below this one.
pub(crate) struct Descendants {
    /// Becomes readable when a child has ended.
    ended: UnixStream,
}

impl Descendants {
    /// Adopts from now on what is orphaned below this process.
    pub(crate) fn adopt() -> io::Result<Self> {
        set_child_subreaper(Some(getpid()))?;
        // Programs are started only where they can be found again.
        children().map_err(|error| {
            io::Error::new(
                error.kind(),
                format!("{CHILDREN} cannot be read ({error}); it needs a kernel with CONFIG_PROC_CHILDREN"),
            )
        })?;
        let (ended, signalled) = UnixStream::pair()?;
        ended.set_nonblocking(true)?;
        pipe::register(SIGCHLD, signalled)?;
        Ok(Self { ended })
    }

    /// What becomes readable when [`reap`](Self::reap) has something to do.
    pub(crate) fn poll(&self) -> PollFd<'_> {
        PollFd::new(&self.ended, PollFlags::IN)
    }

    /// Takes note of the children that have ended. Tells whether others are left.
    pub(crate) fn reap(&mut self, mut ended: impl FnMut(Pid, WaitStatus)) -> bool {
        // First, so that one that ends from here on is told of again. What is not read now is read the next time.
        let _ = self.ended.read(&mut [0; 256]);
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) => ended(pid, status),
                Err(Errno::INTR) => {}
                Ok(None) => return true,
                Err(_) => return false,
            }
        }
    }

    /// Ends all of them. How many children are left that could not be ended.
    pub(crate) fn end(&mut self) -> usize {
        let begun = Instant::now();
        while self.reap(|_, _| ()) {
            let children = children().unwrap_or_default();
            if begun.elapsed() > PATIENCE {
                return children.len();
            }
            for child in children {
                // Its number is its own until it is reaped. Failing means that it is somebody else's.
                let _ = kill_process(child, Signal::KILL);
            }
            // Interrupted or not, they are looked at again.
            let _ = poll(&mut [self.poll()], Some(&PAUSE));
        }
        0
    }
}

fn children() -> io::Result<Vec<Pid>> {
    let list = fs::read_to_string(CHILDREN)?;
    Ok(list.split_whitespace().filter_map(|pid| Pid::from_raw(pid.parse().ok()?)).collect())
}
