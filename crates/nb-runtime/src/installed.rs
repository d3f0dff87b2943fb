//! An agent that is ready to run.

mod check;

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use jsonschema::error::ValidationErrorKind;
use jsonschema::{ReferencingError, ValidationError, Validator};
use nb_native::NativeTool;
use nb_sandbox::{Limits, Module, Program, Sandbox, SandboxError, Source};
use nb_spec::permission::UNSANDBOXED;
use nb_spec::{Agent, Code, Permission, Tool};
use nb_store::{AgentRow, AgentState};
use serde_json::Value;

use crate::abilities::mismatch::mismatches;
use crate::error::StartError;
use crate::models::Providers;
use crate::policy::{Decision, Grants, decide};
use crate::services::Services;

/// An installed agent with its files read, its grants joined and its tools compiled as they are needed.
#[derive(Debug)]
pub struct Installed {
    /// As it was installed.
    pub row: AgentRow,
    /// As its files describe it.
    pub spec: Agent,
    /// What it may do.
    pub grants: Grants,
    tools: BTreeMap<String, Prepared>,
    /// The modules of the package; its tools share their texts.
    modules: Arc<[Module]>,
    /// The ways to its language model that are ready.
    pub(crate) providers: Providers,
}

/// What a tool needs beside its code, made when it is first used.
#[derive(Debug, Default)]
struct Prepared {
    program: OnceLock<Executable>,
    schema: OnceLock<Result<Validator, String>>,
}

/// A tool that is ready to be called.
#[derive(Debug, Clone)]
pub(crate) enum Executable {
    /// In the sandbox.
    Sandboxed(Program),
    /// In a process of its own, as `sandboxed: false` says.
    Native(Arc<NativeTool>),
}

impl Installed {
    /// Joins a row and what its files say.
    pub fn new(row: AgentRow, spec: Agent) -> Self {
        let granted: Vec<Permission> = row.grants.iter().map(|text| Permission::parse(text)).collect();
        let grants = Grants::new(&spec.manifest.requested(), &granted);
        let tools = spec.tools.keys().map(|name| (name.clone(), Prepared::default())).collect();
        let modules = spec.modules.iter().map(module).collect();
        Self { row, spec, grants, tools, modules, providers: Providers::default() }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.row.name
    }

    /// Whether a tool of it may run outside of the sandbox.
    pub fn runs_unsandboxed(&self) -> bool {
        self.may_leave_the_sandbox().is_ok() && self.spec.tools.values().any(|tool| !tool.is_sandboxed())
    }

    /// Whether its tools that say `sandboxed: false` may run; else why not.
    pub(crate) fn may_leave_the_sandbox(&self) -> Result<(), String> {
        match decide(self.name(), &self.grants, UNSANDBOXED) {
            Decision::Allow(_) => Ok(()),
            Decision::Deny(reason) => Err(reason),
        }
    }

    /// A tool, compiled.
    pub(crate) fn executable(&self, name: &str, services: &Services) -> Result<Executable, SandboxError> {
        let (Some(tool), Some(prepared)) = (self.spec.tools.get(name), self.tools.get(name)) else {
            let message = "there is no such tool".to_owned();
            return Err(SandboxError::Tool { file: name.to_owned(), message });
        };
        if let Some(program) = prepared.program.get() {
            return Ok(program.clone());
        }
        let program = self.prepare(tool, &services.sandbox)?;
        Ok(prepared.program.get_or_init(|| program).clone())
    }

    fn prepare(&self, tool: &Tool, sandbox: &Sandbox) -> Result<Executable, SandboxError> {
        match &tool.code {
            Code::Component(bytes) => {
                sandbox.load_component(&tool.file, bytes).map(|tool| Executable::Sandboxed(tool.into()))
            }
            Code::Script { lang, text, sandboxed } => {
                let source = Source::new(language(*lang), tool.file.as_str(), text.as_str());
                if *sandboxed {
                    let chunk = sandbox.compile(&source, &self.modules)?;
                    return Ok(Executable::Sandboxed(chunk.into()));
                }
                self.may_leave_the_sandbox()
                    .map_err(|message| SandboxError::Tool { file: tool.file.clone(), message })?;
                Ok(Executable::Native(Arc::new(NativeTool { source, modules: self.modules.to_vec() })))
            }
        }
    }

    /// Checks parameters against the tool's JSON Schema.
    pub(crate) fn check_parameters(&self, tool: &str, parameters: &Value) -> Result<(), Mismatch> {
        let (Some(spec), Some(compiled)) = (self.spec.tools.get(tool), self.tools.get(tool)) else {
            return Ok(());
        };
        let schema = compiled
            .schema
            .get_or_init(|| jsonschema::validator_for(&spec.parameters).map_err(|error| why(&error)))
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

fn module(module: &nb_spec::Module) -> Module {
    let source = Source::new(language(module.lang), module.file.as_str(), module.text.as_str());
    Module { name: module.name.as_str().into(), source }
}

fn language(lang: nb_spec::Lang) -> nb_sandbox::Lang {
    match lang {
        nb_spec::Lang::Lua => nb_sandbox::Lang::Lua,
        nb_spec::Lang::Fennel => nb_sandbox::Lang::Fennel,
    }
}

/// Parameters that a tool does not take.
#[derive(Debug)]
pub(crate) struct Mismatch {
    /// The schema itself is wrong, not the parameters.
    pub(crate) is_schema: bool,
    pub(crate) message: String,
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

/// Why something is no schema. Of a reference that leads nowhere the library says how to fetch others, which is not done.
fn why(error: &ValidationError<'_>) -> String {
    let ValidationErrorKind::Referencing(lost) = error.kind() else { return error.to_string() };
    let to = match lost {
        ReferencingError::Unretrievable { uri, .. } => uri.trim_start_matches("json-schema:///"),
        ReferencingError::PointerToNowhere { pointer } => pointer,
        ReferencingError::NoSuchAnchor { anchor } => anchor,
        _ => return error.to_string(),
    };
    format!(
        "a `$ref` leads to `{to}`, which is not there; references lead into the same schema, as in `#/$defs/NAME`"
    )
}
