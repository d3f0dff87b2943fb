//! `flow.stop`: ends the task at once, as a success.

use async_trait::async_trait;
use serde_json::{Value, json};

use crate::ability::{Ability, AbilityCall, Effect, Reply};

pub(super) struct FlowStop;

#[async_trait]
impl Ability for FlowStop {
    fn name(&self) -> &'static str {
        "flow.stop"
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {"result": {}, "reason": {"type": "string"}},
            "additionalProperties": false
        })
    }

    fn effect(&self, _args: &Value) -> Effect {
        Effect::None
    }

    async fn invoke(&self, _call: &AbilityCall<'_>, args: Value) -> Result<Reply, String> {
        Ok(Reply::Stop(args.get("result").or(args.get("reason")).cloned().unwrap_or_default()))
    }
}
