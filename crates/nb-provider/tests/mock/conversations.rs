//! Conversations from the first words to the last, and what the server read of them.

use nb_provider::{Call, Stop, Usage};
use serde_json::{Value, json};

use crate::aimock::{Aimock, Noted};
use crate::services::{self, Imitated};
use crate::talk::{bot, named, say};

/// A tool that the model wants is called, and its result leads to the last words.
#[tokio::test]
async fn one_tool_is_called_and_its_result_is_answered() {
    let words = "Roll a die!";
    let Some(server) = Aimock::start("conversations.json") else { return };
    for (imitated, stream) in each().await {
        server.clear_journal().await;
        let name = imitated.service.name;
        let mut called = Vec::new();
        let mut chat = bot();
        let model = imitated.provider(&server.address, &json!({}));
        let (answer, pieces) = say(&model, &mut chat, words, stream, &mut |call| {
            called.push(named(call));
            Ok("rolled 4".to_owned())
        })
        .await;
        assert_eq!(answer.text, "It is a four: ⚃.", "{name}");
        assert_eq!(pieces.concat(), answer.text, "{name}");
        assert_eq!(pieces.len() > 1, stream, "{name}: {pieces:?}");
        assert_eq!(answer.stop, Some(Stop::Done), "{name}");
        let usage = Usage { input: 31, output: 7, cached: 0 };
        // The server counts no tokens for Ollama.
        let expected = if name == "ollama" { Usage::default() } else { usage };
        // It sends them to Mistral's clients only when these ask as OpenAI's do, which Mistral's do not.
        let silent = stream && matches!(name, "mistral" | "maritaca");
        assert_eq!(answer.usage, (!silent).then_some(expected), "{name}, stream {stream}");
        assert_eq!(called, [("random-number".to_owned(), json!({"from": 1, "to": 6}))], "{name}");

        let journal = server.journal().await;
        assert_eq!(journal.len(), 2, "{name}");
        let begin = opening(&imitated, words);
        let rest = json!([
            ["assistant", "I roll.", [["random-number", {"from": 1, "to": 6}]]],
            ["tool", (imitated.result)("rolled 4")],
        ]);
        assert_eq!(heard(&journal[0]), begin, "{name}");
        assert_eq!(heard(&journal[1]), joined(&begin, &rest), "{name}");
        for noted in &journal {
            check_request(&imitated, noted, stream);
        }
        if let Some(tokens) = &imitated.service.tokens {
            assert_eq!(tokens.received().len(), 1, "a token is used as long as it is good");
        }
    }
}

/// Two calls in one turn: both are carried out, one fails, and each result stands with its call.
#[tokio::test]
async fn two_tools_are_called_at_once() {
    let words = "The time, and a die!";
    let Some(server) = Aimock::start("conversations.json") else { return };
    for (imitated, stream) in each().await {
        server.clear_journal().await;
        let name = imitated.service.name;
        let mut called = Vec::new();
        let mut chat = bot();
        let model = imitated.provider(&server.address, &json!({}));
        let (answer, _) = say(&model, &mut chat, words, stream, &mut |call| {
            called.push(named(call));
            if call.name == "what time" { Err("no clock".to_owned()) } else { Ok("rolled 4".to_owned()) }
        })
        .await;
        assert_eq!(answer.text, "A four, and there is no clock.", "{name}");
        let dice = json!({"from": 1, "to": 6, "label": "a \"red\" one\nplease"});
        assert_eq!(
            called,
            [("what time".to_owned(), json!({})), ("random-number".to_owned(), dice.clone())],
            "{name}"
        );

        let journal = server.journal().await;
        assert_eq!(journal.len(), 2, "{name}");
        let rest = json!([
            ["assistant", "", [["what_time", {}], ["random-number", dice]]],
            ["tool", (imitated.failed)("no clock")],
            ["tool", (imitated.result)("rolled 4")],
        ]);
        assert_eq!(heard(&journal[1]), joined(&opening(&imitated, words), &rest), "{name}");
        check_ids(&imitated, &journal[1]);
    }
}

