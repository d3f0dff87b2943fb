//! What a call needs and what it answers.

use std::fmt;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::component_tool::ComponentTool;
use crate::error::ToolError;
use crate::host::{CancelFlag, Host};
use crate::limits::Limits;
use crate::source::{Lang, Source};

/// A compiled script with the modules that it requires. Cloning it is cheap.
///
/// It can be run by any [`Sandbox`](crate::Sandbox) of this version; it is not meant to be stored.
#[derive(Clone)]
pub struct Chunk {
    /// The script's own source first, then those of its modules.
    pub(crate) sources: Arc<[Source]>,
    pub(crate) bytecode: Arc<[u8]>,
}

impl Chunk {
    /// The tool's file, which errors carry.
    pub fn file(&self) -> &str {
        &self.sources[0].file
    }

    /// The language that it was written in.
    pub fn lang(&self) -> Lang {
        self.sources[0].lang
    }

    /// The bytes that it occupies in memory.
    pub fn size(&self) -> usize {
        self.bytecode.len()
    }

    /// A chunk of any bytes, for the fuzzer: one that was not compiled here may fail in any way, but it must not harm
    /// the host.
    #[doc(hidden)]
    pub fn from_bytes(source: Source, bytes: Vec<u8>) -> Self {
        Self { sources: [source].into(), bytecode: bytes.into() }
    }

    /// What `compile` made, for the fuzzer to change.
    #[doc(hidden)]
    pub fn bytes(&self) -> &[u8] {
        &self.bytecode
    }
}

impl fmt::Debug for Chunk {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Chunk({}, {}, {} bytes)", self.file(), self.lang(), self.size())
    }
}

/// What a call runs. Cloning it is cheap.
#[derive(Debug, Clone)]
pub enum Program {
    /// A script.
    Script(Chunk),
    /// A component that is a tool by itself.
    Component(ComponentTool),
}

impl Program {
    /// The tool's file, which errors carry.
    pub fn file(&self) -> &str {
        match self {
            Self::Script(chunk) => chunk.file(),
            Self::Component(tool) => tool.file(),
        }
    }
}

impl From<Chunk> for Program {
    fn from(chunk: Chunk) -> Self {
        Self::Script(chunk)
    }
}

impl From<ComponentTool> for Program {
    fn from(tool: ComponentTool) -> Self {
        Self::Component(tool)
    }
}

/// A folder that a component which uses WASI can read.
#[derive(Debug, Clone)]
pub struct Folder {
    /// What the component knows it by.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
    /// What the path is of, when that is open already: `path` is then its entry below `/proc/self/fd`.
    pub opened: Option<Arc<OwnedFd>>,
}

/// One call of a tool.
pub struct Call {
    /// What is run.
    pub program: Program,
    /// A JSON object. Each of its keys becomes a global variable of the script; a tool reads `parameters`.
    pub variables: String,
    /// What the call may use up.
    pub limits: Limits,
    /// Ends the call from another thread.
    pub cancel: CancelFlag,
    /// What a component finds in its file system. Scripts have no files.
    pub folders: Vec<Folder>,
    /// Everything else that the tool can reach. It comes back in [`Finished`].
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
