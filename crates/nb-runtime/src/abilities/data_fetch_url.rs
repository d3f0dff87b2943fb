//! `data.fetch_url`: the text behind an address. A failure is a failure.

use async_trait::async_trait;
use nb_egress::Request;
use serde_json::{Value, json};

use super::http_fetch::send;
use crate::ability::{Ability, AbilityCall, Effect, Reply};

pub(super) struct DataFetchUrl;

#[async_trait]
impl Ability for DataFetchUrl {
    fn name(&self) -> &'static str {
        "data.fetch_url"
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {"url": {"type": "string"}},
            "required": ["url"],
            "additionalProperties": false
        })
    }

    fn has_scopes(&self) -> bool {
        true
    }

    fn effect(&self, _args: &Value) -> Effect {
        Effect::Outside
    }

    fn leaves_machine(&self) -> bool {
        true
    }

    fn may_repeat(&self, _args: &Value) -> bool {
        true
    }

    async fn invoke(&self, call: &AbilityCall<'_>, args: Value) -> Result<Reply, String> {
        let url = args["url"].as_str().unwrap_or_default();
        let response = send(call, Request::get(url)).await?;
        if !(200..300).contains(&response.status) {
            return Err(format!("{url} answered {}", response.status));
        }
        Ok(Reply::Value(Value::String(String::from_utf8_lossy(&response.body).into_owned())))
    }
}
