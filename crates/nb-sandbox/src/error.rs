//! How a tool, or the sandbox, can fail.

use serde::{Deserialize, Serialize};
use wasmtime::component::{ComponentType, Lift};

use crate::limits::Limit;

/// What is wrong with a script; `error-kind` of the guest's interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ComponentType, Lift)]
#[serde(rename_all = "snake_case")]
#[component(enum)]
#[repr(u8)]
pub enum ScriptErrorKind {
    /// The source is not a program of its language.
    #[component(name = "syntax")]
    Syntax,
    /// The script raised an error.
    #[component(name = "runtime")]
    Runtime,
    /// The script ran out of memory. [`ToolError::Limit`] tells of it instead.
    #[component(name = "memory")]
    Memory,
    /// The variables are not a JSON object, or the result has no JSON form.
    #[component(name = "value")]
    Value,
    /// The chunk was not compiled by this version of the guest.
    #[component(name = "chunk")]
    Chunk,
}

/// Why a tool gave no result. Each error carries the name of the tool's file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(tag = "error", rename_all = "snake_case")]
pub enum ToolError {
    /// The script is not a program, raised an error, or returned what has no JSON form.
    #[error("{tool}{}: {message}", line.map(|line| format!(":{line}")).unwrap_or_default())]
    Script {
        /// What is wrong.
        kind: ScriptErrorKind,
        /// The tool's file.
        tool: String,
        /// The line of the source, from 1, where it is known; for Fennel that of the Fennel source.
        line: Option<u32>,
        /// In words, without a position.
        message: String,
        /// One call per line, innermost first. Empty when nothing was called.
        traceback: String,
    },
    /// The call used up what it was given.
    #[error("{tool}: {limit}: {allowed}{} allowed, {used} used", limit.unit())]
    Limit {
        /// The tool's file.
        tool: String,
        /// Which limit.
        limit: Limit,
        /// The limit's value, in the unit of [`Limit::unit`].
        allowed: u64,
        /// What was used, or asked for, when the call was ended.
        used: u64,
    },
    /// [`CancelFlag::cancel`](crate::CancelFlag::cancel) was called.
    #[error("{tool}: cancelled")]
    Cancelled {
        /// The tool's file.
        tool: String,
    },
    /// The guest stopped in a way that no script should be able to cause.
    #[error("{tool}: the sandbox stopped this tool: {message}")]
    Crashed {
        /// The tool's file.
        tool: String,
        /// What the WebAssembly engine says.
        message: String,
    },
}

impl ToolError {
    /// The tool's file.
    pub fn tool(&self) -> &str {
        match self {
            Self::Script { tool, .. }
            | Self::Limit { tool, .. }
            | Self::Cancelled { tool }
            | Self::Crashed { tool, .. } => tool,
        }
    }
}

/// Why the sandbox cannot do its work.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// The WebAssembly engine does not work on this machine.
    #[error("cannot start the sandbox: {0}")]
    Engine(String),
    /// The guest component does not fit to this program.
    #[error("cannot use the guest component: {0}")]
    Component(String),
    /// A source text does not compile.
    #[error(transparent)]
    Compile(#[from] ToolError),
}
