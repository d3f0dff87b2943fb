//! What went wrong in a script, where, and what to do about it.

use std::fmt;

use serde::{Deserialize, Serialize};
use wasmtime::component::{ComponentType, Lift};

use crate::explain::excerpt::caret;

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
    /// The script ran out of memory. [`ToolError::Limit`](crate::ToolError::Limit) tells of it instead.
    #[component(name = "memory")]
    Memory,
    /// The variables are not a JSON object, or the result has no JSON form.
    #[component(name = "value")]
    Value,
    /// The chunk was not compiled by this version of the guest.
    #[component(name = "chunk")]
    Chunk,
}

/// A place in a source text; `position` of the guest's interface.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ComponentType, Lift)]
#[component(record)]
pub struct Position {
    /// The file: the tool's own, or one that it requires.
    pub file: String,
    /// From 1; for Fennel the line of the Fennel source.
    pub line: u32,
    /// From 1, in characters, where it is known.
    pub column: Option<u32>,
}

/// An error of a script. It is shown with the line of the source and a caret under the column, where both are known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScriptError {
    /// What is wrong.
    pub kind: ScriptErrorKind,
    /// The tool's file.
    pub tool: String,
    /// Where, if that is known.
    pub position: Option<Position>,
    /// In words, without a position.
    pub message: String,
    /// The line of the source at [`position`](Self::position).
    pub excerpt: Option<String>,
    /// What to do about it, where that can be told.
    pub hint: Option<String>,
    /// One call per line, innermost first. Empty when nothing was called.
    pub traceback: String,
}

impl ScriptError {
    /// An error of running that is nowhere in particular.
    pub fn new(tool: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            kind: ScriptErrorKind::Runtime,
            tool: tool.into(),
            position: None,
            message: message.into(),
            excerpt: None,
            hint: None,
            traceback: String::new(),
        }
    }
}

impl std::error::Error for ScriptError {}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.position {
            None => write!(f, "{}", self.tool)?,
            Some(Position { file, line, column: None }) => write!(f, "{file}:{line}")?,
            Some(Position { file, line, column: Some(column) }) => write!(f, "{file}:{line}:{column}")?,
        }
        write!(f, ": {}", self.message)?;
        if let (Some(position), Some(excerpt)) = (&self.position, &self.excerpt) {
            let number = position.line.to_string();
            write!(f, "\n  {number} | {excerpt}")?;
            if let Some(column) = position.column {
                // A tab in front of the caret keeps it under its character.
                let before = excerpt.chars().take(caret(column).saturating_sub(1));
                let blank: String = before.map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
                write!(f, "\n  {} | {blank}^", " ".repeat(number.len()))?;
            }
        }
        match &self.hint {
            Some(hint) => write!(f, "\nhint: {hint}"),
            None => Ok(()),
        }
    }
}
