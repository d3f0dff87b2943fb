//! Whose data is in a kv namespace. It is remembered for as long as there may be data, longer than the agents.

use std::collections::BTreeSet;

use nb_api::{ApiError, ErrorKind};
use nb_runtime::Engine;
use nb_runtime::installed::Entry;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::refusal::failed;

/// Where the owners are kept: the namespace of no agent, because `@` is in no name.
const OWNERS: &str = "@owners";

/// Who has written into a namespace.
#[derive(Debug, Serialize, Deserialize)]
struct Owner {
    /// The id of the key that signed the agents; none when nobody did, and then it is one agent.
    signer: Option<String>,
    agents: BTreeSet<String>,
}

/// The owners of all namespaces.
#[derive(Clone, Copy)]
pub struct Owners<'a>(pub &'a Engine);

impl Owners<'_> {
    /// Whether an agent may use a namespace: the agents of one signer share, and nobody reads what another one left.
    pub fn check(&self, namespace: &str, name: &str, signer: Option<&str>) -> Result<(), ApiError> {
        let Some(owner) = self.owner(namespace)? else { return Ok(()) };
        if owner.shares_with(name, signer) {
            return Ok(());
        }
        let words = match &owner.signer {
            Some(key) => format!("signed by the key {key}"),
            None => "signed by nobody".to_owned(),
        };
        if let Some(user) = self.user(namespace, &owner, name) {
            let message = format!("kv_namespace `{namespace}` belongs to agent {user}, which is {words}");
            return Err(
                ApiError::new(ErrorKind::Conflict, message).hint("only agents of one signer share values")
            );
        }
        let is_empty = self.0.services().store.kv_list(namespace, "", None, 1).map_err(failed)?.is_empty();
        match owner.agents.first() {
            Some(before) if !is_empty => {
                let message = format!("kv_namespace `{namespace}` holds data of agent {before}, {words}");
                Err(ApiError::new(ErrorKind::Conflict, message)
                    .hint(format!("nbctl uninstall {before} --purge deletes it")))
            }
            _ => Ok(()),
        }
    }

    /// Makes a namespace that of an agent, which may use it.
    pub fn claim(&self, namespace: &str, name: &str, signer: Option<&str>) -> Result<(), ApiError> {
        let owner = self.owner(namespace)?.filter(|owner| owner.shares_with(name, signer));
        let mut owner =
            owner.unwrap_or_else(|| Owner { signer: signer.map(str::to_owned), agents: BTreeSet::new() });
        if !owner.agents.insert(name.to_owned()) {
            return Ok(());
        }
        self.0.services().store.kv_set(OWNERS, namespace, &json!(owner)).map_err(failed)
    }

    /// The namespaces that are deleted with an agent's data. It is refused when another installed agent uses one.
    pub fn namespaces(&self, name: &str) -> Result<Vec<String>, ApiError> {
        let rows = self.0.services().store.kv_list(OWNERS, "", None, usize::MAX).map_err(failed)?;
        let mut found = Vec::new();
        for (namespace, row) in rows {
            let owner: Owner = serde_json::from_value(row).map_err(failed)?;
            if !owner.agents.contains(name) {
                continue;
            }
            if let Some(user) = self.user(&namespace, &owner, name) {
                let message = format!("agent {user} uses kv_namespace `{namespace}` as well");
                return Err(ApiError::new(ErrorKind::Conflict, message)
                    .hint(format!("uninstall {user} first, or leave --purge out")));
            }
            found.push(namespace);
        }
        Ok(found)
    }

    /// To be called when a namespace is empty.
    pub fn release(&self, namespace: &str) -> Result<(), ApiError> {
        self.0.services().store.kv_delete(OWNERS, namespace).map(drop).map_err(failed)
    }

    fn owner(&self, namespace: &str) -> Result<Option<Owner>, ApiError> {
        let row = self.0.services().store.kv_get(OWNERS, namespace).map_err(failed)?;
        row.map(serde_json::from_value).transpose().map_err(failed)
    }

    /// An installed agent, other than `name`, that uses a namespace. What the files of a broken one say is not known.
    fn user(&self, namespace: &str, owner: &Owner, name: &str) -> Option<String> {
        let uses = |entry: &Entry| match entry {
            Entry::Ready(installed) => installed.spec.manifest.kv_namespace() == namespace,
            Entry::Broken(row, _) => owner.agents.contains(&row.name),
        };
        let mut others = self.0.agents().all().into_iter().filter(|entry| entry.row().name != name);
        others.find(uses).map(|entry| entry.row().name.clone())
    }
}

impl Owner {
    fn shares_with(&self, name: &str, signer: Option<&str>) -> bool {
        let is_own = || self.agents.iter().all(|agent| agent == name);
        self.signer.as_deref() == signer && (signer.is_some() || is_own())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_of_one_signer_share_and_unsigned_ones_never_do() {
        let owner = |signer: Option<&str>| Owner {
            signer: signer.map(str::to_owned),
            agents: BTreeSet::from(["first".to_owned()]),
        };
        assert!(owner(Some("key")).shares_with("second", Some("key")));
        assert!(!owner(Some("key")).shares_with("first", Some("other")));
        assert!(!owner(Some("key")).shares_with("first", None));
        assert!(!owner(None).shares_with("first", Some("key")));
        assert!(owner(None).shares_with("first", None));
        assert!(!owner(None).shares_with("second", None));
    }
}
