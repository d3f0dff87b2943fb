//! Notifications on the desktop: `org.freedesktop.Notifications` on the session bus.

use std::collections::HashMap;
use std::time::Duration;

use async_trait::async_trait;
use nb_runtime::services::{Notification, Notifier, Priority};
use tokio::sync::Mutex;
use zbus::{Connection, Error, Variant, fdo};

/// A bus or a server that does not answer within this time is none.
const DEADLINE: Duration = Duration::from_secs(3);
/// More of a text, in characters, does not fit on a screen; the run's record has it whole.
const LONGEST: usize = 4000;

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
        let ask = async { self.connected().await?.get_server_information().await };
        in_time(ask).await.map(|(name, ..)| name)
    }

    async fn connected(&self) -> zbus::Result<NotificationsProxy<'static>> {
        let mut kept = self.connection.lock().await;
        let connection = match kept.take().filter(|connection| !connection.is_closed()) {
            Some(connection) => connection,
            None => Connection::session().await?,
        };
        NotificationsProxy::new(kept.insert(connection)).await
    }
}

async fn in_time<T>(ask: impl Future<Output = zbus::Result<T>>) -> Result<T, String> {
    match tokio::time::timeout(DEADLINE, ask).await {
        Ok(answer) => answer.map_err(|error| reason(&error)),
        Err(_) => Err(format!("the desktop did not answer within {} s", DEADLINE.as_secs())),
    }
}

fn reason(error: &Error) -> String {
    match error {
        Error::Connection(_, address) => format!("there is no session bus: nothing answers at {address}"),
        Error::Address(problem) => {
            format!("there is no session bus: DBUS_SESSION_BUS_ADDRESS is wrong: {problem}")
        }
        Error::Handshake(problem) => format!("the session bus refuses nanobotd: {problem}"),
        Error::InputOutput(_) => "the connection to the session bus was lost".to_owned(),
        Error::FDO(error) => match error.as_ref() {
            fdo::Error::ServiceUnknown(_) | fdo::Error::NameHasNoOwner(_) => {
                "no notification server runs on the session bus".to_owned()
            }
            fdo::Error::NoReply(_) | fdo::Error::Disconnected(_) => {
                "the notification server ended before it answered".to_owned()
            }
            // The bus starts a server that is installed, and that may need a screen which is not there.
            fdo::Error::SpawnExecFailed(why)
            | fdo::Error::SpawnChildExited(why)
            | fdo::Error::SpawnChildSignaled(why)
            | fdo::Error::SpawnFailed(why)
            | fdo::Error::TimedOut(why) => format!("the notification server does not start: {why}"),
            other => format!("the notification server refuses: {other}"),
        },
        other => format!("the notification server refuses: {other}"),
    }
}

async fn notify(server: &NotificationsProxy<'static>, notification: &Notification) -> zbus::Result<u32> {
    let urgency: u8 = match notification.priority {
        Priority::Low => 0,
        Priority::Normal | Priority::High => 1,
        Priority::Urgent => 2,
    };
    let capabilities = server.get_capabilities().await?;
    let title = printable(&notification.title);
    let body = printable(&notification.body);
    // A server that understands markup would hide text that looks like a tag, or follow a link in it.
    let body =
        if capabilities.iter().any(|capability| capability == "body-markup") { escape(&body) } else { body };
    let hints = HashMap::from([("urgency", Variant::U8(urgency))]);
    server.notify(&notification.agent, 0, "", &title, &body, &[], hints, -1).await
}

#[async_trait]
impl Notifier for Desktop {
    async fn show(&self, notification: &Notification) -> Result<(), String> {
        let show = async { notify(&self.connected().await?, notification).await };
        in_time(show).await.map(drop)
    }
}

/// A text without the characters that have no shape. One of them, NUL, a bus answers by closing the connection.
fn printable(text: &str) -> String {
    let mut shapes = text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t'));
    let mut shown: String = shapes.by_ref().take(LONGEST).collect();
    if shapes.next().is_some() {
        shown.push('…');
    }
    shown
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

    #[test]
    fn a_text_is_cut_to_what_a_screen_can_show() {
        assert_eq!(printable("a\0b\u{1b}[31m\tc\nd"), "ab[31m\tc\nd");
        let long = printable(&"ü".repeat(LONGEST + 1));
        assert_eq!((long.chars().count(), long.ends_with("ü…")), (LONGEST + 1, true));
        assert_eq!(printable(&"ü".repeat(LONGEST)).chars().last(), Some('ü'));
    }
}
