//! An agent that is ready to run.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use jsonschema::Validator;
use nb_sandbox::{Chunk, Lang, Limits, Sandbox, SandboxError};
use nb_spec::{Agent, Permission};
use nb_store::{AgentRow, AgentState};
use serde_json::Value;

use crate::error::StartError;
use crate::policy::Grants;

/// An installed agent with its files read, its grants joined and its tools compiled as they are needed.
#[derive(Debug)]
pub struct Installed {
    /// As it was installed.
    pub row: AgentRow,
    /// As its files describe it.
    pub spec: Agent,
    /// What it may do.
    pub grants: Grants,
    tools: BTreeMap<String, CompiledTool>,
}

#[derive(Debug, Default)]
struct CompiledTool {
    chunk: OnceLock<Chunk>,
    schema: OnceLock<Result<Validator, String>>,
}

impl Installed {
    /// Joins a row and what its files say.
    pub fn new(row: AgentRow, spec: Agent) -> Self {
        let granted: Vec<Permission> = row.grants.iter().map(|text| Permission::parse(text)).collect();
        let grants = Grants::new(&spec.manifest.requested(), &granted);
        let tools = spec.tools.keys().map(|name| (name.clone(), CompiledTool::default())).collect();
        Self { row, spec, grants, tools }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.row.name
    }

    /// Compiles every tool, so that an error shows at install and not at the first call.
    pub fn compile_all(&self, sandbox: &Sandbox) -> Result<(), String> {
        for name in self.tools.keys() {
            self.chunk(name, sandbox).map_err(|error| format!("tool `{name}`: {error}"))?;
            self.check_parameters(name, &serde_json::json!({})).map_or_else(
                |reason| {
                    if reason.is_schema { Err(format!("tool `{name}`: {}", reason.message)) } else { Ok(()) }
                },
                Ok,
            )?;
        }
        Ok(())
    }

    /// The compiled script of a tool.
    pub(crate) fn chunk(&self, name: &str, sandbox: &Sandbox) -> Result<Chunk, SandboxError> {
        let (Some(tool), Some(compiled)) = (self.spec.tools.get(name), self.tools.get(name)) else {
            return sandbox.compile(Lang::Lua, name, "error('no such tool')");
        };
        if let Some(chunk) = compiled.chunk.get() {
            return Ok(chunk.clone());
        }
        let lang = match tool.lang {
            nb_spec::Lang::Lua => Lang::Lua,
            nb_spec::Lang::Fennel => Lang::Fennel,
        };
        let chunk = sandbox.compile(lang, &tool.file, &tool.source)?;
        Ok(compiled.chunk.get_or_init(|| chunk).clone())
    }

    /// Checks parameters against the tool's JSON Schema.
    pub(crate) fn check_parameters(&self, tool: &str, parameters: &Value) -> Result<(), Mismatch> {
        let (Some(spec), Some(compiled)) = (self.spec.tools.get(tool), self.tools.get(tool)) else {
            return Ok(());
        };
        let schema = compiled
            .schema
            .get_or_init(|| jsonschema::validator_for(&spec.parameters).map_err(|error| error.to_string()))
            .as_ref()
            .map_err(|error| Mismatch {
                is_schema: true,
                message: format!("`parameters` is not a JSON Schema: {error}"),
            })?;
        let message = mismatches(schema, parameters);
        if message.is_empty() { Ok(()) } else { Err(Mismatch { is_schema: false, message }) }
    }

    /// The limits of a tool call: the manifest's, within the operator's.
    pub fn limits(&self, operator: &Limits) -> Limits {
        let manifest = &self.spec.manifest;
        Limits { fuel: manifest.fuel(), memory_bytes: manifest.memory_bytes(), ..operator.clone() }
    }
}

/// Parameters that a tool does not take.
#[derive(Debug)]
pub(crate) struct Mismatch {
    /// The schema itself is wrong, not the parameters.
    pub(crate) is_schema: bool,
    pub(crate) message: String,
}

/// Everything that does not fit a schema, in one sentence; empty when all fits.
pub(crate) fn mismatches(schema: &Validator, value: &Value) -> String {
    let found: Vec<String> = schema
        .iter_errors(value)
        .take(5)
        .map(|error| match error.instance_path().to_string() {
            path if path.is_empty() => error.to_string(),
            path => format!("{}: {error}", path.trim_start_matches('/')),
        })
        .collect();
    found.join("; ")
}

/// All installed agents, by name.
#[derive(Debug, Default)]
pub struct Agents {
    loaded: RwLock<BTreeMap<String, Entry>>,
}

/// An installed agent, or why it does not load.
#[derive(Debug, Clone)]
#[expect(
    clippy::large_enum_variant,
    reason = "there is one for each installed agent, and few of them are broken"
)]
pub enum Entry {
    /// Ready.
    Ready(Arc<Installed>),
    /// Its files cannot be read any more.
    Broken(AgentRow, String),
}

impl Entry {
    /// The row of the store.
    pub fn row(&self) -> &AgentRow {
        match self {
            Self::Ready(installed) => &installed.row,
            Self::Broken(row, _) => row,
        }
    }
}

impl Agents {
    /// Adds or replaces an agent.
    pub fn insert(&self, entry: Entry) {
        let name = entry.row().name.clone();
        self.loaded.write().unwrap_or_else(PoisonError::into_inner).insert(name, entry);
    }

    /// Removes an agent.
    pub fn remove(&self, name: &str) {
        self.loaded.write().unwrap_or_else(PoisonError::into_inner).remove(name);
    }

    /// The agent with that name.
    pub fn get(&self, name: &str) -> Option<Entry> {
        self.loaded.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    /// All agents in the order of their names.
    pub fn all(&self) -> Vec<Entry> {
        self.loaded.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    /// The agents that may be woken.
    pub fn running(&self) -> Vec<Arc<Installed>> {
        let all = self.all();
        let ready = all.into_iter().filter_map(|entry| match entry {
            Entry::Ready(installed) => Some(installed),
            Entry::Broken(..) => None,
        });
        ready.filter(|installed| installed.row.state == AgentState::Running).collect()
    }

    /// An agent that may run now.
    pub fn runnable(&self, name: &str) -> Result<Arc<Installed>, StartError> {
        match self.get(name) {
            None => Err(StartError::NoAgent(name.to_owned())),
            Some(Entry::Broken(_, reason)) => Err(StartError::Broken { agent: name.to_owned(), reason }),
            Some(Entry::Ready(installed)) if installed.row.state == AgentState::Stopped => {
                Err(StartError::Stopped(name.to_owned()))
            }
            Some(Entry::Ready(installed)) => Ok(installed),
        }
    }
}
