//! Runs and their records.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// `POST /v1/runs`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunRequest {
    /// The agent to run.
    pub agent: String,
    /// Its task. With neither task nor tool: the agent's only one.
    pub task: Option<String>,
    /// Its tool, called alone.
    pub tool: Option<String>,
    /// For a task `{{input}}`, for a tool its parameters.
    pub input: Option<Value>,
    /// Parameters of the task or the tool; texts become what the parameter's type says.
    pub params: Map<String, Value>,
    /// Answer as soon as the run is recorded, without waiting for its end.
    pub detach: bool,
    /// Without `detach`: answer with the run twice, as it was recorded and as it ended, one a line.
    pub follow: bool,
}

/// A run: the answer of `POST /v1/runs`, a line of `GET /v1/runs`, and the answer of `POST /v1/runs/ID/cancel`, which
/// ends one and takes no body.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunView {
    /// `run_<ulid>`.
    pub id: String,
    /// `task` or `tool`.
    pub kind: String,
    /// Its agent.
    pub agent: String,
    /// The task that ran.
    pub task: Option<String>,
    /// The tool that ran.
    pub tool: Option<String>,
    /// Whether a tool of it runs outside of the sandbox.
    #[serde(default)]
    pub unsandboxed: bool,
    /// `created`, `running`, `completed`, `failed`, `cancelled` …
    pub status: String,
    /// `done` when completed.
    pub outcome: Option<String>,
    /// Why it failed, or by whom or why it was cancelled.
    pub error: Option<String>,
    /// What it gave.
    pub output: Option<Value>,
    /// Who or what started it, in words.
    pub actor: String,
    /// When it was recorded.
    pub created_at: DateTime<Utc>,
    /// When it ended.
    pub finished_at: Option<DateTime<Utc>>,
    /// From its start to its end.
    pub duration_ms: Option<f64>,
}

/// One event of a run's record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecordedEvent {
    /// Counts from 1 within the run.
    pub seq: u64,
    /// When it was written.
    pub at: DateTime<Utc>,
    /// What happened: `started`, `step.started`, `tool.finished`, `host.call`, `log`, `finished` …
    pub event: String,
    /// Its fields.
    #[serde(flatten)]
    pub fields: Map<String, Value>,
}

/// `GET /v1/runs/ID`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// The run.
    pub run: RunView,
    /// Everything that happened in it.
    pub events: Vec<RecordedEvent>,
}

/// A line of `GET /v1/logs`: an event of a run's record with its run, and a sentence for people.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LogLine {
    /// The run.
    pub run: String,
    /// Its agent.
    pub agent: String,
    /// The event.
    #[serde(flatten)]
    pub event: RecordedEvent,
    /// The event in words: one line, but for a log of several lines and an error with lines of its source.
    pub text: String,
}

/// Query of `GET /v1/logs`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LogQuery {
    /// Only this agent.
    pub agent: Option<String>,
    /// Only this run.
    pub run: Option<String>,
    /// Go on with what happens next, in every run that has not ended.
    pub follow: bool,
    /// At most this many runs back; default 20.
    pub limit: Option<usize>,
}

/// Query of `GET /v1/runs`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunsQuery {
    /// Only this agent.
    pub agent: Option<String>,
    /// At most this many, the newest first; default 50, and never more than 1000.
    pub limit: Option<usize>,
}
