//! `flow.branch`: a comparison, as true or false.

use async_trait::async_trait;
use nb_spec::condition::{Op, holds};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::ability::{Ability, AbilityCall, Effect, Reply};

pub(super) struct FlowBranch;

#[derive(Deserialize)]
struct Args {
    #[serde(default)]
    left: Value,
    op: Op,
    #[serde(default)]
    value: Value,
}

#[async_trait]
impl Ability for FlowBranch {
    fn name(&self) -> &'static str {
        "flow.branch"
    }

    fn schema(&self) -> Value {
        let ops = [
            "equals",
            "not_equals",
            "contains",
            "greater_than",
            "less_than",
            "is_empty",
            "is_not_empty",
            "matches",
        ];
        json!({
            "type": "object",
            "properties": {
                "left": {"description": "What is compared; in a chain `ref_key` names it instead."},
                "op": {"enum": ops},
                "value": {}
            },
            "required": ["op"],
            "additionalProperties": false
        })
    }

    fn effect(&self, _args: &Value) -> Effect {
        Effect::None
    }

    async fn invoke(&self, _call: &AbilityCall<'_>, args: Value) -> Result<Reply, String> {
        let Args { left, op, value } = super::parse(args)?;
        holds(Some(&left), op, &value).map(|holds| Reply::Value(Value::Bool(holds)))
    }
}
