//! `llm.query`: one question to the agent's model.

use async_trait::async_trait;
use nb_provider::Turn;
use nb_spec::condition::as_text;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::ability::{Ability, AbilityCall, Effect, Reply};
use crate::models::{begin, talk};

pub(super) struct LlmQuery;

#[derive(Deserialize)]
struct Args {
    prompt: Value,
    system: Option<String>,
}

#[async_trait]
impl Ability for LlmQuery {
    fn name(&self) -> &'static str {
        "llm.query"
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "prompt": {"description": "The question; other values are asked as JSON.", "minLength": 1},
                "system": {"type": "string", "description": "In place of the cartridge's directive."}
            },
            "required": ["prompt"],
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
        // It costs, and answers something else.
        false
    }

    fn heeds_cancel(&self) -> bool {
        true
    }

    async fn invoke(&self, call: &AbilityCall<'_>, args: Value) -> Result<Reply, String> {
        let Args { prompt, system } = super::parse(args)?;
        let turns = vec![Turn::User(as_text(&prompt))];
        let (model, chat) = begin(call, self.name(), system, turns)?;
        let said = talk(call.run, &model, chat, 0).await?;
        Ok(Reply::Value(Value::String(said.text)))
    }
}
