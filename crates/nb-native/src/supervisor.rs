//! The process between the daemon and the interpreter. It runs nothing of the tool, and outlives it to end what the
//! tool started: when the interpreter has ended, and when the daemon asks for it or is gone.
//!
//! Its standard input is the life line, a socket that the daemon closes or loses. Its standard output is the socket of
//! the call and its standard error the log of the tool: both are for the interpreter.

use std::env;
use std::fs::File;
use std::io;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::Arc;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitStatus, getpid, set_parent_process_death_signal, setsid};
use rustix::stdio::{dup2_stderr, dup2_stdout, stderr, stdin, stdout};
use signal_hook::consts::{SIGALRM, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};

use crate::child::INTERPRETER;
use crate::descendants::Descendants;
use crate::protocol::Told;
use crate::socket::Socket;

/// Signals that end a process which says nothing else. They reach the supervisor when all processes of the daemon get
/// one, as systemd and `pkill` send it, and it must not be the first to go.
const POLITE: [i32; 7] = [SIGALRM, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2];

/// Starts the interpreter and stays until it and all that it started have ended.
pub(crate) fn supervise() -> io::Result<()> {
    let mut life = Socket(UnixStream::from(stdin().try_clone_to_owned()?));
    life.0
        .peer_addr()
        .map_err(|_| io::Error::other("its standard input is no socket: the daemon alone starts it"))?;
    // A group of its own, which a tool that signals its own group does not reach.
    setsid()?;
    // A handler, and not ignored: the interpreter would inherit that.
    POLITE.iter().try_for_each(|signal| signal_hook::flag::register(*signal, Arc::default()).map(drop))?;
    // When the daemon dies, a supervisor that was stopped goes on. It sees by the life line that there is work.
    set_parent_process_death_signal(Some(Signal::CONT))?;
    let mut descendants = Descendants::adopt()?;
    let nowhere = File::options().write(true).open("/dev/null")?;
    let interpreter = start()?;
    // From here on nothing is an error: there is something to end. A daemon that is gone hears nothing.
    let _ = life.send(&Told::Started(interpreter.as_raw_nonzero().get()));
    // The daemon is to see when the interpreter closes the socket of the call, and the log.
    let _ = dup2_stdout(&nowhere).and_then(|()| dup2_stderr(&nowhere));

    if let Some(status) = wait_for_end(&life, &mut descendants, interpreter) {
        // Before the rest ends, which may take longer than the call has.
        let _ = life.send(&Told::Ended(status.as_raw()));
    }
    let left = descendants.end();
    if left > 0 {
        let _ = life.send(&Told::Left(left));
    }
    Ok(())
}

/// The interpreter is this program once more, also when its file was replaced.
fn start() -> io::Result<Pid> {
    let child = Command::new("/proc/self/exe")
        .args(env::args_os().skip(1))
        .arg(format!("{INTERPRETER}{}", getpid().as_raw_nonzero()))
        .process_group(0)
        .stdin(Stdio::from(stdout().try_clone_to_owned()?))
        .stdout(Stdio::from(stderr().try_clone_to_owned()?))
        .spawn()?;
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    pid.ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// How the interpreter ended; `None` when it is to be ended.
fn wait_for_end(life: &Socket, descendants: &mut Descendants, interpreter: Pid) -> Option<WaitStatus> {
    loop {
        // The daemon sends nothing: what can be read there is the end.
        let daemon = PollFd::new(&life.0, PollFlags::IN);
        let mut waiting = [daemon, descendants.poll()];
        match poll(&mut waiting, None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(_) => return None,
        }
        let over = !waiting[0].revents().is_empty();
        let mut ended = None;
        descendants.reap(|pid, status| {
            if pid == interpreter {
                ended = Some(status);
            }
        });
        if ended.is_some() || over {
            return ended;
        }
    }
}
