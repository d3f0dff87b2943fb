//! What surrounds a provider in the daemon. `ENV/NAME` of a cartridge is the agent's secret NAME, never a variable of the
//! daemon: that would hand the daemon's environment to any package.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chrono::{DateTime, Utc};
use nb_egress::{HostPattern, Mask, SecretValue};
use nb_provider::{Environment, Variable};
use nb_spec::permission::{Permission, SECRET_USE};

use crate::installed::Installed;
use crate::policy::{Decision, Scopes, decide};
use crate::services::{Secrets, Services, World};

/// Google's name for the file with the account of a program. It counts without standing in a cartridge, as elsewhere, when
/// the manifest lists it.
const GOOGLE_FILE: &str = "GOOGLE_APPLICATION_CREDENTIALS";

/// Google's name for the host that knows the machine's own account. It is asked for when that account is to be used.
const GOOGLE_MACHINE: &str = "GCE_METADATA_HOST";

/// The largest file that a secret names. Keys of accounts have some thousand bytes.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// The surroundings of one agent's provider.
pub(crate) struct Surroundings {
    agent: String,
    listed: Vec<String>,
    granted: Vec<String>,
    /// The ability that asks.
    ability: String,
    /// The hosts that a person granted by name: secrets go to these alone. None: any host may be asked, without them.
    hosts: Option<Vec<HostPattern>>,
    /// The variables that the cartridge names; others are asked for by the provider itself.
    named: BTreeSet<String>,
    /// Files of the package.
    files: BTreeMap<String, Vec<u8>>,
    secrets: Arc<dyn Secrets>,
    world: Arc<dyn World>,
    read: Mutex<Read>,
}

/// What the provider was made of.
#[derive(Default)]
struct Read {
    secrets: BTreeMap<String, String>,
    files: Vec<(String, Vec<u8>)>,
}

impl Surroundings {
    pub(crate) fn new(
        agent: &Installed,
        services: &Services,
        ability: &str,
        hosts: Option<Vec<HostPattern>>,
    ) -> Self {
        let (packed, section) = (agent.spec.cartridge.as_ref(), agent.spec.provider());
        Self {
            agent: agent.name().to_owned(),
            listed: agent.spec.manifest.secrets.clone(),
            granted: granted_secrets(agent),
            ability: ability.to_owned(),
            hosts,
            named: section
                .into_iter()
                .flat_map(|section| section.references())
                .map(|reference| reference.name)
                .collect(),
            files: packed.map(|packed| packed.files.clone()).unwrap_or_default(),
            secrets: Arc::clone(&services.secrets),
            world: Arc::clone(&services.world),
            read: Mutex::default(),
        }
    }

    /// Whether every value and file is still what it was when it was read.
    pub(crate) fn is_current(&self) -> bool {
        let read = self.read();
        read.secrets.iter().all(|(name, value)| self.secrets.read(name).as_ref() == Ok(value))
            && read.files.iter().all(|(path, bytes)| read_file(path).is_ok_and(|now| now == *bytes))
    }

    /// Hides what was read.
    pub(crate) fn mask(&self) -> Mask {
        Mask::new(&self.hidden())
    }

    fn needs_a_host(&self, what: &str) -> String {
        let ability = &self.ability;
        format!(
            "{what} goes only to a host that was granted by name; the manifest has to ask for `{ability}:HOST` in place of `{ability}`"
        )
    }

    fn read(&self) -> MutexGuard<'_, Read> {
        self.read.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The secrets that a person granted to an agent, by name.
fn granted_secrets(agent: &Installed) -> Vec<String> {
    match decide(agent.name(), &agent.grants, SECRET_USE) {
        Decision::Allow(Scopes::Limited(names)) => names,
        Decision::Allow(Scopes::Unlimited) | Decision::Deny(_) => Vec::new(),
    }
}

impl Environment for Surroundings {
    fn variable(&self, name: &str) -> Result<Option<Variable>, String> {
        let is_named = self.named.contains(name);
        let is_listed = self.listed.iter().any(|listed| listed == name);
        let counts_unnamed = name == GOOGLE_FILE && is_listed;
        if name == GOOGLE_MACHINE && self.hosts.is_none() {
            return Err(self.needs_a_host("the account of this machine"));
        }
        if !is_named && !counts_unnamed {
            // The provider looks for what a machine has by default; here it has nothing.
            return Ok(None);
        }
        if !is_listed {
            return Err(format!(
                "the cartridge names ENV/{name}, the secret {name} of the agent, which its manifest does not list; add it under `secrets`"
            ));
        }
        if !self.granted.iter().any(|granted| granted == name) {
            let permission = Permission::of_secret(name);
            return Err(format!(
                "permission `{permission}` was not granted to {}; install it again and grant it",
                self.agent
            ));
        }
        let value = self.secrets.read(name)?;
        let hosts = self.hosts.clone().ok_or_else(|| self.needs_a_host(&format!("secret {name}")))?;
        self.read().secrets.insert(name.to_owned(), value.clone());
        Ok(Some(Variable { value, hosts: Some(hosts) }))
    }

