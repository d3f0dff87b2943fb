//! This crate's own side: a service of a provider, ready to be asked.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use chrono::{DateTime, Utc};
use nb_provider::{Environment, Provider, Variable};
use nb_spec::ProviderSection;
use serde_json::{Map, Value, json};

use crate::support::{Reply, SECRET, Server, Surroundings, egress};

/// A service and what its address needs beside a server.
pub struct Service {
    pub name: &'static str,
    /// Hands out tokens of access to accounts.
    pub tokens: Option<Server>,
    /// What the SDK is given as a key.
    pub key: String,
}

/// The token that accounts get.
pub const TOKEN: &str = "ya29.token-0123456789";

impl Service {
    pub async fn new(name: &'static str) -> Self {
        if name != "vertex" {
            return Self { name, tokens: None, key: SECRET.to_owned() };
        }
        let token = json!({"access_token": TOKEN, "expires_in": 3599, "token_type": "Bearer"});
        let tokens = Server::new([Reply::json(200, &token)]).await;
        let key = key_file(&format!("{}/token", tokens.address));
        Self { name, tokens: Some(tokens), key }
    }

    /// The provider at an address.
    pub fn provider(&self, address: &str, model: &str, settings: &Map<String, Value>) -> Provider {
        self.open(self.section(address, model, settings))
    }

    /// Its section. Nothing is asked twice.
    pub fn section(&self, address: &str, model: &str, settings: &Map<String, Value>) -> Value {
        let key = match self.name {
            "openai" => json!({"address": address, "access-token": SECRET}),
            "google" => {
                json!({"address": address, "service": "generative-language-api", "api-key": SECRET})
            }
            "vertex" => {
                json!({"address": address, "service": "vertex-ai-api", "region": "us-central1", "file-path": "key.json"})
            }
            "ollama" => json!({"address": address}),
            _ => json!({"address": address, "api-key": SECRET}),
        };
        let id = if self.name == "vertex" { "google" } else { self.name };
        let (mut settings, mut options) = (settings.clone(), json!({"retries": 0}));
        if id == "google" {
            options["model"] = json!(model);
        } else {
            settings.insert("model".to_owned(), json!(model));
        }
        json!({"id": id, "credentials": key, "settings": settings, "options": options})
    }

    /// The provider of a section.
    pub fn open(&self, section: Value) -> Provider {
        let section: ProviderSection = serde_json::from_value(section).unwrap();
        let files: BTreeMap<_, _> = [("key.json".to_owned(), self.key.clone())].into();
        let surroundings = Now(Surroundings { files, ..Surroundings::default() });
        Provider::new(&section, Arc::new(surroundings), egress()).unwrap()
    }
}

/// Surroundings with the true time: google-auth refuses what was signed at another.
struct Now(Surroundings);

impl Environment for Now {
    fn variable(&self, name: &str) -> Result<Option<Variable>, String> {
        self.0.variable(name)
    }

    fn file(&self, path: &str) -> Result<Vec<u8>, String> {
        self.0.file(path)
    }

    fn now(&self) -> DateTime<Utc> {
        Utc::now()
    }

    fn chance(&self) -> f64 {
        0.0
    }
}

/// A key pair that is made for this run: PEM texts of the private and the public key.
pub fn key_pair() -> &'static (String, String) {
    use rsa::pkcs8::{EncodePrivateKey, EncodePublicKey, LineEnding};
    static PAIR: OnceLock<(String, String)> = OnceLock::new();
    PAIR.get_or_init(|| {
        let key = rsa::RsaPrivateKey::new(&mut rsa::rand_core::OsRng, 2048).unwrap();
        let public = key.to_public_key().to_public_key_pem(LineEnding::LF).unwrap();
        (key.to_pkcs8_pem(LineEnding::LF).unwrap().to_string(), public)
    })
}

fn key_file(token_uri: &str) -> String {
    json!({
        "type": "service_account", "project_id": "our-project", "private_key_id": "kid-1",
        "private_key": key_pair().0, "client_email": "bot@our-project.iam.gserviceaccount.com", "client_id": "1",
        "token_uri": token_uri,
    })
    .to_string()
}
