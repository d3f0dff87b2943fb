//! One end of a socket on which messages go in both directions, for a process that waits for the other side.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::protocol::{LENGTH_BYTES, frame, length};

/// The socket to the daemon.
pub(crate) struct Socket(pub(crate) UnixStream);

impl Socket {
    pub(crate) fn send(&mut self, message: &impl Serialize) -> io::Result<()> {
        self.0.write_all(&frame(message)?)
    }

    pub(crate) fn receive<T: DeserializeOwned>(&mut self) -> io::Result<T> {
        let mut head = [0; LENGTH_BYTES];
        self.0.read_exact(&mut head)?;
        let mut message = vec![0; length(&head).unwrap_or_default() as usize];
        self.0.read_exact(&mut message)?;
        Ok(serde_json::from_slice(&message)?)
    }
}
