//! What is refused or failed, in words for people.

use nb_api::{ApiError, ErrorKind};
use nb_runtime::StartError;

/// Something that was tried and failed.
pub fn failed(error: impl std::fmt::Display) -> ApiError {
    ApiError::new(ErrorKind::Failed, error.to_string())
}

/// Something that a rule forbids.
pub fn refused(error: impl std::fmt::Display) -> ApiError {
    ApiError::new(ErrorKind::Refused, error.to_string())
}

/// An agent that is not there.
pub fn no_agent(name: &str) -> ApiError {
    ApiError::new(ErrorKind::NotFound, format!("there is no agent `{name}`"))
        .hint("nbctl ls shows which there are")
}

/// Why a run did not start.
pub fn not_started(error: &StartError) -> ApiError {
    let message = error.to_string();
    match error {
        StartError::NoAgent(name) => no_agent(name),
        StartError::Stopped(name) => {
            ApiError::new(ErrorKind::Conflict, message).hint(format!("nbctl start {name}"))
        }
        StartError::NoTarget(_) => ApiError::new(ErrorKind::NotFound, message),
        StartError::Parameters(_) => ApiError::new(ErrorKind::Usage, message),
        StartError::Broken { .. } | StartError::Depth(_) | StartError::Store(_) => failed(message),
        StartError::Shutdown => ApiError::new(ErrorKind::Unreachable, message),
    }
}
