//! How a tool, or the sandbox, can fail.

use serde::{Deserialize, Serialize};

use crate::limits::{Limit, MAX_MEMORY_BYTES};
use crate::script_error::ScriptError;

/// Why a tool gave no result. Each error carries the name of the tool's file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(tag = "error", rename_all = "snake_case")]
pub enum ToolError {
    /// The script is not a program, raised an error, or returned what has no JSON form.
    #[error(transparent)]
    Script(Box<ScriptError>),
    /// The call used up what it was given, or compiling used up its own budget.
    #[error("{}", limit_words(.tool, *.limit, *.allowed, *.used, *.compiling))]
    Limit {
        /// The tool's file.
        tool: String,
        /// Which limit.
        limit: Limit,
        /// The limit's value, in the unit of [`Limit::unit`].
        allowed: u64,
        /// What was used, or asked for, when the call was ended.
        used: u64,
        /// Whether it was the budget for compiling, which no key changes, and not one of the call's limits.
        compiling: bool,
    },
    /// [`CancelFlag::cancel`](crate::CancelFlag::cancel) was called.
    #[error("{tool}: cancelled")]
    Cancelled {
        /// The tool's file.
        tool: String,
    },
    /// It ended without an answer: the guest in a way that no script should be able to cause, or the process of a native
    /// tool.
    #[error("{tool}: it broke off: {message}")]
    Crashed {
        /// The tool's file.
        tool: String,
        /// What the WebAssembly engine says.
        message: String,
    },
}

impl ToolError {
    /// The same error of compiling: its limits are those of the budget that every source has.
    #[must_use]
    pub fn while_compiling(mut self) -> Self {
        if let Self::Limit { compiling, .. } = &mut self {
            *compiling = true;
        }
        self
    }

    /// The tool's file.
    pub fn tool(&self) -> &str {
        match self {
            Self::Script(error) => &error.tool,
            Self::Limit { tool, .. } | Self::Cancelled { tool } | Self::Crashed { tool, .. } => tool,
        }
    }
}

/// A limit with both figures, and what to do about it.
fn limit_words(tool: &str, limit: Limit, allowed: u64, used: u64, compiling: bool) -> String {
    let unit = limit.unit();
    let used = match limit {
        // Memory that was denied was never had.
        Limit::Memory if used > allowed => format!("{used} asked for"),
        // Nobody counted further.
        Limit::Message => "more asked for".to_owned(),
        _ => format!("{used} used"),
    };
    let (during, hint) = if compiling {
        let hint = "this is the budget for compiling, the same for every tool and not the tool's own; a macro that \
                    does not end, or a very large source, uses it up";
        (" while compiling", hint.to_owned())
    } else {
        ("", limit_hint(limit, allowed))
    };
    format!("{tool}: {limit}{during}: {allowed}{unit} allowed, {used}\nhint: {hint}")
}

fn limit_hint(limit: Limit, allowed: u64) -> String {
    match limit {
        Limit::Fuel => format!("a loop or a recursion may not end; otherwise {}", limit.how_to_raise()),
        Limit::Memory if allowed >= MAX_MEMORY_BYTES => {
            "this is the most that a tool can have; keep less at a time".to_owned()
        }
        _ => limit.how_to_raise().to_owned(),
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
    /// A component cannot be a tool.
    #[error("{file} cannot be a tool: {message}")]
    Tool {
        /// The tool's file.
        file: String,
        /// Why.
        message: String,
    },
    /// A source text does not compile.
    #[error(transparent)]
    Compile(#[from] ToolError),
}