/// A result leads to another call; and what a person says after that has the whole conversation before it.
#[tokio::test]
async fn calls_follow_calls_and_the_conversation_goes_on() {
    let (first, second) = ("One die after the other!", "Together?");
    let Some(server) = Aimock::start("conversations.json") else { return };
    for (imitated, stream) in each().await {
        server.clear_journal().await;
        let name = imitated.service.name;
        let mut called = Vec::new();
        let mut roll = |call: &Call| {
            called.push(named(call));
            Ok(if called.len() == 1 { "rolled 4" } else { "rolled 2" }.to_owned())
        };
        let mut chat = bot();
        let model = imitated.provider(&server.address, &json!({}));
        let (answer, _) = say(&model, &mut chat, first, stream, &mut roll).await;
        assert_eq!(answer.text, "Four, then two.", "{name}");
        let (answer, _) = say(&model, &mut chat, second, stream, &mut roll).await;
        assert_eq!(answer.text, "Six.", "{name}");
        let dice = |to: u64| ("random-number".to_owned(), json!({"from": 1, "to": to}));
        assert_eq!(called, [dice(6), dice(4)], "{name}");

        let journal = server.journal().await;
        assert_eq!(journal.len(), 4, "{name}");
        let rest = json!([
            ["assistant", "", [["random-number", {"from": 1, "to": 6}]]],
            ["tool", (imitated.result)("rolled 4")],
            ["assistant", "", [["random-number", {"from": 1, "to": 4}]]],
            ["tool", (imitated.result)("rolled 2")],
            ["assistant", "Four, then two."],
            ["user", second],
        ]);
        assert_eq!(heard(&journal[3]), joined(&opening(&imitated, first), &rest), "{name}");
        check_ids(&imitated, &journal[3]);
    }
}

/// Each service with a stream and without.
async fn each() -> Vec<(Imitated, bool)> {
    let streamed = services::all().await.into_iter().map(|imitated| (imitated, true));
    let whole = services::all().await.into_iter().map(|imitated| (imitated, false));
    streamed.chain(whole).collect()
}

/// What stands before the first answer.
fn opening(imitated: &Imitated, words: &str) -> Value {
    let mut messages = vec![json!(["system", "You are a cheerful bot."]), json!(["user", "It is Monday."])];
    messages.extend(imitated.acknowledged.map(|text| json!(["assistant", text])));
    messages.push(json!(["user", words]));
    Value::Array(messages)
}

fn joined(begin: &Value, rest: &Value) -> Value {
    [begin, rest].into_iter().flat_map(|part| part.as_array().unwrap().clone()).collect()
}

/// The messages as the server read them: role, text, and calls where there are some.
fn heard(noted: &Noted) -> Value {
    let message = |message: &Value| {
        let text = match &message["content"] {
            Value::String(text) => text.clone(),
            Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
            Value::Null => String::new(),
            other => panic!("{other}"),
        };
        let mut heard = vec![message["role"].clone(), json!(text)];
        if let Some(calls) = message["tool_calls"].as_array() {
            let call = |call: &Value| {
                let arguments: Value =
                    serde_json::from_str(call["function"]["arguments"].as_str().unwrap()).unwrap();
                json!([call["function"]["name"], arguments])
            };
            heard.push(calls.iter().map(call).collect());
        }
        Value::Array(heard)
    };
    noted.body["messages"].as_array().unwrap().iter().map(message).collect()
}

/// Each result has the id of its call, where there are ids on the wire.
fn check_ids(imitated: &Imitated, noted: &Noted) {
    let name = imitated.service.name;
    let messages = noted.body["messages"].as_array().unwrap();
    let calls = messages.iter().flat_map(|message| message["tool_calls"].as_array().into_iter().flatten());
    let called: Vec<(&Value, &Value)> = calls.map(|call| (&call["id"], &call["function"]["name"])).collect();
    let results: Vec<&Value> = messages.iter().filter(|message| message["role"] == "tool").collect();
    assert_eq!(called.len(), results.len(), "{name}");
    for ((id, tool), result) in called.into_iter().zip(results) {
        if name != "ollama" {
            assert!(id.is_string(), "{name}: {noted:#?}");
            assert_eq!(&result["tool_call_id"], id, "{name}");
        }
        if name == "mistral" {
            assert_eq!(&result["name"], tool, "{name}");
        }
    }
}

/// Where a request went, which header proved who asks, for which model, and with which tools.
fn check_request(imitated: &Imitated, noted: &Noted, stream: bool) {
    let name = imitated.service.name;
    assert_eq!(noted.path, imitated.paths[usize::from(!stream)], "{name}");
    let header = match name {
        "anthropic" => "x-api-key",
        "google" => "x-goog-api-key",
        _ => "authorization",
    };
    // The server has checked the key itself.
    let proofs: Vec<&str> = ["authorization", "x-api-key", "x-goog-api-key"]
        .into_iter()
        .filter(|name| noted.headers.get(name).is_some())
        .collect();
    assert_eq!(proofs, [header], "{name}");
    assert_eq!(noted.body["model"], imitated.model(), "{name}");
    assert_eq!(noted.body["stream"], stream, "{name}");
    let tools = noted.body["tools"].as_array().unwrap();
    let names: Vec<&Value> = tools.iter().map(|tool| &tool["function"]["name"]).collect();
    assert_eq!(names, ["random-number", "what_time"], "{name}");
    let range = &tools[0]["function"]["parameters"];
    assert_eq!(range["properties"]["to"]["type"], "integer", "{name}: {range}");
    assert_eq!(range["required"], json!(["from", "to"]), "{name}");
}
