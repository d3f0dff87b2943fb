//! Conversations, and the settings that they are asked with.

use std::fs;

use nb_provider::{Chat, Tool, Turn};
use serde_json::{Map, Value, json};

use crate::sdk::here;

/// One conversation, with a stream or without.
#[derive(Clone)]
pub struct Case {
    /// The name of its file, and whether it is streamed.
    pub name: String,
    pub chat: Chat,
    /// The same as it stands in the file.
    pub told: Value,
    pub model: String,
    pub settings: Map<String, Value>,
    pub stream: bool,
}

/// Every conversation of the folder `cases` with the settings of a service, each with a stream and without.
pub fn all(service: &str) -> Vec<Case> {
    let mut files: Vec<_> =
        fs::read_dir(here().join("cases")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let (model, specification, filled) = settings(service);
    let mut cases = Vec::new();
    for file in files {
        let told: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
        let settings = match told["settings"].as_str().unwrap() {
            "none" => Map::new(),
            "specification" => specification.clone(),
            "all" => filled.clone(),
            other => panic!("{}: settings are none, specification or all, not {other}", file.display()),
        };
        for stream in [false, true] {
            let way = if stream { "streamed" } else { "whole" };
            cases.push(Case {
                name: format!("{}, {way}", file.file_stem().unwrap().display()),
                chat: chat(&told),
                told: told.clone(),
                model: model.clone(),
                settings: settings.clone(),
                stream,
            });
        }
    }
    assert!(cases.len() > 20, "the cases are gone");
    cases
}

impl Case {
    /// The question to the SDK.
    pub fn question(&self, address: &str, key: &str) -> Value {
        json!({
            "address": address, "key": key, "model": self.model, "settings": self.settings, "chat": self.told,
            "stream": self.stream,
        })
    }
}

/// The model, the settings of the specification, and the same with a value for each that is null.
fn settings(service: &str) -> (String, Map<String, Value>, Map<String, Value>) {
    let file: Value =
        serde_yaml::from_str(&fs::read_to_string(here().join("settings.yaml")).unwrap()).unwrap();
    let given = &file[service];
    let specification = given["specification"].as_object().unwrap().clone();
    let mut filled = Value::Object(specification.clone());
    fill(&mut filled, &given["filled"]);
    let Value::Object(filled) = filled else { unreachable!() };
    (given["model"].as_str().unwrap().to_owned(), specification, filled)
}

fn fill(settings: &mut Value, with: &Value) {
    match (settings, with) {
        (Value::Object(settings), Value::Object(with)) => {
            for (key, value) in with {
                fill(settings.entry(key).or_insert(Value::Null), value);
            }
        }
        (settings, value) => *settings = value.clone(),
    }
}

fn chat(told: &Value) -> Chat {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let tool = |tool: &Value| Tool {
        name: text(&tool["name"]).unwrap(),
        description: text(&tool["description"]).unwrap(),
        parameters: Some(tool["parameters"].clone()),
    };
    let turns = told["turns"].as_array().unwrap();
    Chat {
        directive: text(&told["directive"]),
        backdrop: None,
        turns: turns.iter().map(|turn| serde_json::from_value::<Turn>(turn.clone()).unwrap()).collect(),
        tools: told["tools"].as_array().unwrap().iter().map(tool).collect(),
    }
}
