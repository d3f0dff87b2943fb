//! The same bytes of a stream give the answer that the official SDK reads in them.

use std::fs;

use nb_provider::{Chat, Turn};
use serde_json::{Map, Value, json};

use crate::answers::{self, streams};
use crate::bot::Service;
use crate::differences;
use crate::sdk::Sdk;
use crate::support::{Reply, Server, ask, tool, user};

/// The files of a provider: their names and contents.
fn files(provider: &str) -> Vec<(String, String)> {
    let mut files: Vec<(String, String)> = fs::read_dir(streams())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.file_stem().unwrap().display().to_string(), fs::read_to_string(path).unwrap()))
        .filter(|(name, _)| name.split('-').next() == Some(provider))
        .collect();
    files.sort();
    assert!(files.len() > 2, "the streams are gone");
    files
}

async fn compare(service: &'static str) {
    let Some(sdk) = Sdk::find() else { return };
    let service = Service::new(service).await;
    let files = files(service.name);
    let replies: Vec<Reply> = files.iter().map(|(_, text)| answers::stream(service.name, text)).collect();
    let (ours, theirs) = (Server::new(replies.clone()).await, Server::new(replies).await);
    let chats: Vec<Chat> = files.iter().map(|(_, text)| chat(service.name, text)).collect();
    let questions = chats.iter().map(|chat| question(chat, &theirs.address, &service.key)).collect();
    let answers = sdk.run(&["ask", service.name], questions).await;
    let provider = service.provider(&ours.address, "m", &Map::new());
    let mut found = Vec::new();
    let empty =
        |answer: &Value| answer["text"] == "" && answer["calls"] == json!([]) && answer["error"].is_null();
    assert!(answers.iter().filter(|answer| empty(answer)).count() < 3, "the SDK reads nothing: {answers:?}");
    for (((name, text), chat), answer) in files.iter().zip(&chats).zip(answers) {
        let own = ask(&provider, chat, true).await.0;
        if let (Some(turn), Ok(own)) = (answer.get("turn"), &own) {
            let mut chat = chat.clone();
            chat.turns.push(Turn::Model(own.message()));
            let server = Server::new([answers::stream(service.name, text)]).await;
            let again = service.provider(&server.address, "m", &Map::new());
            ask(&again, &chat, true).await.0.unwrap();
            let sent = match server.only().body["messages"].get(1).map(|message| &message["content"]) {
                Some(Value::String(text)) => json!([{"type": "text", "text": text}]),
                Some(blocks) => blocks.clone(),
                None => json!([]),
            };
            found.extend(differences::between(name, &json!({"turn": sent}), &json!({ "turn": turn })));
        }
        found.extend(answers::between(name, &own, answer));
    }
    differences::expect("streams", service.name, &found);
}

/// A conversation with tools, where the provider's interface for them is the one that the stream comes from.
fn chat(service: &str, text: &str) -> Chat {
    let mut chat = user("Hi.");
    if service != "maritaca" || text.contains("\"choices\"") {
        let schema =
            json!({"type": "object", "properties": {"from": {"type": "integer"}, "to": {"type": "integer"}}});
        chat.tools = vec![
            tool("random_number", Some(schema)),
            tool("what_time", Some(json!({"type": "object", "properties": {}}))),
        ];
    }
    chat
}

fn question(chat: &Chat, address: &str, key: &str) -> Value {
    let tools: Vec<Value> = chat
        .tools
        .iter()
        .map(
            |tool| json!({"name": tool.name, "description": tool.description, "parameters": tool.parameters}),
        )
        .collect();
    json!({
        "address": address, "key": key, "model": "m", "settings": {}, "stream": true,
        "chat": {"directive": null, "turns": chat.turns, "tools": tools},
    })
}

#[tokio::test]
async fn streams_are_read_as_by_the_official_sdk_openai() {
    compare("openai").await;
}

#[tokio::test]
async fn streams_are_read_as_by_the_official_sdk_anthropic() {
    compare("anthropic").await;
}

#[tokio::test]
async fn streams_are_read_as_by_the_official_sdk_cohere() {
    compare("cohere").await;
}

#[tokio::test]
async fn streams_are_read_as_by_the_official_sdk_google() {
    compare("google").await;
}

#[tokio::test]
async fn streams_are_read_as_by_the_official_sdk_mistral() {
    compare("mistral").await;
}

#[tokio::test]
async fn streams_are_read_as_by_the_official_sdk_ollama() {
    compare("ollama").await;
}

#[tokio::test]
async fn streams_are_read_as_by_the_official_sdk_maritaca() {
    compare("maritaca").await;
}
