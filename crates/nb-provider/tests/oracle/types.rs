//! Our bodies are right by the types of the official SDKs, and they have no key that those do not know. Bodies that are
//! wrong are not.

use std::fs;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::answers::reply;
use crate::bot::Service;
use crate::cases::{self, Case};
use crate::differences;
use crate::sdk::{Sdk, here};
use crate::support::{Server, ask};

/// What makes a body wrong: a place in it, and the value that it gets. Without a value, the place is taken away.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wrong {
    at: String,
    #[serde(default, deserialize_with = "differences::present")]
    value: Option<Value>,
}

/// The case that has most in it.
const FULL: &str = "all-settings-with-tools, streamed";

async fn check(service: &'static str) {
    let Some(sdk) = Sdk::find() else { return };
    let service = Service::new(service).await;
    let cases = cases::all(service.name);
    let bodies = bodies(&service, &cases).await;
    let full = cases.iter().position(|case| case.name == FULL).unwrap();
    let wrong = wrong(service.name);
    let mut questions: Vec<Value> = Vec::new();
    for (case, body) in cases.iter().zip(&bodies) {
        questions.push(json!({"body": body, "stream": case.stream}));
    }
    for wrong in &wrong {
        questions.push(json!({"body": wrong.made_of(&bodies[full]), "stream": true}));
    }
    let mut answers = sdk.run(&["check", service.name], questions).await;
    let rejected = answers.split_off(cases.len());
    let told = answers[full].as_array().unwrap().clone();
    for (wrong, problems) in wrong.iter().zip(&rejected) {
        assert!(
            problems.as_array().unwrap().iter().any(|problem| !told.contains(problem)),
            "{wrong:?} is taken"
        );
    }
    let mut found = Vec::new();
    for (case, problems) in cases.iter().zip(&answers) {
        for problem in problems.as_array().unwrap() {
            let at = problem["at"].as_str().unwrap();
            found.push(differences::at(&case.name, at, problem["problem"].clone()));
        }
    }
    differences::expect("types", service.name, &found);
}

/// What is sent for each case.
async fn bodies(service: &Service, cases: &[Case]) -> Vec<Value> {
    let server = Server::new(cases.iter().map(|case| reply(service.name, case))).await;
    for case in cases {
        let provider = service.provider(&server.address, &case.model, &case.settings);
        ask(&provider, &case.chat, case.stream).await.0.unwrap();
    }
    server.received().into_iter().map(|received| received.body).collect()
}

fn wrong(service: &str) -> Vec<Wrong> {
    let file: Map<String, Value> =
        serde_yaml::from_str(&fs::read_to_string(here().join("wrong.yaml")).unwrap()).unwrap();
    let wrong: Vec<Wrong> = serde_json::from_value(file[service].clone()).unwrap();
    assert!(wrong.len() > 2, "{service}: nothing is wrong");
    wrong
}

impl Wrong {
    fn made_of(&self, body: &Value) -> Value {
        let mut body = body.clone();
        let (around, last) = self.at.rsplit_once('/').unwrap();
        let place = body.pointer_mut(around).unwrap_or_else(|| panic!("{self:?}: there is no such place"));
        match (place, &self.value) {
            (Value::Object(map), Some(value)) => drop(map.insert(last.to_owned(), value.clone())),
            (Value::Object(map), None) => drop(map.shift_remove(last).expect("it is there")),
            (other, _) => panic!("{self:?}: {other} is not an object"),
        }
        body
    }
}

#[tokio::test]
async fn bodies_are_of_the_types_of_the_official_sdk_openai() {
    check("openai").await;
}

#[tokio::test]
async fn bodies_are_of_the_types_of_the_official_sdk_anthropic() {
    check("anthropic").await;
}

#[tokio::test]
async fn bodies_are_of_the_types_of_the_official_sdk_cohere() {
    check("cohere").await;
}

#[tokio::test]
async fn bodies_are_of_the_types_of_the_official_sdk_google() {
    check("google").await;
}

#[tokio::test]
async fn bodies_are_of_the_types_of_the_official_sdk_vertex() {
    check("vertex").await;
}

#[tokio::test]
async fn bodies_are_of_the_types_of_the_official_sdk_mistral() {
    check("mistral").await;
}

#[tokio::test]
async fn bodies_are_of_the_types_of_the_official_sdk_ollama() {
    check("ollama").await;
}

#[tokio::test]
async fn bodies_are_of_the_types_of_the_official_sdk_maritaca() {
    check("maritaca").await;
}
