//! Every refusal in one form.

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use nb_api::{ApiError, ErrorKind};
use nb_runtime::StartError;
use nb_store::StoreError;

/// An [`ApiError`] as a response.
#[derive(Debug)]
pub struct Refusal(pub ApiError);

/// What a handler gives.
pub type Answer<T> = Result<axum::Json<T>, Refusal>;

impl<E: Into<ApiError>> From<E> for Refusal {
    fn from(error: E) -> Self {
        Self(error.into())
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.0.kind.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let body = serde_json::to_vec(&self.0).unwrap_or_default();
        (status, [(header::CONTENT_TYPE, "application/json")], body).into_response()
    }
}

/// A route that does not exist: an older daemon and a newer client, most likely.
pub async fn no_route() -> Refusal {
    Refusal(
        ApiError::new(ErrorKind::NotFound, "this daemon does not know that request")
            .hint("is the client newer than the daemon?"),
    )
}

/// Something that was tried and failed.
pub fn failed(error: impl std::fmt::Display) -> ApiError {
    ApiError::new(ErrorKind::Failed, error.to_string())
}

/// A failure of the store.
pub fn store_failed(error: StoreError) -> ApiError {
    failed(error)
}

/// Why a run did not start.
pub fn not_started(error: &StartError) -> ApiError {
    let message = error.to_string();
    match error {
        StartError::NoAgent(name) => crate::installer::no_agent(name),
        StartError::Stopped(name) => {
            ApiError::new(ErrorKind::Conflict, message).hint(format!("nbctl start {name}"))
        }
        StartError::NoTarget(_) => ApiError::new(ErrorKind::NotFound, message),
        StartError::Parameters(_) => ApiError::new(ErrorKind::Usage, message),
        StartError::Broken { .. } | StartError::Depth(_) | StartError::Store(_) => failed(message),
        StartError::Shutdown => ApiError::new(ErrorKind::Unreachable, message),
    }
}
