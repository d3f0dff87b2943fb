//! What the record of a run says of one message of a model.

use nb_provider::{ProviderId, Stop, Usage};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::budget::dollars;
use crate::record::abridged_text;

/// One answer of a model, or what came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelMessage {
    /// The provider.
    pub provider: ProviderId,
    /// The model that answered, or that was asked when none did.
    pub model: String,
    /// What it thought before it answered, where the provider shows it.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub thought: Value,
    /// The text, as far as it came. (A line of log has its own `text`.)
    pub said: Value,
    /// The tools that it wants called: a list of `{id, name, arguments}`.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub calls: Value,
    /// Why it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Stop>,
    /// The provider's own word for that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<String>,
    /// The tokens that it took.
    pub usage: Usage,
    /// Whether the provider did not tell the tokens: then they are a quarter of the characters.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub estimated: bool,
    /// What it cost in US dollars, when the price is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usd: Option<f64>,
    /// The provider's name for the request, for its support.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// Why there is no whole answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// How long it took, in milliseconds.
    pub ms: f64,
}

impl ModelMessage {
    /// In one line.
    pub(crate) fn in_words(&self) -> String {
        let mut words = format!("{} {}", self.provider, self.model);
        if let Some(error) = &self.error {
            return format!("{words} failed: {error}");
        }
        if self.said != "" {
            words += &format!(" said {}", abridged_text(&self.said));
        }
        let calls = self.calls.as_array().into_iter().flatten();
        let names: Vec<&str> = calls.filter_map(|call| call.get("name").and_then(Value::as_str)).collect();
        if !names.is_empty() {
            let and = if self.said == "" { "" } else { " and" };
            words += &format!("{and} calls {}", names.join(", "));
        }
        let about = if self.estimated { "about " } else { "" };
        let cost = self.usd.map(|usd| format!(", {}", dollars(usd))).unwrap_or_default();
        format!("{words} ({about}{} tokens in, {} out{cost})", self.usage.input, self.usage.output)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_message_is_told_in_one_line() {
        let message = ModelMessage {
            provider: ProviderId::Openai,
            model: "gpt-4o".to_owned(),
            thought: Value::Null,
            said: json!("It rains."),
            calls: json!([{"id": "1", "name": "weather", "arguments": {}}]),
            stop: None,
            stop_reason: None,
            usage: Usage { input: 12, output: 40, cached: 0 },
            estimated: false,
            usd: Some(0.00043),
            request_id: None,
            error: None,
            ms: 1.0,
        };
        assert_eq!(
            message.in_words(),
            "openai gpt-4o said \"It rains.\" and calls weather (12 tokens in, 40 out, $0.00043)"
        );
        let silent = ModelMessage { said: json!(""), usd: None, estimated: true, ..message.clone() };
        assert_eq!(silent.in_words(), "openai gpt-4o calls weather (about 12 tokens in, 40 out)");
        let failed = ModelMessage { error: Some("no".to_owned()), ..message };
        assert_eq!(failed.in_words(), "openai gpt-4o failed: no");
    }
}
