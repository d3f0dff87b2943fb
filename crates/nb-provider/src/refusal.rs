//! Errors in the providers' words. Their forms differ little, and servers that imitate one provider tend to mix them.

use serde_json::Value;

/// What a provider says when it does not answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// The message. Empty: it has none.
    pub message: String,
    /// The code or type.
    pub code: Option<String>,
    /// The name of the request, where it stands in the body.
    pub request_id: Option<String>,
    /// The HTTP status that the error has, or would have had in place of the stream.
    pub status: Option<u16>,
}

impl Refusal {
    /// Reads `{error: {message, type, code, status}}`, `{error: "…"}`, `{message}`, `{detail}`, and a list with one of
    /// these in it.
    pub fn read(body: &Value) -> Self {
        let body = body.as_array().and_then(|list| list.first()).unwrap_or(body);
        let inner = match body.get("error") {
            Some(error @ Value::Object(_)) => error,
            _ => body,
        };
        let message =
            ["message", "error", "detail", "msg"].iter().find_map(|key| inner.get(*key)).map(text_of);
        // `code` is the more exact one where both are, as `context_length_exceeded` beside `invalid_request_error`.
        let word = |key: &str| inner.get(key).and_then(Value::as_str).map(str::to_owned);
        let number = inner.get("code").or_else(|| body.get("status_code")).and_then(Value::as_u64);
        Self {
            message: message.unwrap_or_default(),
            code: word("code").or_else(|| word("status")).or_else(|| word("type")),
            request_id: ["request_id", "id"]
                .iter()
                .find_map(|key| body.get(*key))
                .and_then(Value::as_str)
                .map(str::to_owned),
            status: number.and_then(|code| u16::try_from(code).ok()).filter(|code| (400..600).contains(code)),
        }
    }
}

impl Refusal {
    /// The same with texts of a length that a person reads. Errors are kept and shown in many places.
    pub fn bounded(mut self) -> Self {
        self.message = shortened(&self.message, 2_000);
        for word in [&mut self.code, &mut self.request_id].into_iter().flatten() {
            *word = shortened(word, 200);
        }
        self
    }
}

fn shortened(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// A text as it is; of a list of problems each message, with its place.
fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Object(map) => {
            let text = ["msg", "message", "detail"].iter().find_map(|key| map.get(*key));
            let place = map.get("loc").and_then(Value::as_array).map(|parts| {
                parts
                    .iter()
                    .map(|part| part.as_str().map_or_else(|| part.to_string(), str::to_owned))
                    .collect::<Vec<_>>()
                    .join(".")
            });
            match (text, place) {
                (Some(text), Some(place)) => format!("{place}: {}", text_of(text)),
                (Some(text), None) => text_of(text),
                (None, _) => value.to_string(),
            }
        }
        Value::Array(items) => items.iter().map(text_of).collect::<Vec<_>>().join("; "),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_forms_of_errors_are_read() {
        let cases = [
            (
                json!({"error": {"message": "bad key", "type": "invalid_request_error", "code": "invalid_api_key"}}),
                "bad key",
                Some("invalid_api_key"),
            ),
            (
                json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}, "request_id": "r"}),
                "Overloaded",
                Some("overloaded_error"),
            ),
            (
                json!([{"error": {"code": 400, "message": "no", "status": "INVALID_ARGUMENT"}}]),
                "no",
                Some("INVALID_ARGUMENT"),
            ),
            (json!({"error": "model 'x' not found"}), "model 'x' not found", None),
            (json!({"message": "invalid api token"}), "invalid api token", None),
            (
                json!({"detail": [{"loc": ["body", "messages", 0], "msg": "missing", "type": "m"}]}),
                "body.messages.0: missing",
                None,
            ),
            (
                json!({"object": "error", "message": {"detail": [{"loc": ["body"], "msg": "too much"}]}, "type": "t"}),
                "body: too much",
                Some("t"),
            ),
        ];
        for (body, message, code) in cases {
            let refusal = Refusal::read(&body);
            assert_eq!((refusal.message.as_str(), refusal.code.as_deref()), (message, code), "{body}");
        }
    }
}
