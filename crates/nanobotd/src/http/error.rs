//! Every refusal in one form.

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use nb_api::{ApiError, ErrorKind};

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
