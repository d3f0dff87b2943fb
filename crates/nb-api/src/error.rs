//! The one form of every refusal.

use serde::{Deserialize, Serialize};

/// Whose matter a failure is. The HTTP status and the exit code of a command follow from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    /// The request makes no sense as it stands.
    Usage,
    /// There is no such thing.
    NotFound,
    /// It clashes with what is there.
    Conflict,
    /// A rule forbids it: a signature, a permission, a limit.
    Refused,
    /// It was tried and failed.
    Failed,
    /// The daemon cannot be reached, or broke off.
    Unreachable,
}

/// A refusal, for people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct ApiError {
    /// Whose matter it is.
    pub kind: ErrorKind,
    /// What is wrong.
    pub message: String,
    /// What a person can do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl ApiError {
    /// A refusal without a hint.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hint: None }
    }

    /// The same with a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl ErrorKind {
    /// The HTTP status that carries it.
    pub fn status(self) -> u16 {
        match self {
            Self::Usage => 400,
            Self::NotFound => 404,
            Self::Conflict => 409,
            Self::Refused => 403,
            Self::Failed => 500,
            Self::Unreachable => 503,
        }
    }

    /// The exit code of a command that ends with it.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Usage => 2,
            _ => 1,
        }
    }
}
