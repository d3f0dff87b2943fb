//! Notifications on the desktop: `org.freedesktop.Notifications` on the session bus.

use std::collections::HashMap;
use std::time::Duration;

use async_trait::async_trait;
use nb_runtime::services::{Notification, Notifier, Priority};
use tokio::sync::Mutex;
use zbus::{Connection, Variant};

/// A server that does not answer within this time is no server.
const DEADLINE: Duration = Duration::from_secs(3);

/// Desktop Notifications Specification 1.2.
#[zbus::proxy(
    interface = "org.freedesktop.Notifications",
    default_service = "org.freedesktop.Notifications",
    default_path = "/org/freedesktop/Notifications"
)]
trait Notifications {
    #[allow(clippy::too_many_arguments, reason = "the signature is the specification's")]
    fn notify(
        &self,
        app_name: &str,
        replaces_id: u32,
        app_icon: &str,
        summary: &str,
        body: &str,
        actions: &[&str],
        hints: HashMap<&str, Variant<'_>>,
        expire_timeout: i32,
    ) -> zbus::Result<u32>;

    fn get_capabilities(&self) -> zbus::Result<Vec<String>>;

    fn get_server_information(&self) -> zbus::Result<(String, String, String, String)>;
}

/// The session bus, connected when it is first needed and again after it was lost.
#[derive(Debug, Default)]
pub struct Desktop {
    connection: Mutex<Option<Connection>>,
}

impl Desktop {
    /// The name of the notification server, or why there is none.
    pub async fn server(&self) -> Result<String, String> {
        let ask = async {
            let server = self.connected().await?;
            match server.get_server_information().await {
                Err(zbus::Error::InputOutput(_)) => self.reconnected().await?.get_server_information().await,
                answer => answer,
            }
        };
        in_time(ask).await.map(|(name, ..)| name)
    }

    async fn connected(&self) -> zbus::Result<NotificationsProxy<'static>> {
        let mut kept = self.connection.lock().await;
        let connection = match kept.as_ref() {
            Some(connection) => connection.clone(),
            None => kept.insert(Connection::session().await?).clone(),
        };
        NotificationsProxy::new(&connection).await
    }

    async fn reconnected(&self) -> zbus::Result<NotificationsProxy<'static>> {
        *self.connection.lock().await = None;
        self.connected().await
    }
}

async fn in_time<T>(ask: impl Future<Output = zbus::Result<T>>) -> Result<T, String> {
    match tokio::time::timeout(DEADLINE, ask).await {
        Ok(answer) => answer.map_err(|error| reason(&error)),
        Err(_) => Err(format!("the notification server did not answer within {} s", DEADLINE.as_secs())),
    }
}

fn reason(error: &zbus::Error) -> String {
    match error {
        zbus::Error::MethodError(name, _, _) if name.as_str().ends_with(".ServiceUnknown") => {
            "no notification server runs on the session bus".to_owned()
        }
        zbus::Error::InputOutput(_) | zbus::Error::Address(_) => "there is no session bus".to_owned(),
        other => other.to_string(),
    }
}

async fn notify(server: &NotificationsProxy<'static>, notification: &Notification) -> zbus::Result<u32> {
    let urgency: u8 = match notification.priority {
        Priority::Low => 0,
        Priority::Normal | Priority::High => 1,
        Priority::Urgent => 2,
    };
    let capabilities = server.get_capabilities().await?;
    // A server that understands markup would hide text that looks like a tag, or follow a link in it.
    let body = if capabilities.iter().any(|capability| capability == "body-markup") {
        escape(&notification.body)
    } else {
        notification.body.clone()
    };
    let hints = HashMap::from([("urgency", Variant::U8(urgency))]);
    server.notify(&notification.agent, 0, "", &notification.title, &body, &[], hints, -1).await
}

#[async_trait]
impl Notifier for Desktop {
    async fn show(&self, notification: &Notification) -> Result<(), String> {
        let show = async {
            match notify(&self.connected().await?, notification).await {
                // The session bus went away; there may be a new one.
                Err(zbus::Error::InputOutput(_)) => notify(&self.reconnected().await?, notification).await,
                answer => answer,
            }
        };
        in_time(show).await.map(drop)
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_in_a_notification_is_shown_and_not_followed() {
        assert_eq!(escape("<a href='x'>R&D</a>"), "&lt;a href='x'&gt;R&amp;D&lt;/a&gt;");
    }
}
