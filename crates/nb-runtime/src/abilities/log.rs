//! `log.info` and `log.error`: a line in the run's record and in the daemon's log.

use async_trait::async_trait;
use serde_json::{Value, json};

use crate::ability::{Ability, AbilityCall, Effect, Reply};
use crate::record::RunEvent;

pub(super) struct Log {
    name: &'static str,
    level: &'static str,
}

pub(super) const INFO: Log = Log { name: "log.info", level: "info" };
pub(super) const ERROR: Log = Log { name: "log.error", level: "error" };

#[async_trait]
impl Ability for Log {
    fn name(&self) -> &'static str {
        self.name
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {"message": {}},
            "required": ["message"],
            "additionalProperties": false
        })
    }

    fn effect(&self, _args: &Value) -> Effect {
        Effect::None
    }

    async fn invoke(&self, call: &AbilityCall<'_>, args: Value) -> Result<Reply, String> {
        let message = nb_spec::condition::as_text(&args["message"]);
        let (run, agent) = (&call.run.id, call.run.agent.name());
        if self.level == "error" {
            tracing::error!(target: "agent", %run, %agent, "{message}");
        } else {
            tracing::info!(target: "agent", %run, %agent, "{message}");
        }
        let event = RunEvent::Log { level: self.level.to_owned(), message };
        call.run.record(&event).map_err(|error| error.to_string())?;
        Ok(Reply::Value(Value::Null))
    }
}
