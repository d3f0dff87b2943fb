//! The surroundings of a provider that a person asks from a terminal: the variables and files of that person.

use std::path::PathBuf;

use chrono::{DateTime, Utc};
use nb_egress::HostRule;
use nb_spec::ProviderSection;
use nb_spec::cartridge::variable_name;
use ring::rand::{SecureRandom, SystemRandom};
use serde_json::Value;
use url::Url;

use crate::environment::{Environment, Variable};

/// The variables of this process and the files of its user.
#[derive(Debug, Clone)]
pub struct Terminal {
    /// The folder that relative paths begin at.
    pub folder: PathBuf,
}

impl Terminal {
    /// The hosts that may be reached although their address is not public: this machine, and the one that the section
    /// names, because the person who runs it named it.
    pub fn allowed(&self, section: &ProviderSection) -> Vec<HostRule> {
        let address = section.credentials.get("address").and_then(Value::as_str).and_then(|text| {
            match variable_name(text) {
                Some(name) => self.variable(name).ok().flatten().map(|variable| variable.value),
                None => Some(text.to_owned()),
            }
        });
        let named = address.and_then(|address| Url::parse(&address).ok()?.host_str().map(str::to_owned));
        let own = ["localhost", "127.0.0.1", "[::1]"].map(str::to_owned);
        own.into_iter().chain(named).filter_map(|host| host.parse().ok()).collect()
    }
}

impl Environment for Terminal {
    fn variable(&self, name: &str) -> Result<Option<Variable>, String> {
        match std::env::var(name) {
            Ok(value) => Ok(Some(Variable { value, hosts: None })),
            Err(std::env::VarError::NotPresent) => Ok(None),
            Err(std::env::VarError::NotUnicode(_)) => Err(format!("the variable {name} is not UTF-8 text")),
        }
    }

    fn file(&self, path: &str) -> Result<Vec<u8>, String> {
        std::fs::read(self.folder.join(path)).map_err(|error| error.to_string())
    }

    fn now(&self) -> DateTime<Utc> {
        Utc::now()
    }

    fn chance(&self) -> f64 {
        let mut bytes = [0; 2];
        // Without randomness nothing is spread, which harms nobody.
        let _ = SystemRandom::new().fill(&mut bytes);
        f64::from(u16::from_le_bytes(bytes)) / f64::from(u16::MAX)
    }
}
