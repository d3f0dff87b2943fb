//! One end of a socket on which messages go in both directions, for a process that must not wait for the other side.

use std::io::{self, ErrorKind, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;

use rustix::event::{PollFd, PollFlags};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::protocol::{LENGTH_BYTES, frame, length};

/// Bytes that are read at once; between two reads the limits are looked at.
pub(crate) const READ_BYTES: usize = 64 << 10;

/// The socket, what arrived on it and what waits to be sent.
pub(crate) struct Channel {
    /// `None` after the other side closed its end.
    socket: Option<UnixStream>,
    received: Vec<u8>,
    unsent: Unsent,
}

impl Channel {
    /// This process's end, and the one for another process.
    pub(crate) fn pair() -> io::Result<(Self, UnixStream)> {
        let (socket, theirs) = UnixStream::pair()?;
        socket.set_nonblocking(true)?;
        Ok((Self { socket: Some(socket), received: Vec::new(), unsent: Unsent::default() }, theirs))
    }

    pub(crate) fn is_open(&self) -> bool {
        self.socket.is_some()
    }

    /// Tells the other side that nothing more comes. What it sends can still be read.
    pub(crate) fn end(&self) {
        // Failing means that the other side is gone.
        let _ = self.socket.as_ref().map(|socket| socket.shutdown(Shutdown::Write));
    }

    /// Closes this end.
    pub(crate) fn close(&mut self) {
        self.socket = None;
    }

    /// What is to be waited for.
    pub(crate) fn poll(&self) -> Option<PollFd<'_>> {
        let writing = if self.unsent.is_empty() { PollFlags::empty() } else { PollFlags::OUT };
        self.socket.as_ref().map(|socket| PollFd::new(socket, PollFlags::IN | writing))
    }

    /// Puts a message in line.
    pub(crate) fn send(&mut self, message: &impl Serialize) -> io::Result<()> {
        self.unsent.put(&mut frame(message)?);
        Ok(())
    }

    /// Sends what the other side has room for, and reads once.
    pub(crate) fn exchange(&mut self) -> io::Result<()> {
        let Some(socket) = &mut self.socket else { return Ok(()) };
        // Both in each step, whatever became of the other: two sides that first write all they have would wait for
        // each other for ever, and one that answered before it read everything has answered.
        self.unsent.write_some(socket)?;
        if !read_some(socket, &mut self.received)? {
            self.socket = None;
        }
        Ok(())
    }

    /// Reads all that is there, from a side that sends nothing more.
    pub(crate) fn receive_rest(&mut self) -> io::Result<()> {
        while let Some(socket) = &mut self.socket {
            let before = self.received.len();
            if !read_some(socket, &mut self.received)? || self.received.len() == before {
                self.socket = None;
            }
        }
        Ok(())
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
