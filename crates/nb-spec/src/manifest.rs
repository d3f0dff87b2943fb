//! The manifest: who an agent is, what it asks for, what wakes it.

use semver::Version;
use serde::{Deserialize, Serialize};

use crate::document::{Document, nearest};
use crate::permission::{FILES_READ, Permission, UNSANDBOXED, known_abilities};
use crate::problem::Problems;
use crate::tool::{TOOL_KEYS, ToolEntry};
use crate::trigger::Triggers;

/// The names under which a manifest is found, in this order.
pub const FILE_NAMES: &[&str] = &["manifest.yaml", "manifest.yml", "manifest.json"];

/// The most entries of any list in a manifest: far above what people write, and few enough to check one by one.
const MAX_ENTRIES: usize = 1000;
/// The interpreter takes 1.94 MiB before a script begins (measured), so that with less every call would fail.
const MEMORY_MB: std::ops::RangeInclusive<u64> = 2..=512;

const KEYS: &[&str] = &[
    "name",
    "version",
    "description",
    "permissions",
    "author",
    "license",
    "category",
    "signature",
    "memory_limit_mb",
    "fuel_limit",
    "kv_namespace",
    "data_namespace",
    "background",
    "subscriptions",
    "intent_filters",
    "actions",
    "targets",
    "priority",
    "resources",
    "max_memory_mb",
    "max_fuel",
    "max_api_calls_per_hour",
    "triggers",
    "scheduled",
    "events",
    "webhooks",
    "chain",
    "interval",
    "cron",
    "at",
    "timezone",
    "missed",
    "catchup_window",
    "overlap",
    "jitter",
    "params",
    "on",
    "filter",
    "path",
    "secret",
    "verify",
    "methods",
    "cartridge",
    "tools",
    "secrets",
    "budget",
    "usd_per_day",
    "tokens_per_day",
];

/// A manifest, as written. Out of bounds is refused with the bound.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// `[a-z0-9][a-z0-9-_]{0,63}`.
    pub name: String,
    /// Semantic version.
    pub version: Version,
    /// What the agent does.
    #[serde(default)]
    pub description: String,
    /// What it asks for; see [`Permission`].
    #[serde(default)]
    pub permissions: Vec<String>,
    /// Who wrote it.
    pub author: Option<String>,
    /// Under which terms.
    pub license: Option<String>,
    /// A shelf for catalogs.
    pub category: Option<String>,
    /// Ignored: a signature inside the signed text proves nothing. Packages are signed as a whole.
    pub signature: Option<String>,
    /// Memory of a tool call in MB, 2 to 512. The smaller of this and `resources.max_memory_mb` counts.
    #[serde(default = "default_memory")]
    pub memory_limit_mb: u64,
    /// Fuel of a tool call. The smaller of this and `resources.max_fuel` counts.
    #[serde(default = "default_fuel")]
    pub fuel_limit: u64,
    /// Where its values are kept. Default: its name.
    pub kv_namespace: Option<String>,
    /// Where its files are kept. Default: its name.
    pub data_namespace: Option<String>,
    /// Whether it is meant to run without being asked.
    #[serde(default)]
    pub background: bool,
    /// Events that it wants to be woken by.
    #[serde(default)]
    pub subscriptions: Vec<String>,
    /// What it can be asked for.
    #[serde(default)]
    pub intent_filters: Vec<IntentFilter>,
    /// Further limits.
    #[serde(default)]
    pub resources: Resources,
    /// What wakes it.
    #[serde(default)]
    pub triggers: Triggers,
    /// The file with its cartridge. Default: `cartridge.yml` or `cartridge.yaml`, when it has one of them.
    pub cartridge: Option<String>,
    /// Its tools.
    #[serde(default)]
    pub tools: Vec<ToolEntry>,
    /// The secrets that its requests may carry. Each is asked for as the permission `secret.use:NAME`.
    #[serde(default)]
    pub secrets: Vec<String>,
    /// What its language model may take each day.
    pub budget: Option<Budget>,
}

/// `budget:` of a manifest. A day begins at 00:00 UTC.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Budget {
    /// In US dollars.
    pub usd_per_day: Option<f64>,
    /// In tokens, read and written.
    pub tokens_per_day: Option<u64>,
}

