//! The end of the child process when the daemon is gone, however it ended, together with the programs that were started.
//!
//! The kernel can kill one process at the end of another (`PR_SET_PDEATHSIG`), but not what that one had started, and
//! nobody would be left to do it. So the child process does it itself.

use std::io;
use std::os::unix::net::UnixStream;
use std::process;
use std::thread;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{Signal, getpgrp, getpid, kill_current_process_group};

use crate::programs::Mark;

/// The thread that waits does little: each tool has one, and its memory counts as the tool's.
const STACK_BYTES: usize = 256 << 10;

/// Ends everything when the other side of the socket is closed, which the kernel does when the daemon is gone. While
/// the daemon lives, it ends the child process before it closes its side.
pub(crate) fn for_the_daemons_end(socket: &UnixStream) -> io::Result<()> {
    let socket = socket.try_clone()?;
    let wait = move || {
        // When nothing is asked for, `poll` tells of the other side's end alone.
        while poll(&mut [PollFd::new(&socket, PollFlags::empty())], None) == Err(Errno::INTR) {}
        end_all()
    };
    thread::Builder::new().name("watch".to_owned()).stack_size(STACK_BYTES).spawn(wait).map(drop)
}

/// Ends the programs that were started and this process.
pub(crate) fn end_all() -> ! {
    end_programs();
    // What has another environment, but stayed in the group. Whoever starts this by hand, in a shell's group, is spared.
    if getpgrp() == getpid() {
        let _ = kill_current_process_group(Signal::KILL);
    }
    process::exit(1)
}

/// Ends the programs that were started, wherever they went.
pub(crate) fn end_programs() {
    if let Some(mark) = Mark::own() {
        mark.end_programs();
    }
}
