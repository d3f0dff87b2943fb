//! A transcript as a local server that speaks OpenAI's chat completions, for programs that are not ours.

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::rejection::BytesRejection;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::chat::{Chat, ToolResult, Turn};

use super::script::{Planned, Script, unanswered};

/// The largest request: long conversations with pictures in them have a few MiB.
const MAX_BYTES: usize = 16 << 20;

/// One request that was answered, for whoever watches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Served {
    /// The number of the turn that answered, counted from 1. None: there was none.
    pub turn: Option<usize>,
    /// What was asked last, shortened.
    pub asked: String,
}

struct Shared {
    script: Script,
    watch: Box<dyn Fn(Served) + Send + Sync>,
}

/// Serves until the listener breaks or the future is dropped. `watch` is told each request.
///
/// # Errors
/// What the listener says.
pub async fn serve(
    script: Script,
    listener: TcpListener,
    watch: impl Fn(Served) + Send + Sync + 'static,
) -> std::io::Result<()> {
    let shared = Arc::new(Shared { script, watch: Box::new(watch) });
    let router = Router::new()
        .route("/v1/chat/completions", post(completions))
        .route("/chat/completions", post(completions))
        .route("/v1/models", get(models))
        .fallback(|| async {
            refused(404, "this server has POST /v1/chat/completions and GET /v1/models", None)
        })
        .layer(DefaultBodyLimit::max(MAX_BYTES))
        .with_state(shared);
    axum::serve(listener, router).await
}

async fn models() -> Json<Value> {
    Json(json!({"object": "list", "data": [
        {"id": "scripted", "object": "model", "created": 0, "owned_by": "transcript"},
    ]}))
}

async fn completions(State(shared): State<Arc<Shared>>, body: Result<Bytes, BytesRejection>) -> Response {
    let body = match body {
        Ok(body) => body,
        Err(error) if error.status() == StatusCode::PAYLOAD_TOO_LARGE => {
            return refused(413, &format!("the body has more than {MAX_BYTES} bytes"), None);
        }
        Err(error) => return refused(400, &error.body_text(), None),
    };
    let request: Value = match serde_json::from_slice(&body) {
        Ok(request) => request,
        Err(error) => return refused(400, &format!("the body is no JSON: {error}"), None),
    };
    let chat = match chat_of(&request) {
        Ok(chat) => chat,
        Err(reason) => return refused(400, &reason, None),
    };
    let planned = shared.script.plan(&chat);
    let asked = match chat.turns.last() {
        Some(Turn::User(text)) => text.chars().take(80).collect(),
        Some(Turn::Results(results)) => format!("results of {} calls", results.len()),
        _ => String::new(),
    };
    (shared.watch)(Served { turn: planned.as_ref().map(|planned| planned.number), asked });
    let Some(planned) = planned else {
        return refused(400, &unanswered(&chat), None);
    };
    let model = request.get("model").and_then(Value::as_str).unwrap_or("scripted").to_owned();
    let stream = request.get("stream") == Some(&json!(true));
    tokio::time::sleep(planned.delay).await;
    if let Some(error) = planned.error.as_ref().filter(|_| !stream || planned.pieces.is_empty()) {
        let response = refused(error.status, &error.message, error.code.as_deref());
        return match error.retry_after {
            Some(seconds) => ([(header::RETRY_AFTER, seconds.to_string())], response).into_response(),
            None => response,
        };
    }
    if stream {
        let usage = request.pointer("/stream_options/include_usage") == Some(&json!(true));
        return streamed(planned, &model, usage);
    }
    if planned.breaks_off {
        // The head promises a body, and the connection closes.
        let broken =
            futures_util::stream::once(async { Err::<Bytes, _>(std::io::Error::other("broke off")) });
        return Response::new(Body::from_stream(broken));
    }
    let text = planned.pieces.concat();
    let mut message =
        json!({"role": "assistant", "content": if text.is_empty() { Value::Null } else { json!(text) }});
    if !planned.calls.is_empty() {
        message["tool_calls"] = calls(&planned);
    }
    Json(json!({
        "id": "chatcmpl-scripted", "object": "chat.completion", "created": 0, "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": planned.stop}],
        "usage": usage_of(&planned),
    }))
    .into_response()
}

