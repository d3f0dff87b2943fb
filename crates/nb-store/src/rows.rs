//! What a row of each table holds.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// An installed agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentRow {
    /// The agent's name; the key of the row.
    pub name: String,
    /// Version of the package, as it says itself.
    pub version: String,
    /// Serial of the package: rises with every release of it.
    pub serial: u64,
    /// Digest of the package.
    pub digest: String,
    /// Id of the key that signed the package; none for an unsigned one.
    pub signer: Option<String>,
    /// What the package asks for.
    pub permissions_requested: Vec<String>,
    /// What a person granted of it.
    pub grants: Vec<String>,
    /// Whether triggers and intents may wake it.
    pub state: AgentState,
    /// Since when it is in that state. Slots of schedules before that do not count.
    pub state_since: DateTime<Utc>,
    /// When the agent was first installed: the anchor of its intervals.
    pub installed_at: DateTime<Utc>,
    /// Folder of the unpacked package.
    pub dir: String,
}

/// Whether an agent may be woken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AgentState {
    /// Triggers wake it.
    Running,
    /// Installed, but nothing wakes it.
    Stopped,
}

/// The highest package serial that was installed for a name from one key. It outlives the agent, so that an
/// older package is recognised after an uninstall as well.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SerialRow {
    /// Id of the signing key.
    pub key_id: String,
    /// Name of the agent.
    pub name: String,
    /// The serial.
    pub serial: u64,
}

/// What a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunKind {
    /// A conversation or a single question.
    Chat,
    /// The steps of a task.
    Task,
    /// One tool.
    Tool,
    /// A test of an agent.
    Test,
}

/// Where a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunStatus {
    /// Recorded, nothing done yet.
    Created,
    /// Its steps are known.
    Planned,
    /// At work.
    Running,
    /// Waiting, and durably so.
    Paused,
    /// Came to an end, with an outcome.
    Completed,
    /// Came to an end with an error.
    Failed,
    /// Was stopped.
    Cancelled,
}

impl RunStatus {
    /// Whether nothing follows this status.
    #[must_use]
    pub fn is_final(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }
}

/// One execution of an agent, task or tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunRow {
    /// `run_` and a ULID. Runs are listed in the order of their ids, which is that of their creation by the
    /// millisecond; runs of the same millisecond stand in no particular order.
    pub id: String,
    /// What it is.
    pub kind: RunKind,
    /// The agent that runs.
    pub agent: String,
    /// Digest of the agent's package when the run began.
    pub digest: String,
    /// The task, for a run of one.
    pub task: Option<String>,
    /// The tool, for a run of one.
    pub tool: Option<String>,
    /// Whether a tool of it runs outside of the sandbox.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unsandboxed: bool,
    /// The run that started this one.
    pub parent: Option<String>,
    /// Who or what started it.
    pub actor: Value,
    /// What it was given.
    pub input: Value,
    /// Where it stands.
    pub status: RunStatus,
    /// `done` or `nocando`, once completed.
    pub outcome: Option<String>,
    /// Why it failed.
    pub error: Option<String>,
    /// What it answered.
    pub output: Option<Value>,
    /// How many wake-ups lie between the first cause and this run.
    pub depth: u32,
    /// When it was recorded.
    pub created_at: DateTime<Utc>,
    /// When it began to work.
    pub started_at: Option<DateTime<Utc>>,
    /// When it reached a final status.
    pub finished_at: Option<DateTime<Utc>>,
}

/// One fact on the bus.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EventRow {
    /// Place in the log; given by the store when it is published.
    pub seq: u64,
    /// The publisher's id.
    pub id: String,
    /// Name, such as `weather.alert`.
    pub name: String,
    /// Payload.
    pub data: Value,
    /// Who published it.
    pub source: String,
    /// When.
    pub at: DateTime<Utc>,
    /// How many wake-ups led to it.
    pub depth: u32,
}

/// What was decided about one slot of a schedule: it ran, or it was skipped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlotRow {
    /// The agent.
    pub agent: String,
    /// The trigger.
    pub trigger: String,
    /// The scheduled time.
    pub at: DateTime<Utc>,
    /// The run it started.
    pub run: Option<String>,
    /// Why it did not run.
    pub skipped: Option<String>,
    /// When this was decided.
    pub decided_at: DateTime<Utc>,
}

/// A webhook delivery that was accepted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeliveryRow {
    /// The path it came to.
    pub path: String,
    /// What it is recognised by: an id of the sender, or a digest of the body.
    pub id: String,
    /// The run it started.
    pub run: String,
    /// When it came.
    pub at: DateTime<Utc>,
}

/// A notification that a person should read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InboxRow {
    /// Place in the inbox; given by the store.
    pub seq: u64,
    /// When it was written.
    pub at: DateTime<Utc>,
    /// The agent that wrote it.
    pub agent: String,
    /// The run it wrote it in.
    pub run: Option<String>,
    /// One line.
    pub title: String,
    /// The text.
    pub body: String,
    /// `low`, `normal`, `high` or `urgent`, as the agent said.
    pub priority: String,
}
