//! What a call needs and what it answers.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::error::ToolError;
use crate::host::{CancelFlag, Host};
use crate::limits::Limits;

/// The language of a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Lang {
    /// Lua 5.4.
    Lua,
    /// Fennel 1.6, which is translated to Lua.
    Fennel,
}

impl fmt::Display for Lang {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Lua => "Lua",
            Self::Fennel => "Fennel",
        })
    }
}

/// A compiled script. Cloning it is cheap.
///
/// It can be run by any [`Sandbox`](crate::Sandbox) of this version; it is not meant to be stored.
#[derive(Clone)]
pub struct Chunk {
    pub(crate) name: Arc<str>,
    pub(crate) lang: Lang,
    pub(crate) bytecode: Arc<[u8]>,
}

impl Chunk {
    /// The name that errors carry: that of the tool's file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The language that it was written in.
    pub fn lang(&self) -> Lang {
        self.lang
    }

    /// The bytes that it occupies in memory.
    pub fn size(&self) -> usize {
        self.bytecode.len()
    }
}

impl fmt::Debug for Chunk {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Chunk({}, {}, {} bytes)", self.name, self.lang, self.size())
    }
}

/// One call of a tool.
pub struct Call {
    /// What is run.
    pub chunk: Chunk,
    /// A JSON object. Each of its keys becomes a global variable of the script; a tool reads `parameters`.
    pub variables: String,
    /// What the call may use up.
    pub limits: Limits,
    /// Ends the call from another thread.
    pub cancel: CancelFlag,
    /// Everything that the tool can reach. It comes back in [`Finished`].
    pub host: Box<dyn Host + Send>,
}

/// What came of a call.
pub struct Finished {
    /// The first value that the script returned, as JSON; `null` when it returned none.
    pub outcome: Result<String, ToolError>,
    /// What the call used up, also when it failed.
    pub usage: Usage,
    /// The host of the [`Call`].
    pub host: Box<dyn Host + Send>,
}

/// What a call used up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// In units of [`Limits::fuel`], rounded up.
    pub fuel: u64,
    /// The most memory that the guest had, in bytes. An idle guest has some megabytes.
    pub peak_memory_bytes: u64,
    /// The size of the result as JSON, in bytes.
    pub output_bytes: u64,
    /// How often the host was asked, including the clock and randomness, not including the log.
    pub host_calls: u64,
    /// The time that the guest ran.
    pub running: Duration,
    /// The time that the guest waited for the host.
    pub waiting: Duration,
}
