//! `event.publish`: an event on the bus, under the agent's name.

use async_trait::async_trait;
use nb_spec::trigger::{check_event_name, event_segments};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::ability::{Ability, AbilityCall, Effect, Reply};

/// Events that only the daemon publishes: others must not be able to pretend that a run has ended.
const RESERVED: &[&str] = &["agent", "approval", "run"];
/// The most that an event's payload may weigh, in bytes.
const MAX_DATA_BYTES: usize = 256 << 10;

pub(super) struct EventPublish;

#[derive(Deserialize)]
struct Args {
    name: String,
    #[serde(default)]
    data: Value,
}

#[async_trait]
impl Ability for EventPublish {
    fn name(&self) -> &'static str {
        "event.publish"
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {"name": {"type": "string"}, "data": {}},
            "required": ["name"],
            "additionalProperties": false
        })
    }

    fn effect(&self, _args: &Value) -> Effect {
        Effect::Stored
    }

    async fn invoke(&self, call: &AbilityCall<'_>, args: Value) -> Result<Reply, String> {
        let Args { name, data } = super::parse(args)?;
        check_event_name(&name)?;
        if event_segments(&name).first().is_some_and(|first| RESERVED.contains(&first.as_str())) {
            return Err(format!(
                "event `{name}`: names that begin with {} are the daemon's own",
                RESERVED.join(", ")
            ));
        }
        let bytes = data.to_string().len();
        if bytes > MAX_DATA_BYTES {
            return Err(format!(
                "event `{name}`: the data has {bytes} bytes; at most {MAX_DATA_BYTES} are allowed"
            ));
        }
        let run = call.run;
        let seq = run
            .engine
            .publish(&name, data, run.agent.name(), run.depth)
            .map_err(|error| error.to_string())?;
        Ok(Reply::Value(json!({"seq": seq})))
    }
}
