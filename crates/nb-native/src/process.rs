//! The child process: the socket to it, what it writes, and its end.

use std::io::{self, ErrorKind, PipeReader, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::programs::{self, Mark};
use crate::protocol::{LENGTH_BYTES, frame, length};
use crate::tool::Runner;

/// Bytes that are read at once; between two reads the limits are looked at.
const READ_BYTES: usize = 64 << 10;

/// A pipe holds at most that much, unless somebody with more rights enlarged it.
const PIPE_BYTES: usize = 1 << 20;

/// A child process and the programs that it started. When this is dropped, all of them have ended.
struct Group {
    child: Child,
    status: Option<ExitStatus>,
    mark: Mark,
}

impl Group {
    fn pid(&self) -> io::Result<Pid> {
        let raw = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        raw.ok_or_else(|| ErrorKind::InvalidData.into())
    }

    /// Ends all of it. How the child process itself ended, also when that was before.
    fn end(&mut self) -> Option<ExitStatus> {
        if self.status.is_none() {
            // Before it is waited for: until then, the number of the group is not given to another one. Failing
            // means that nothing is left.
            let _ = self.pid().map(|pid| kill_process_group(pid, Signal::KILL));
            self.status = self.child.wait().ok();
            self.mark.end_programs();
        }
        self.status
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.end();
    }
}

/// A running child process.
pub(crate) struct Process {
    group: Group,
    /// Becomes readable when the process ends.
    end: OwnedFd,
    /// `None` after the process closed its side.
    socket: Option<UnixStream>,
    /// Its standard output and error; `None` when nobody can write there any more.
    output: Option<PipeReader>,
    received: Vec<u8>,
    unsent: Unsent,
}

impl Process {
    pub(crate) fn start(runner: &Runner) -> io::Result<Self> {
        let (socket, theirs) = UnixStream::pair()?;
        let (output, writer) = io::pipe()?;
        socket.set_nonblocking(true)?;
        let mut command = Command::new(&runner.program);
        let mark = Mark::new();
        command
            .args(&runner.arguments)
            .env(programs::VARIABLE, mark.value())
            .process_group(0)
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(writer.try_clone()?)
            .stderr(writer);
        let group = Group { child: command.spawn()?, status: None, mark };
        let end = pidfd_open(group.pid()?, PidfdFlags::empty())?;
        let (socket, output) = (Some(socket), Some(output));
        Ok(Self { group, end, socket, output, received: Vec::new(), unsent: Unsent::default() })
    }

    /// Puts a message in line.
    pub(crate) fn send(&mut self, message: &impl Serialize) -> io::Result<()> {
        self.unsent.put(&mut frame(message)?);
        Ok(())
    }

    /// Waits until something happens, not longer than this, and takes part in it. `written` is given what the tool
    /// wrote to its output. Tells whether the process has ended.
    pub(crate) fn step(&mut self, patience: Duration, written: impl FnMut(&[u8])) -> io::Result<bool> {
        let ended = self.wait(patience)?;
        if let Some(socket) = &mut self.socket {
            // Both in each step, whatever became of the other: two sides that first write all they have would wait for
            // each other for ever, and one that answered before it read everything has answered.
            self.unsent.write_some(socket)?;
            if !read_some(socket, &mut self.received)? {
                self.socket = None;
            }
        }
        self.read_output(written)?;
        Ok(ended)
    }

    fn wait(&self, patience: Duration) -> io::Result<bool> {
        let patience = Timespec { tv_sec: 0, tv_nsec: patience.subsec_nanos().into() };
        let mut all = vec![PollFd::new(&self.end, PollFlags::IN)];
        if let Some(socket) = &self.socket {
            let writing = if self.unsent.is_empty() { PollFlags::empty() } else { PollFlags::OUT };
            all.push(PollFd::new(socket, PollFlags::IN | writing));
        }
        if let Some(output) = &self.output {
            all.push(PollFd::new(output, PollFlags::IN));
        }
        match poll(&mut all, Some(&patience)) {
            Ok(_) | Err(Errno::INTR) => Ok(!all[0].revents().is_empty()),
            Err(error) => Err(error.into()),
        }
    }

    /// Reads once, when there is something. Tells whether there was.
    fn read_output(&mut self, mut written: impl FnMut(&[u8])) -> io::Result<bool> {
        let Some(output) = &mut self.output else { return Ok(false) };
        let mut ready = [PollFd::new(output, PollFlags::IN)];
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        if !matches!(poll(&mut ready, Some(&now)), Ok(1..)) {
            return Ok(false);
        }
        let mut bytes = vec![0; READ_BYTES];
        let count = output.read(&mut bytes)?;
        written(&bytes[..count]);
        if count == 0 {
            self.output = None;
        }
        Ok(count > 0)
    }

    /// The next message that arrived whole.
    ///
    /// # Errors
    /// When it is longer than `longest`, or not a message.
    pub(crate) fn message<T: DeserializeOwned>(&mut self, longest: u64) -> io::Result<Option<T>> {
        let Some(length) = length(&self.received) else { return Ok(None) };
        if u64::from(length) > longest {
            return Err(ErrorKind::FileTooLarge.into());
        }
        let end = LENGTH_BYTES + length as usize;
        if self.received.len() < end {
            return Ok(None);
        }
        let message = serde_json::from_slice(&self.received[LENGTH_BYTES..end])?;
        self.received.drain(..end);
        Ok(Some(message))
    }

    /// Reads what an ended process had still sent.
    pub(crate) fn receive_rest(&mut self) -> io::Result<()> {
        while let Some(socket) = &mut self.socket {
            let before = self.received.len();
            if !read_some(socket, &mut self.received)? || self.received.len() == before {
                self.socket = None;
            }
        }
        Ok(())
    }

    /// Ends the process and its group, and reads what they had still written. A program that left the group may hold
    /// the pipe open: what it writes from now on is nobody's.
    pub(crate) fn stop(mut self, mut written: impl FnMut(&[u8])) -> Option<ExitStatus> {
        let status = self.group.end();
        for _ in 0..PIPE_BYTES / READ_BYTES {
            if !self.read_output(&mut written).unwrap_or(false) {
                break;
            }
        }
        status
    }
}

/// What waits to be sent.
#[derive(Default)]
struct Unsent {
    bytes: Vec<u8>,
    /// How many of them are sent. To remove them after each write would move all others.
    sent: usize,
}

impl Unsent {
    fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    fn put(&mut self, bytes: &mut Vec<u8>) {
        self.bytes.append(bytes);
    }

    /// Sends what the other side has room for. Forgets it all when the other side takes no more.
    fn write_some(&mut self, socket: &mut UnixStream) -> io::Result<()> {
        if self.is_empty() {
            return Ok(());
        }
        match socket.write(&self.bytes[self.sent..]) {
            Ok(count) => self.sent += count,
            Err(error) => {
                if !still_open(error)? {
                    self.sent = self.bytes.len();
                }
            }
        }
        if self.sent >= self.bytes.len() {
            *self = Self::default();
        }
        Ok(())
    }
}

/// Reads once. Tells whether more can come.
fn read_some(socket: &mut UnixStream, received: &mut Vec<u8>) -> io::Result<bool> {
    let mut bytes = vec![0; READ_BYTES];
    match socket.read(&mut bytes) {
        Ok(count) => {
            received.extend_from_slice(&bytes[..count]);
            Ok(count > 0)
        }
        Err(error) => still_open(error),
    }
}

fn still_open(error: io::Error) -> io::Result<bool> {
    match error.kind() {
        ErrorKind::WouldBlock | ErrorKind::Interrupted => Ok(true),
        ErrorKind::BrokenPipe | ErrorKind::ConnectionReset => Ok(false),
        _ => Err(error),
    }
}

/// In words, how a process ended that should have answered.
pub(crate) fn how_it_ended(status: ExitStatus) -> String {
    match status.code() {
        Some(code) => format!("it ended itself with the exit code {code} instead of answering"),
        // The standard library writes `signal: 11 (SIGSEGV)`.
        None => format!("it was ended by {}", status.to_string().replacen("signal: ", "signal ", 1)),
    }
}