/// The largest budget in US dollars: far above what an agent should cost, and exact in billionths.
const MAX_USD: f64 = 1_000_000.0;

impl Budget {
    fn check(self, document: &Document<'_>, problems: &mut Problems) {
        if self.usd_per_day.is_none() && self.tokens_per_day.is_none() {
            let message = "`budget` needs `usd_per_day` or `tokens_per_day`";
            document.error(problems, "budget", message);
        }
        if let Some(usd) = self.usd_per_day.filter(|usd| !(*usd > 0.0 && *usd <= MAX_USD)) {
            let message =
                format!("`budget.usd_per_day` must be more than 0 and at most {MAX_USD}; it is {usd}");
            document.error(problems, "budget.usd_per_day", message);
        }
        if self.tokens_per_day == Some(0) {
            let message = "`budget.tokens_per_day` must be at least 1; it is 0";
            document.error(problems, "budget.tokens_per_day", message);
        }
    }
}

/// An intent that the agent answers to. Empty lists match everything.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IntentFilter {
    /// What is to be done.
    #[serde(default)]
    pub actions: Vec<String>,
    /// To what.
    #[serde(default)]
    pub targets: Vec<String>,
    /// Higher wins.
    #[serde(default)]
    pub priority: i32,
}

/// `resources:` of a manifest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Resources {
    /// In MB.
    pub max_memory_mb: u64,
    /// In units of fuel.
    pub max_fuel: u64,
    /// Calls that leave the machine.
    pub max_api_calls_per_hour: u64,
}

impl Default for Resources {
    fn default() -> Self {
        Self { max_memory_mb: 128, max_fuel: default_fuel(), max_api_calls_per_hour: 100 }
    }
}

fn default_memory() -> u64 {
    64
}

fn default_fuel() -> u64 {
    1_000_000
}

impl Manifest {
    /// Reads and checks a manifest by itself. `typo_is_error` makes a permission that looks mistyped an error.
    pub(crate) fn read(
        document: &Document<'_>,
        typo_is_error: bool,
        problems: &mut Problems,
    ) -> Option<Self> {
        let keys: Vec<&str> = KEYS.iter().chain(TOOL_KEYS).copied().collect();
        let manifest: Self = document.read(&keys, problems)?;
        if !manifest.lists_are_short(document, problems) {
            return None;
        }
        manifest.check(document, typo_is_error, problems);
        Some(manifest)
    }

    fn lists_are_short(&self, document: &Document<'_>, problems: &mut Problems) -> bool {
        let mut short = true;
        for (path, entries) in [
            ("permissions", self.permissions.len()),
            ("secrets", self.secrets.len()),
            ("subscriptions", self.subscriptions.len()),
            ("intent_filters", self.intent_filters.len()),
            ("tools", self.tools.len()),
            ("triggers.scheduled", self.triggers.scheduled.len()),
            ("triggers.events", self.triggers.events.len()),
            ("triggers.webhooks", self.triggers.webhooks.len()),
        ] {
            if entries > MAX_ENTRIES {
                let message = format!("`{path}` has {entries} entries; at most {MAX_ENTRIES} are allowed");
                document.error(problems, path, message);
                short = false;
            }
        }
        short
    }

