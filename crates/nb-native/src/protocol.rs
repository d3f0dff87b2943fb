//! What the daemon and the processes of a call say to each other: JSON, each message with its length in front.
//!
//! The daemon sends the interpreter a [`Job`]. The interpreter sends [`Request`]s, waits for a [`Reply`] to those that
//! have one, and ends itself after [`Request::Done`]. The supervisor tells the daemon what [`Told`] says, on a socket of
//! its own, the life line, and is told by its end that all shall end.

use std::io;

use nb_sandbox::{Limits, ToolError};
use serde::{Deserialize, Serialize};

use crate::tool::NativeTool;

/// Bytes of the length in front of a message.
pub(crate) const LENGTH_BYTES: usize = 4;

/// A character of a text takes at most that many in JSON: `\u0001`.
const ESCAPED: u64 = 6;

/// What is around the texts of a message: names, an error with its traceback.
const AROUND_BYTES: u64 = 1 << 20;

/// The first message.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Job {
    pub(crate) work: Work,
    pub(crate) tool: NativeTool,
    pub(crate) variables: String,
    pub(crate) limits: Limits,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Work {
    Run,
    /// Compile everything, and run nothing but macros.
    Check,
}

/// From the interpreter.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Request {
    /// Answered by [`Reply::Answer`].
    Invoke {
        ability: String,
        args: String,
    },
    Log {
        line: String,
    },
    /// Answered by [`Reply::Number`], as the next one.
    Now,
    Random,
    Done(Report),
}

/// What came of the job.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Report {
    pub(crate) outcome: Result<String, ToolError>,
    pub(crate) fuel: u64,
    pub(crate) peak_memory_bytes: u64,
}

/// To the interpreter.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Reply {
    Answer(Result<String, String>),
    Number(u64),
}

/// From the supervisor.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Told {
    /// The interpreter runs: its number, which is that of its process group as well.
    Started(i32),
    /// The interpreter has ended by itself: how, as the kernel says it.
    Ended(i32),
    /// So many processes below the supervisor could not be ended.
    Left(usize),
}

/// Bytes of the longest message from the supervisor.
pub(crate) const LONGEST_TOLD: u64 = 1 << 10;

/// The longest message that a call with these limits sends.
pub(crate) fn longest_message(tool: &NativeTool, limits: &Limits) -> u64 {
    // An error quotes a line of a source, which may be all of it.
    let sources = tool.sources().map(|source| source.text.len() as u64).max().unwrap_or_default();
    let text = limits.host_bytes.max(limits.output_bytes).max(limits.log_bytes).max(sources);
    text.saturating_mul(ESCAPED).saturating_add(AROUND_BYTES)
}

/// A message with its length in front.
pub(crate) fn frame(message: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut frame = vec![0; LENGTH_BYTES];
    serde_json::to_writer(&mut frame, message)?;
    let length = u32::try_from(frame.len() - LENGTH_BYTES).map_err(|_| io::ErrorKind::FileTooLarge)?;
    frame[..LENGTH_BYTES].copy_from_slice(&length.to_le_bytes());
    Ok(frame)
}

/// The length that stands at the start of these bytes, when they are enough.
pub(crate) fn length(bytes: &[u8]) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.first_chunk::<LENGTH_BYTES>()?))
}
