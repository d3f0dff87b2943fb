//! What a component writes to its standard output and error: lines of its log.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use tokio::io::AsyncWrite;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};
use wasmtime_wasi::p2::{OutputStream, Pollable, StreamResult};

/// What one write may carry; a larger one is asked to come in parts.
const WRITE_BYTES: usize = 64 << 10;

/// Keeps what was written until the call has ended, because a line needs the host, which is in the store meanwhile.
#[derive(Clone, Default)]
pub(crate) struct Stdout(Arc<Mutex<Written>>);

#[derive(Default)]
struct Written {
    bytes: Vec<u8>,
    room: usize,
    dropped: u64,
}

impl Stdout {
    /// Keeps this many bytes and counts the others.
    pub(crate) fn new(room: u64) -> Self {
        let room = usize::try_from(room).unwrap_or(usize::MAX);
        Self(Arc::new(Mutex::new(Written { room, ..Written::default() })))
    }

    /// The text, and how many bytes of it are missing.
    pub(crate) fn take(&self) -> (String, u64) {
        let mut written = self.lock();
        let bytes = std::mem::take(&mut written.bytes);
        (String::from_utf8_lossy(&bytes).into_owned(), written.dropped)
    }

    fn lock(&self) -> MutexGuard<'_, Written> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl IsTerminal for Stdout {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for Stdout {
    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }

    // Only WASI 0.3 asks for this one, and it is not linked.
    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        Box::new(tokio::io::sink())
    }
}

#[async_trait::async_trait]
impl Pollable for Stdout {
    async fn ready(&mut self) {}
}

impl OutputStream for Stdout {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        let mut written = self.lock();
        let kept = bytes.len().min(written.room);
        written.bytes.extend_from_slice(&bytes[..kept]);
        written.room -= kept;
        written.dropped += (bytes.len() - kept) as u64;
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(WRITE_BYTES)
    }
}
