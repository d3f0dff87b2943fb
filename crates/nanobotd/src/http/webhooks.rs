//! The TCP port: webhooks, and nothing else.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use nb_api::wake::DeliveryAnswer;
use nb_wake::webhooks::{Delivered, Refusal};
use serde_json::json;

use super::App;
use crate::views;

/// A sender may take this long for its body.
const BODY_DEADLINE: Duration = Duration::from_secs(10);
/// The longest that `?wait=` holds a request.
const MAX_WAIT: Duration = Duration::from_secs(60);

/// Every path is looked up among the webhooks of the agents.
pub fn routes(app: Arc<App>) -> Router {
    Router::new().fallback(receive).with_state(app)
}

async fn receive(State(app): State<Arc<App>>, request: Request) -> Response {
    match take(&app, request).await {
        Ok(response) => response,
        Err(refusal) => refuse(&refusal),
    }
}

async fn take(app: &App, request: Request) -> Result<Response, Refusal> {
    let webhooks = app.wake.webhooks();
    let hook = webhooks.find(request.method().as_str(), request.uri().path())?;
    let wait = match request.uri().query().map(wait) {
        Some(Err(())) => {
            return Ok(answer(StatusCode::BAD_REQUEST, &json!({"error": "wait is a duration such as 5s"})));
        }
        Some(Ok(wait)) => wait,
        None => None,
    };
    let headers = plain(request.headers());
    let body = match read(request.into_body(), app.config.max_body_bytes).await {
        Ok(body) => body,
        Err(status) => return Ok(answer(status, &json!({"error": status.canonical_reason()}))),
    };
    let (run, duplicate) = match webhooks.deliver(&hook, &headers, &body).await? {
        Delivered::Accepted(run) => (run, false),
        Delivered::Repeated(run) => (run, true),
    };
    if let Some(wait) = wait
        && let Ok(Ok(Some(row))) = tokio::time::timeout(wait, app.engine.finished(&run)).await
    {
        return Ok(answer(StatusCode::OK, &views::run(&row)));
    }
    let status = if duplicate { StatusCode::OK } else { StatusCode::ACCEPTED };
    Ok(answer(status, &DeliveryAnswer { run, duplicate }))
}

fn answer(status: StatusCode, body: &impl serde::Serialize) -> Response {
    let body = serde_json::to_vec(body).unwrap_or_default();
    (status, [(header::CONTENT_TYPE, "application/json")], body).into_response()
}

/// `wait=5s` of a query.
fn wait(query: &str) -> Result<Option<Duration>, ()> {
    let Some(text) = query.split('&').find_map(|pair| pair.strip_prefix("wait=")) else { return Ok(None) };
    let wait = nb_spec::timing::parse_period(text).map_err(drop)?.to_std().map_err(drop)?;
    Ok(Some(wait.min(MAX_WAIT)))
}

fn plain(headers: &HeaderMap) -> Vec<(String, String)> {
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    headers.iter().map(|(name, value)| (name.as_str().to_owned(), text(value))).collect()
}

async fn read(body: Body, cap: usize) -> Result<Vec<u8>, StatusCode> {
    match tokio::time::timeout(BODY_DEADLINE, to_bytes(body, cap)).await {
        Ok(Ok(bytes)) => Ok(bytes.into()),
        // The reader stops at the cap; a sender that broke off does not read the answer.
        Ok(Err(_)) => Err(StatusCode::PAYLOAD_TOO_LARGE),
        Err(_) => Err(StatusCode::REQUEST_TIMEOUT),
    }
}

fn refuse(refusal: &Refusal) -> Response {
    let status = match refusal {
        Refusal::NotFound => StatusCode::NOT_FOUND,
        Refusal::Method(_) => StatusCode::METHOD_NOT_ALLOWED,
        Refusal::TooMany => StatusCode::TOO_MANY_REQUESTS,
        Refusal::Unauthorized => StatusCode::UNAUTHORIZED,
        Refusal::Unavailable(_) => StatusCode::SERVICE_UNAVAILABLE,
    };
    let mut response = answer(status, &json!({"error": refusal.to_string()}));
    if let Refusal::Method(methods) = refusal
        && let Ok(value) = HeaderValue::from_str(&methods.join(", "))
    {
        response.headers_mut().insert(header::ALLOW, value);
    }
    response
}