    fn check(&self, document: &Document<'_>, typo_is_error: bool, problems: &mut Problems) {
        if !is_agent_name(&self.name) {
            let message = format!(
                "name `{}` must have 1 to 64 lower-case letters, digits, `-` or `_`, and begin with a letter or digit",
                self.name
            );
            document.error(problems, "name", message);
        }
        for (path, value) in [
            ("memory_limit_mb", self.memory_limit_mb),
            ("resources.max_memory_mb", self.resources.max_memory_mb),
        ] {
            if !MEMORY_MB.contains(&value) {
                let (least, most) = MEMORY_MB.into_inner();
                let why = if value < least { "; the interpreter itself takes nearly 2" } else { "" };
                let message = format!("`{path}` must be {least} to {most}; it is {value}{why}");
                document.error(problems, path, message);
            }
        }
        for (path, value) in
            [("fuel_limit", self.fuel_limit), ("resources.max_fuel", self.resources.max_fuel)]
        {
            if !(1..=MAX_FUEL).contains(&value) {
                document.error(problems, path, format!("`{path}` must be 1 to {MAX_FUEL}; it is {value}"));
            }
        }
        for (path, namespace) in
            [("kv_namespace", &self.kv_namespace), ("data_namespace", &self.data_namespace)]
        {
            if namespace.as_deref().is_some_and(|name| !is_agent_name(name)) {
                document.error(
                    problems,
                    path,
                    format!("`{path}` is written like a name: lower-case letters, digits, `-`, `_`"),
                );
            }
        }
        for (index, text) in self.permissions.iter().enumerate() {
            let permission = Permission::parse(text);
            let path = format!("permissions.{index}");
            if permission.is_about_secrets() {
                let message = format!("`{permission}` is asked for by naming the secret under `secrets`");
                document.error(problems, &path, message);
                continue;
            }
            if permission.ability == FILES_READ && permission.scope.is_none() {
                let message = "`files.read` needs a folder; write for example files.read:~/notes".to_owned();
                document.error(problems, &path, message);
                continue;
            }
            let is_known_ability =
                permission.is_known() || matches!(permission.ability.as_str(), FILES_READ | UNSANDBOXED);
            if is_known_ability {
                match permission.scope_problem() {
                    Some(message) if typo_is_error => document.error(problems, &path, message),
                    // A later version may know that scope; this one grants nothing for it.
                    Some(message) => document.warning(problems, &path, message),
                    None if permission.ability == FILES_READ && !self.has_components() => {
                        let message = format!("`{permission}` is for components, and no tool is one");
                        document.warning(problems, &path, message);
                    }
                    None => {}
                }
                continue;
            }
            match nearest(&permission.ability, known_abilities().chain([FILES_READ, UNSANDBOXED])) {
                Some(meant) if typo_is_error => {
                    document.error(
                        problems,
                        &path,
                        format!("there is no ability `{permission}`; did you mean `{meant}`?"),
                    );
                }
                _ => {
                    let message =
                        format!("there is no ability `{permission}` here; the permission grants nothing");
                    document.warning(problems, &path, message);
                }
            }
        }
        for (index, name) in self.secrets.iter().enumerate() {
            if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
                document.error(
                    problems,
                    &format!("secrets.{index}"),
                    format!("secret `{name}`: letters, digits and `_` only"),
                );
            }
        }
        if let Some(budget) = self.budget {
            budget.check(document, problems);
        }
        self.triggers.check(document, problems);
    }

    fn has_components(&self) -> bool {
        self.tools.iter().any(|tool| tool.component.is_some())
    }

    /// The permissions it asks for: those under `permissions`, and one for each of its `secrets`.
    pub fn requested(&self) -> Vec<Permission> {
        let listed = self.permissions.iter().map(|text| Permission::parse(text));
        listed.chain(self.secrets.iter().map(|name| Permission::of_secret(name))).collect()
    }

    /// The same as texts, as they are shown, granted and kept.
    pub fn requested_permissions(&self) -> Vec<String> {
        self.requested().iter().map(ToString::to_string).collect()
    }

    /// Memory of a tool call, in bytes.
    pub fn memory_bytes(&self) -> u64 {
        self.memory_limit_mb.min(self.resources.max_memory_mb) << 20
    }

    /// Fuel of a tool call, in units.
    pub fn fuel(&self) -> u64 {
        self.fuel_limit.min(self.resources.max_fuel)
    }

    /// The namespace of its values.
    pub fn kv_namespace(&self) -> &str {
        self.kv_namespace.as_deref().unwrap_or(&self.name)
    }
}

/// The most fuel a manifest may ask for: some seven minutes of computing, far beyond the wall clock.
pub const MAX_FUEL: u64 = 100_000_000_000;

/// Whether a text can be an agent's name.
pub fn is_agent_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    (1..=64).contains(&name.len())
        && name.starts_with(plain)
        && name.chars().all(|c| plain(c) || c == '-' || c == '_')
}
