//! What the abilities that ask the agent's model have in common.

use async_trait::async_trait;
use serde_json::Value;

use crate::ability::{Ability, AbilityCall, Effect, Reply};

/// An ability that asks the agent's model. Its scopes are hosts.
#[async_trait]
pub(super) trait AsksModel: Send + Sync {
    /// The ability's name.
    const NAME: &'static str;

    /// JSON Schema of the arguments.
    fn schema(&self) -> Value;

    /// Asks. The error is a sentence.
    async fn ask(&self, call: &AbilityCall<'_>, args: Value) -> Result<Value, String>;
}

#[async_trait]
impl<A: AsksModel> Ability for A {
    fn name(&self) -> &'static str {
        A::NAME
    }

    fn schema(&self) -> Value {
        AsksModel::schema(self)
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
        // It costs, answers something else, and its tools may have done anything.
        false
    }

    fn heeds_cancel(&self) -> bool {
        true
    }

    async fn invoke(&self, call: &AbilityCall<'_>, args: Value) -> Result<Reply, String> {
        self.ask(call, args).await.map(Reply::Value)
    }
}