    fn file(&self, path: &str) -> Result<Vec<u8>, String> {
        if let Some(bytes) = self.files.get(path) {
            return Ok(bytes.clone());
        }
        let is_secret = self.read().secrets.values().any(|value| value == path);
        if !path.starts_with('/') {
            return Err("there is no such file in the package".to_owned());
        }
        if !is_secret {
            return Err(
                "it is no file of the package; an absolute path counts as the value of a secret alone"
                    .to_owned(),
            );
        }
        let bytes = read_file(path)?;
        self.read().files.push((path.to_owned(), bytes.clone()));
        Ok(bytes)
    }

    fn hosts(&self) -> Option<Vec<HostPattern>> {
        self.hosts.clone()
    }

    fn hidden(&self) -> Vec<SecretValue> {
        let read = self.read();
        let files = read.files.iter().map(|(_, bytes)| String::from_utf8_lossy(bytes).trim().to_owned());
        read.secrets.values().cloned().chain(files).map(SecretValue::from).collect()
    }

    fn now(&self) -> DateTime<Utc> {
        self.world.now()
    }

    fn chance(&self) -> f64 {
        self.world.random() as f64 / u64::MAX as f64
    }
}

fn read_file(path: &str) -> Result<Vec<u8>, String> {
    use std::io::Read as _;
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(|error| error.to_string())?;
    if !file.metadata().map_err(|error| error.to_string())?.is_file() {
        return Err("it is no file".to_owned());
    }
    file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(format!("it has more than {MAX_FILE_BYTES} bytes"));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::services::RealWorld;

    struct Kept(BTreeMap<String, String>);

    impl Secrets for Kept {
        fn read(&self, name: &str) -> Result<String, String> {
            self.0.get(name).cloned().ok_or_else(|| "it is not there".to_owned())
        }

        fn variable(&self, _name: &str) -> Option<String> {
            None
        }
    }

    #[test]
    fn the_hosts_are_those_that_were_granted_and_what_was_read_is_hidden() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("account.json").display().to_string();
        std::fs::write(&path, "the text of a key file\n").unwrap();
        let secrets = [("KEY", "value-of-a-key"), ("FILE", path.as_str()), ("OTHER", "never-read")];
        let names = secrets.map(|(name, _)| name.to_owned());
        let kept = secrets.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned()));
        let surroundings = |hosts: Option<Vec<HostPattern>>| Surroundings {
            agent: "a".to_owned(),
            listed: names.to_vec(),
            granted: names.to_vec(),
            ability: "llm.query".to_owned(),
            hosts,
            named: names.iter().cloned().collect(),
            files: BTreeMap::new(),
            secrets: Arc::new(Kept(kept.clone().collect())),
            world: Arc::new(RealWorld),
            read: Mutex::default(),
        };
        let granted = vec!["api.example.com".parse().unwrap()];
        let limited = surroundings(Some(granted.clone()));
        assert_eq!(limited.hosts(), Some(granted));
        limited.variable("KEY").unwrap();
        limited.variable("FILE").unwrap();
        limited.file(&path).unwrap();
        let told = Mask::new(&limited.hidden())
            .text(&format!("value-of-a-key, {path}, [the text of a key file], never-read"));
        assert_eq!(told, "***, ***, [***], never-read");

        let any = surroundings(None);
        assert_eq!(any.hosts(), None);
        assert!(
            any.variable("KEY")
                .is_err_and(|told| told.contains("goes only to a host that was granted by name"))
        );
    }
}
