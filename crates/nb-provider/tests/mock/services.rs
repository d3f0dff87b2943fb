//! The services that the mock server imitates, and what is special about each.

use nb_provider::Provider;
use serde_json::{Map, Value, json};

use crate::bot::Service;
use crate::support::SECRET;

/// How the server reads the text of a result.
type Reading = fn(&str) -> String;

/// One of them.
pub struct Imitated {
    pub service: Service,
    /// Where its requests must arrive: with a stream, and without.
    pub paths: [&'static str; 2],
    /// What the model is said to have answered to the backdrop, where that has to be a turn of its own.
    pub acknowledged: Option<&'static str>,
    /// The result of a tool.
    pub result: Reading,
    /// The same when it failed.
    pub failed: Reading,
}

/// Each of them.
pub async fn all() -> Vec<Imitated> {
    const COMPLETIONS: [&str; 2] = ["/v1/chat/completions"; 2];
    let plain: Reading = str::to_owned;
    let marked: Reading = |text| format!("Error: {text}");
    let object: Reading = |text| json!({ "result": text }).to_string();
    let wrong: Reading = |text| json!({ "error": text }).to_string();
    let gemini = [
        "/v1beta/models/model-of-google:streamGenerateContent?alt=sse",
        "/v1beta/models/model-of-google:generateContent",
    ];
    let vertex = [
        "/v1/projects/our-project/locations/us-central1/publishers/google/models/model-of-vertex:streamGenerateContent?alt=sse",
        "/v1/projects/our-project/locations/us-central1/publishers/google/models/model-of-vertex:generateContent",
    ];
    vec![
        imitated("openai", COMPLETIONS, None, (plain, marked)).await,
        imitated("mistral", COMPLETIONS, None, (plain, marked)).await,
        imitated("maritaca", ["/api/chat/completions"; 2], None, (plain, marked)).await,
        // The mark of a failed tool is not in the text, and the server's reading has no place for it.
        imitated("anthropic", ["/v1/messages"; 2], Some("Ok."), (plain, plain)).await,
        imitated("google", gemini, Some("Understood."), (object, wrong)).await,
        imitated("vertex", vertex, Some("Understood."), (object, wrong)).await,
        imitated("ollama", ["/api/chat"; 2], None, (plain, marked)).await,
    ]
}

async fn imitated(
    name: &'static str,
    paths: [&'static str; 2],
    acknowledged: Option<&'static str>,
    (result, failed): (Reading, Reading),
) -> Imitated {
    Imitated { service: Service::new(name).await, paths, acknowledged, result, failed }
}

impl Imitated {
    /// The provider at the server's address, with these options.
    pub fn provider(&self, address: &str, options: &Value) -> Provider {
        let model = self.model();
        let mut section = self.service.section(address, &model, &Map::new());
        match self.service.name {
            // The server has no `v1` of it.
            "google" => section["credentials"]["version"] = json!("v1beta"),
            // As behind a proxy: the server wants a key of everybody.
            "ollama" => section["credentials"]["api-key"] = json!(SECRET),
            _ => {}
        }
        let own = section["options"].as_object_mut().unwrap();
        own.extend(options.as_object().unwrap().clone());
        self.service.open(section)
    }

    /// The model that is asked for.
    pub fn model(&self) -> String {
        format!("model-of-{}", self.service.name)
    }
}
