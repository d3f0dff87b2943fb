//! `kv.write`: changes values of the agent's namespace.

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::ability::{Ability, AbilityCall, Effect, Reply};

pub(super) struct KvWrite;

#[derive(Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
enum Args {
    Set { key: String, value: Value },
    Delete { key: String },
    Increment { key: String, by: Option<i64> },
    CompareAndSet { key: String, expected: Option<Value>, value: Option<Value> },
}

#[async_trait]
impl Ability for KvWrite {
    fn name(&self) -> &'static str {
        "kv.write"
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "op": {"enum": ["set", "delete", "increment", "compare_and_set"], "default": "set"},
                "key": {"type": "string"},
                "value": {},
                "by": {"type": "integer"},
                "expected": {}
            },
            "required": ["key"],
            "additionalProperties": false,
            "if": {"properties": {"op": {"const": "set"}}},
            "then": {"required": ["value"]}
        })
    }

    fn effect(&self, _args: &Value) -> Effect {
        Effect::Stored
    }

    async fn invoke(&self, call: &AbilityCall<'_>, mut args: Value) -> Result<Reply, String> {
        if args.get("op").is_none() {
            args["op"] = json!("set");
        }
        let namespace = call.run.agent.spec.manifest.kv_namespace();
        let store = &call.run.engine.services().store;
        let value = match super::parse(args)? {
            Args::Set { key, value } => store.kv_set(namespace, &key, &value).map(|()| Value::Null),
            Args::Delete { key } => store.kv_delete(namespace, &key).map(Value::Bool),
            Args::Increment { key, by } => {
                store.kv_increment(namespace, &key, by.unwrap_or(1)).map(Value::from)
            }
            Args::CompareAndSet { key, expected, value } => {
                store.kv_compare_and_set(namespace, &key, expected.as_ref(), value.as_ref()).map(Value::Bool)
            }
        };
        value.map(Reply::Value).map_err(|error| error.to_string())
    }
}
