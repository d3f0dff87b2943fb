//! The daemon itself: status, inbox, trusted keys.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

/// `GET /v1/status`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// The daemon's version.
    pub version: String,
    /// Its process.
    pub pid: u32,
    /// When it was ready.
    pub started_at: DateTime<Utc>,
    /// From its start to readiness.
    pub start_ms: f64,
    /// Its state folder.
    pub state_dir: String,
    /// Where webhooks are served.
    pub webhooks_at: String,
    /// The default time zone of schedules.
    pub timezone: String,
    /// Installed agents.
    pub agents: usize,
    /// Those of them that may be woken.
    pub agents_running: usize,
    /// Runs that have not ended.
    pub runs_unfinished: usize,
    /// Notifications that wait in the inbox.
    pub inbox: usize,
    /// Resident memory in bytes.
    pub resident_bytes: u64,
    /// How notifications are shown now: `desktop` or `inbox`, with the reason.
    pub notifications: String,
}

/// A line of `GET /v1/inbox`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InboxItem {
    /// Counts from 1.
    pub seq: u64,
    /// When it was sent.
    pub at: DateTime<Utc>,
    /// By which agent.
    pub agent: String,
    /// In which run.
    pub run: Option<String>,
    /// The title.
    pub title: String,
    /// The text.
    pub body: String,
    /// `low`, `normal`, `high` or `urgent`.
    pub priority: String,
}

/// `POST /v1/keys`: trusts a public key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrustRequest {
    /// The text of a minisign public key file.
    pub public_key: String,
    /// What to call it.
    pub label: String,
    /// Globs of the agent names it may sign; empty: all.
    #[serde(default)]
    pub names: Vec<String>,
}

/// A trusted or revoked key: a line of `GET /v1/keys`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyView {
    /// The key's id: 16 hexadecimal digits.
    pub id: String,
    /// What it is called.
    pub label: String,
    /// Globs of the agent names it may sign; empty: all.
    pub names: Vec<String>,
    /// True when it was revoked.
    pub revoked: bool,
}
