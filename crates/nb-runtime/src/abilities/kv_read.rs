//! `kv.read`: values of the agent's namespace, one or by prefix.

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::ability::{Ability, AbilityCall, Effect, Reply};

/// The most entries that one listing gives.
const MAX_LISTED: usize = 1000;
/// The most that one listing weighs, in bytes.
const MAX_LISTED_BYTES: usize = 4 << 20;

pub(super) struct KvRead;

#[derive(Deserialize)]
#[serde(tag = "op", rename_all = "lowercase")]
enum Args {
    Get { key: String },
    List { prefix: Option<String>, after: Option<String>, limit: Option<usize> },
}

#[async_trait]
impl Ability for KvRead {
    fn name(&self) -> &'static str {
        "kv.read"
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "op": {"enum": ["get", "list"], "default": "get"},
                "key": {"type": "string"},
                "prefix": {"type": "string"},
                "after": {"type": "string", "description": "The last key of the page before."},
                "limit": {"type": "integer", "minimum": 1, "maximum": MAX_LISTED}
            },
            "additionalProperties": false,
            "if": {"properties": {"op": {"const": "list"}}, "required": ["op"]},
            "else": {"required": ["key"]}
        })
    }

    fn effect(&self, _args: &Value) -> Effect {
        Effect::None
    }

    async fn invoke(&self, call: &AbilityCall<'_>, mut args: Value) -> Result<Reply, String> {
        if args.get("op").is_none() {
            args["op"] = json!("get");
        }
        let namespace = call.run.agent.spec.manifest.kv_namespace();
        let store = &call.run.engine.services().store;
        let value = match super::parse(args)? {
            Args::Get { key } => {
                store.kv_get(namespace, &key).map_err(|error| error.to_string())?.unwrap_or_default()
            }
            Args::List { prefix, after, limit } => {
                let limit = limit.unwrap_or(MAX_LISTED);
                let found = store.kv_list(namespace, &prefix.unwrap_or_default(), after.as_deref(), limit);
                let found = found.map_err(|error| error.to_string())?;
                let bytes: usize = found.iter().map(|(key, value)| key.len() + value.to_string().len()).sum();
                if bytes > MAX_LISTED_BYTES {
                    return Err(format!(
                        "the listing has {bytes} bytes; at most {MAX_LISTED_BYTES} are given: use a longer prefix or a smaller limit"
                    ));
                }
                found.into_iter().map(|(key, value)| json!({"key": key, "value": value})).collect()
            }
        };
        Ok(Reply::Value(value))
    }
}
