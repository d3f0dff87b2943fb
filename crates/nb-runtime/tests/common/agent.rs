//! An agent from a few lines.

use std::sync::Arc;

use nb_runtime::Installed;
use nb_runtime::installed::Entry;
use nb_spec::agent::Strictness;
use nb_spec::{Agent, Files};
use nb_store::{AgentRow, AgentState};
use serde_json::{Value, json};

use super::Home;

pub struct AgentBuilder {
    manifest: Value,
    files: Files,
    grants: Option<Vec<String>>,
    digest: String,
}

/// An agent without anything.
pub fn agent(name: &str) -> AgentBuilder {
    let manifest = json!({"name": name, "version": "1.0.0", "tools": []});
    AgentBuilder { manifest, files: Files::default(), grants: None, digest: "sha256:00".to_owned() }
}

impl AgentBuilder {
    /// Sets a field of the manifest.
    pub fn set(mut self, key: &str, value: Value) -> Self {
        self.manifest[key] = value;
        self
    }

    /// Asks for permissions. A person grants all of them, unless [`AgentBuilder::granted`] says otherwise.
    pub fn asks(self, permissions: &[&str]) -> Self {
        self.set("permissions", json!(permissions))
    }

    pub fn granted(mut self, grants: &[&str]) -> Self {
        self.grants = Some(grants.iter().map(|grant| (*grant).to_owned()).collect());
        self
    }

    pub fn digest(mut self, digest: &str) -> Self {
        self.digest = digest.to_owned();
        self
    }

    /// Adds a chain: everything of its file but the id.
    pub fn chain(mut self, id: &str, rest: &str) -> Self {
        self.files.insert(format!("chains/{id}.yaml"), format!("id: {id}\n{rest}"));
        self
    }

    /// Adds a file.
    pub fn file(mut self, name: &str, bytes: impl Into<Vec<u8>>) -> Self {
        self.files.insert(name, bytes);
        self
    }

    /// Adds a tool in Lua, as `tools/NAME.lua`.
    pub fn tool(self, name: &str, lua: &str) -> Self {
        let source = format!("tools/{name}.lua");
        self.file(&source, lua).tool_entry(json!({"name": name, "source": source}))
    }

    /// Adds a tool as the manifest says it.
    pub fn tool_entry(mut self, entry: Value) -> Self {
        if let Some(tools) = self.manifest["tools"].as_array_mut() {
            tools.push(entry);
        }
        self
    }

    /// Puts it into the engine, running.
    pub fn install(mut self, home: &Home) -> Arc<Installed> {
        self.files.insert("manifest.json", self.manifest.to_string());
        let spec =
            Agent::load(&self.files, Strictness::Install).unwrap_or_else(|problems| panic!("{problems}"));
        let requested = spec.manifest.requested_permissions();
        let now = home.world.time();
        let row = AgentRow {
            name: spec.manifest.name.clone(),
            version: spec.manifest.version.to_string(),
            serial: 1,
            digest: self.digest,
            signer: None,
            grants: self.grants.unwrap_or_else(|| requested.clone()),
            permissions_requested: requested,
            state: AgentState::Running,
            state_since: now,
            installed_at: now,
            dir: String::new(),
        };
        let agent = Arc::new(Installed::new(row, spec));
        home.engine.agents().insert(Entry::Ready(agent.clone()));
        agent
    }
}
