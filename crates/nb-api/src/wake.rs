//! Events, schedules and webhooks.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// `POST /v1/events`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PublishRequest {
    /// Such as `weather.alert`.
    pub name: String,
    /// The payload.
    #[serde(default)]
    pub data: Value,
}

/// An event of the bus: the answer of `POST /v1/events` and a line of `GET /v1/events`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EventView {
    /// Counts from 1 for the life of the store.
    pub seq: u64,
    /// `evt_<ulid>`.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its payload.
    pub data: Value,
    /// Who published it: an agent, `daemon` or `person`.
    pub source: String,
    /// When.
    pub at: DateTime<Utc>,
}

/// Query of `GET /v1/events`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct EventsQuery {
    /// Only events after this one. Default: the last 20.
    pub after: Option<u64>,
    /// Go on with what comes next.
    pub follow: bool,
}

/// A line of `GET /v1/schedules`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScheduleView {
    /// The agent.
    pub agent: String,
    /// The trigger's id within the agent.
    pub trigger: String,
    /// The chain it runs.
    pub chain: String,
    /// `every 10m`, `cron 0 9 * * 1-5 Europe/Rome` …
    pub timing: String,
    /// The next times; empty while the agent is stopped.
    pub next: Vec<DateTime<Utc>>,
    /// The latest decided slots, the newest first.
    pub last: Vec<SlotView>,
}

/// A slot of a schedule that was decided.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SlotView {
    /// The scheduled time.
    pub at: DateTime<Utc>,
    /// The run it started.
    pub run: Option<String>,
    /// How that run stands.
    pub status: Option<String>,
    /// Why it started none.
    pub skipped: Option<String>,
}

/// A line of `GET /v1/webhooks`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WebhookView {
    /// The agent.
    pub agent: String,
    /// The path as written.
    pub path: String,
    /// Where it is served now.
    pub url: String,
    /// The chain it runs.
    pub chain: String,
    /// `hmac`, `github`, `none` …
    pub verify: String,
    /// The methods it takes.
    pub methods: Vec<String>,
    /// Why every request is turned away, when it is: the secret is missing, the agent is stopped.
    pub problem: Option<String>,
}

/// Query of `POST /v1/webhooks/sign` (body: the body that is to be sent): a request as its sender would sign it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignQuery {
    /// The agent.
    pub agent: String,
    /// The webhook's path.
    pub path: String,
}

/// The answer of `POST /v1/webhooks/sign`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignedRequest {
    /// The method.
    pub method: String,
    /// The whole address.
    pub url: String,
    /// The headers with the signature.
    pub headers: Vec<(String, String)>,
}

/// The answer to an accepted webhook delivery.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeliveryAnswer {
    /// The run that it started, now or the first time.
    pub run: String,
    /// True when the delivery was known already; nothing was started.
    pub duplicate: bool,
}
