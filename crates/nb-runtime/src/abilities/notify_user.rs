//! `notify.user`: a notification on the desktop, or in the inbox when none can be shown.

use async_trait::async_trait;
use nb_store::InboxRow;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::ability::{Ability, AbilityCall, Effect, Reply};
use crate::services::{Notification, Priority, Services};

pub(super) struct NotifyUser;

#[derive(Deserialize)]
struct Args {
    title: Option<String>,
    message: Option<Value>,
    body: Option<Value>,
    #[serde(default)]
    priority: Priority,
}

#[async_trait]
impl Ability for NotifyUser {
    fn name(&self) -> &'static str {
        "notify.user"
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "title": {"type": "string", "maxLength": 200},
                "message": {"description": "The text; other values are shown as JSON."},
                "body": {"description": "The same as `message`."},
                "priority": {"enum": ["low", "normal", "high", "urgent"]}
            },
            "anyOf": [{"required": ["message"]}, {"required": ["body"]}, {"required": ["title"]}],
            "additionalProperties": false
        })
    }

    fn effect(&self, _args: &Value) -> Effect {
        Effect::Outside
    }

    fn may_repeat(&self, _args: &Value) -> bool {
        // A notification that is seen twice is better than one that is never seen.
        true
    }

    async fn invoke(&self, call: &AbilityCall<'_>, args: Value) -> Result<Reply, String> {
        let args: Args = super::parse(args)?;
        let run = call.run;
        let body =
            args.message.or(args.body).map(|body| nb_spec::condition::as_text(&body)).unwrap_or_default();
        let notification = Notification {
            agent: run.agent.name().to_owned(),
            run: run.id.clone(),
            title: args.title.unwrap_or_else(|| run.agent.name().to_owned()),
            body,
            priority: args.priority,
        };
        deliver(run.engine.services(), notification).await.map(Reply::Value)
    }
}

/// Shows a notification, or puts it into the inbox; says which.
///
/// # Errors
/// What the store says.
pub(crate) async fn deliver(services: &Services, notification: Notification) -> Result<Value, String> {
    let Err(reason) = services.notifier.show(&notification).await else {
        return Ok(json!({"shown": "desktop"}));
    };
    let row = InboxRow {
        seq: 0,
        at: services.world.now(),
        agent: notification.agent,
        run: Some(notification.run),
        title: notification.title,
        body: notification.body,
        priority: notification.priority.name().to_owned(),
    };
    services.store.put_inbox(&row).map_err(|error| error.to_string())?;
    services.store.commit().await.map_err(|error| error.to_string())?;
    Ok(json!({"shown": "inbox", "reason": reason}))
}