/// The answer as events. They are made before they are sent: transcripts are short.
fn streamed(planned: Planned, model: &str, with_usage: bool) -> Response {
    let chunk = |choices: Value| json!({"id": "chatcmpl-scripted", "object": "chat.completion.chunk", "created": 0, "model": model, "choices": choices});
    let delta = |delta: Value| chunk(json!([{"index": 0, "delta": delta, "finish_reason": null}]));
    let mut events = vec![delta(json!({"role": "assistant", "content": ""}))];
    events.extend(planned.pieces.iter().map(|piece| delta(json!({"content": piece}))));
    let mut tail = Vec::new();
    if let Some(error) = &planned.error {
        tail.push(json!({"error": {"message": error.message, "type": "server_error", "code": error.code}}));
    } else if !planned.breaks_off {
        if let Value::Array(list) = calls(&planned) {
            for (index, mut call) in list.into_iter().enumerate() {
                call["index"] = json!(index);
                tail.push(delta(json!({"tool_calls": [call]})));
            }
        }
        tail.push(chunk(json!([{"index": 0, "delta": {}, "finish_reason": planned.stop}])));
        if with_usage {
            let mut last = chunk(json!([]));
            last["usage"] = usage_of(&planned);
            tail.push(last);
        }
    }
    let ends_well = planned.error.is_none() && !planned.breaks_off;
    let lines: Vec<Bytes> = events
        .into_iter()
        .chain(tail)
        .map(|event| format!("data: {event}\n\n"))
        .chain(ends_well.then(|| "data: [DONE]\n\n".to_owned()))
        .map(Bytes::from)
        .collect();
    let (delay, pieces) = (planned.delay, planned.pieces.len());
    let body = futures_util::stream::unfold(lines.into_iter().enumerate(), move |mut lines| async move {
        let (index, line) = lines.next()?;
        // Line 0 is the role, and line 1 the first piece: it was waited for before the head.
        if (2..=pieces).contains(&index) {
            tokio::time::sleep(delay).await;
        }
        Some((Ok::<_, Infallible>(line), lines))
    });
    ([(header::CONTENT_TYPE, "text/event-stream")], Body::from_stream(body)).into_response()
}

fn calls(planned: &Planned) -> Value {
    let value = |call: &crate::Call| json!({"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments.to_text()}});
    planned.calls.iter().map(value).collect()
}

fn usage_of(planned: &Planned) -> Value {
    let usage = planned.usage;
    json!({
        "prompt_tokens": usage.input, "completion_tokens": usage.output, "total_tokens": usage.total(),
        "prompt_tokens_details": {"cached_tokens": usage.cached},
    })
}

fn refused(status: u16, message: &str, code: Option<&str>) -> Response {
    let kind = match status {
        401 => "authentication_error",
        403 => "permission_error",
        429 => "rate_limit_error",
        500.. => "server_error",
        _ => "invalid_request_error",
    };
    let body = json!({"error": {"message": message, "type": kind, "param": null, "code": code}});
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    (status, Json(body)).into_response()
}

/// What of a request a transcript can answer to.
fn chat_of(request: &Value) -> Result<Chat, String> {
    let messages = request.get("messages").and_then(Value::as_array).ok_or("the body has no `messages`")?;
    let mut chat = Chat::default();
    let mut named: Vec<(String, String)> = Vec::new();
    for message in messages {
        let text = match message.get("content") {
            Some(Value::Array(parts)) => {
                parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str)).collect()
            }
            other => other.and_then(Value::as_str).unwrap_or_default().to_owned(),
        };
        let word =
            |pointer: &str| message.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
        match message.get("role").and_then(Value::as_str) {
            Some("system" | "developer") => chat.directive = Some(text),
            Some("user") => chat.turns.push(Turn::User(text)),
            Some("assistant") => {
                for call in message.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
                    let word =
                        |pointer: &str| call.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
                    named.push((word("/id").to_owned(), word("/function/name").to_owned()));
                }
                chat.turns.push(Turn::Model(crate::Message { text, ..crate::Message::default() }));
            }
            Some("tool") => {
                let id = word("/tool_call_id");
                let name = named.iter().rfind(|(known, _)| *known == id).map(|(_, name)| name.clone());
                let is_error = text.starts_with("Error: ");
                let result = ToolResult { name: name.unwrap_or_default(), id, content: text, is_error };
                match chat.turns.last_mut() {
                    Some(Turn::Results(results)) => results.push(result),
                    _ => chat.turns.push(Turn::Results(vec![result])),
                }
            }
            other => return Err(format!("a message has the role {other:?}")),
        }
    }
    Ok(chat)
}
