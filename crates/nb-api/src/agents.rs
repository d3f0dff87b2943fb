//! Packages, agents, and what was granted to them.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A permission and a person's decision about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PermissionView {
    /// `ability[:scope]`.
    pub permission: String,
    /// What it means, in words.
    pub words: String,
    /// Whether this version knows the ability; an unknown one grants nothing.
    pub known: bool,
    /// Whether it is granted now (for a package that is not installed: to the installed version of the agent).
    pub granted: bool,
}

/// Who signed a package, as this daemon sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignerView {
    /// True when a trusted key made a signature that fits.
    pub trusted: bool,
    /// The key's id, when the package carries a signature.
    pub key: Option<String>,
    /// The name under which the key is trusted.
    pub label: Option<String>,
    /// Why it is not trusted.
    pub reason: Option<String>,
}

/// `POST /v1/packages/inspect` (body: the package's bytes): what installing it would mean.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PackageView {
    /// The agent's name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Rises with each build.
    pub serial: u64,
    /// SHA-256 of the list of its files.
    pub digest: String,
    /// What it does.
    pub description: String,
    /// Who signed it.
    pub signer: SignerView,
    /// What it asks for.
    pub permissions: Vec<PermissionView>,
    /// Its language model, when its cartridge names one. It has not spent anything yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelView>,
    /// What a person should know.
    pub warnings: Vec<String>,
    /// The version that is installed now.
    pub installed: Option<String>,
}

/// Query of `POST /v1/agents` (body: the package's bytes).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct InstallOptions {
    /// `all`, `none`, or permissions with commas between.
    pub grant: String,
    /// Install although nobody, or a stranger, signed it.
    pub allow_unsigned: bool,
    /// Install although a newer build was installed before.
    pub allow_downgrade: bool,
}

/// Answer of `POST /v1/agents`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Installed {
    /// The agent's name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The digest of its package.
    pub digest: String,
    /// The id of the key that signed it; none when it was allowed without.
    pub signer: Option<String>,
    /// What was granted.
    pub granted: Vec<String>,
    /// What it asks for and did not get.
    pub refused: Vec<String>,
    /// What the version before had and this one has not.
    pub withdrawn: Vec<String>,
    /// The version that it replaces.
    pub replaces: Option<String>,
    /// What a person should know.
    pub warnings: Vec<String>,
}

/// Query of `DELETE /v1/agents/NAME`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct UninstallOptions {
    /// Delete its data as well.
    pub purge: bool,
}

/// Answer of `DELETE /v1/agents/NAME`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Uninstalled {
    /// The agent's name.
    pub name: String,
    /// Whether its data is deleted.
    pub purged: bool,
}

/// Whether an agent may be woken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AgentState {
    /// Its triggers wake it.
    Running,
    /// Nothing wakes it and nothing runs it.
    Stopped,
}

/// A line of `GET /v1/agents`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentSummary {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Whether it may be woken.
    pub state: AgentState,
    /// What it does.
    pub description: String,
    /// The label or id of the key that signed it; none for an unsigned one.
    pub signer: Option<String>,
    /// How many tools it has.
    pub tools: usize,
    /// Whether some of them may run outside of the sandbox: they say so, and it is granted.
    #[serde(default)]
    pub unsandboxed: bool,
    /// How many tasks it has.
    pub tasks: usize,
    /// How many triggers it has.
    pub triggers: usize,
    /// Why it does not load, when it does not.
    pub problem: Option<String>,
}

/// `GET /v1/agents/NAME`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AgentView {
    /// The line of the list.
    #[serde(flatten)]
    pub summary: AgentSummary,
    /// The digest of its package.
    pub digest: String,
    /// The serial of its package.
    pub serial: u64,
    /// When it was installed.
    pub installed_at: DateTime<Utc>,
    /// What it asks for, and what it got.
    pub permissions: Vec<PermissionView>,
    /// Its tools.
    pub tool_list: Vec<ToolView>,
    /// Its tasks.
    pub task_list: Vec<TaskView>,
    /// Its triggers, one sentence each.
    pub trigger_list: Vec<String>,
    /// The limits of one tool call.
    pub limits: LimitsView,
    /// Its language model, when its cartridge names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelView>,
    /// What a person should know.
    pub warnings: Vec<String>,
}

/// The language model of an agent, what it may spend, and what it has spent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelView {
    /// The provider.
    pub provider: String,
    /// The model, as the cartridge names it.
    pub model: Option<String>,
    /// The budget of a day in US dollars.
    pub usd_per_day: Option<f64>,
    /// The budget of a day in tokens.
    pub tokens_per_day: Option<u64>,
    /// Tokens since 00:00 UTC, read and written, with what requests hold that have not ended.
    pub tokens_today: u64,
    /// The same in US dollars, as far as prices are known.
    pub usd_today: f64,
}

/// A tool of an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolView {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// `lua`, `fennel` or `component`.
    pub lang: String,
    /// The file with its code.
    pub file: String,
    /// False when it runs on native Lua, with everything that the daemon's user may do.
    #[serde(default = "yes")]
    pub sandboxed: bool,
    /// JSON Schema of its parameters.
    pub parameters: Value,
}

fn yes() -> bool {
    true
}

/// A task of an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskView {
    /// Its id.
    pub id: String,
    /// What it does.
    pub description: String,
    /// Its parameters; `*` marks a required one.
    pub parameters: Vec<String>,
    /// The ids of its steps in order.
    pub steps: Vec<String>,
}

/// The limits of one tool call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LimitsView {
    /// Units of fuel.
    pub fuel: u64,
    /// Bytes.
    pub memory_bytes: u64,
    /// Milliseconds of running.
    pub wall_ms: u64,
    /// Calls that leave the machine, per hour.
    pub api_calls_per_hour: u64,
}
