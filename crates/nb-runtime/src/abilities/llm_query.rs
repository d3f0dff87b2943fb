//! `llm.query`: one question to the agent's model.

use async_trait::async_trait;
use nb_provider::Turn;
use nb_spec::condition::as_text;
use serde::Deserialize;
use serde_json::{Value, json};

use super::asks_model::AsksModel;
use crate::ability::AbilityCall;
use crate::models::{answer_to, begin};

pub(super) struct LlmQuery;

#[derive(Deserialize)]
struct Args {
    prompt: Value,
    system: Option<String>,
}

#[async_trait]
impl AsksModel for LlmQuery {
    const NAME: &'static str = "llm.query";

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

    async fn ask(&self, call: &AbilityCall<'_>, args: Value) -> Result<Value, String> {
        let Args { prompt, system } = super::parse(args)?;
        let turns = vec![Turn::User(as_text(&prompt))];
        let (model, chat) = begin(call, Self::NAME, system, turns)?;
        answer_to(call.run, &model, chat).await.map(Value::String)
    }
}
