//! The processes of a call, seen from the daemon: the socket to the interpreter, what it writes, and its end.

use std::io::{self, PipeReader, Read};
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::channel::{Channel, READ_BYTES};
use crate::life_line::{End, LifeLine};
use crate::tool::Runner;

/// A pipe holds at most that much, unless somebody with more rights enlarged it.
const PIPE_BYTES: usize = 1 << 20;

/// A running interpreter below its supervisor.
pub(crate) struct Process {
    life: LifeLine,
    call: Channel,
    /// Its standard output and error; `None` when nobody can write there any more.
    output: Option<PipeReader>,
}

impl Process {
    pub(crate) fn start(runner: &Runner) -> io::Result<Self> {
        let (line, theirs) = Channel::pair()?;
        let (call, interpreters) = Channel::pair()?;
        let (output, writer) = io::pipe()?;
        let supervisor = Command::new(&runner.program)
            .args(&runner.arguments)
            .stdin(OwnedFd::from(theirs))
            // These two it hands on: a descriptor beside the three that a program begins with would be inherited by
            // whatever the daemon starts at the same moment.
            .stdout(OwnedFd::from(interpreters))
            .stderr(Stdio::from(writer))
            .spawn()?;
        Ok(Self { life: LifeLine::new(supervisor, line)?, call, output: Some(output) })
    }

    /// Puts a message in line.
    pub(crate) fn send(&mut self, message: &impl Serialize) -> io::Result<()> {
        self.call.send(message)
    }

    /// Waits until something happens, not longer than this, and takes part in it. `written` is given what the tool
    /// wrote to its output. Tells whether the interpreter has ended.
    pub(crate) fn step(&mut self, patience: Duration, written: impl FnMut(&[u8])) -> io::Result<bool> {
        self.wait(patience)?;
        // First: when it has ended, the rest is all that there will be.
        let ended = self.life.hear()?;
        self.call.exchange()?;
        self.read_output(written)?;
        Ok(ended)
    }

    fn wait(&self, patience: Duration) -> io::Result<()> {
        let patience = Timespec { tv_sec: 0, tv_nsec: patience.subsec_nanos().into() };
        let output = self.output.as_ref().map(|output| PollFd::new(output, PollFlags::IN));
        let mut all: Vec<_> = [self.life.poll(), self.call.poll(), output].into_iter().flatten().collect();
        match poll(&mut all, Some(&patience)) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
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
        self.call.message(longest)
    }

    /// Reads what an ended interpreter had still sent.
    pub(crate) fn receive_rest(&mut self) -> io::Result<()> {
        self.call.receive_rest()
    }

    /// Ends all processes of the call, and reads what they had still written. A program that could not be ended may
    /// hold the pipe open: what it writes from now on is nobody's.
    pub(crate) fn stop(mut self, mut written: impl FnMut(&[u8])) -> End {
        // Whoever still writes there is not heard any more, and waits for nobody.
        self.call.close();
        let end = self.life.end();
        for _ in 0..PIPE_BYTES / READ_BYTES {
            if !self.read_output(&mut written).unwrap_or(false) {
                break;
            }
        }
        end
    }
}
