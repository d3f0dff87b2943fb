//! Language models: what is asked, within which bounds, and what the record says of it. What the tests share is here.

mod budgets;
mod messages;
mod secrets;
mod tools;

use std::time::Duration;

use nb_runtime::models::message::ModelMessage;
use nb_runtime::record::RunEvent;
use serde_json::{Value, json};

use crate::common::{AgentBuilder, Home, agent, task};
use crate::server::Server;

const KEY: &str = "sk-s3cret/Value";

/// An agent with a chain of one step, and a model that answers by a transcript.
fn scripted(turns: &str, step: &str) -> AgentBuilder {
    let cartridge = format!("provider: {{id: scripted, options: {{turns: {turns}}}}}\n");
    agent("m")
        .asks(&["llm.chat", "llm.query"])
        .file("cartridge.yml", cartridge)
        .chain("c", &format!("steps: [{{id: s, {step}}}]"))
}

/// The same with a model behind a server that speaks like OpenAI.
fn openai(server: &Server, permission: &str) -> AgentBuilder {
    let cartridge = format!(
        "provider:\n  id: openai\n  credentials: {{address: 'http://{}', access-token: ENV/KEY}}\n  \
         settings: {{model: gpt-4o, stream: false}}\n",
        server.host()
    );
    agent("m")
        .asks(&[permission])
        .set("secrets", json!(["KEY"]))
        .file("cartridge.yml", cartridge)
        .chain("c", "steps: [{id: s, ability: llm.query, args: {prompt: Hi}}]")
}

/// What OpenAI answers.
fn completion(text: &str) -> Option<String> {
    let body = json!({
        "id": "chatcmpl-1", "model": "gpt-4o-2024", "choices": [
            {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"},
        ],
        "usage": {"prompt_tokens": 8, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 0}},
    });
    answer("200 OK", &body.to_string())
}

/// The same agent, whose model streams.
fn openai_streaming(server: &Server) -> AgentBuilder {
    let cartridge = format!(
        "provider:\n  id: openai\n  credentials: {{address: 'http://{}', access-token: ENV/KEY}}\n  \
         settings: {{model: gpt-4o}}\n",
        server.host()
    );
    openai(server, &format!("llm.query:{}", server.host())).file("cartridge.yml", cartridge)
}

/// What OpenAI streams: these pieces, and then a reason to stop, unless it is empty.
fn streamed(pieces: &[&str], stop: &str) -> Option<String> {
    let choice = |delta: Value, stop: Option<&str>| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": stop});
        format!("data: {}\n\n", json!({"id": "chatcmpl-1", "model": "gpt-4o-2024", "choices": [choice]}))
    };
    let mut text =
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n".to_owned();
    pieces.iter().for_each(|piece| text += &choice(json!({"content": piece}), None));
    if !stop.is_empty() {
        text += &choice(json!({}), Some(stop));
        text += "data: [DONE]\n\n";
    }
    Some(text)
}

fn answer(status: &str, body: &str) -> Option<String> {
    let length = body.len();
    Some(format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\nx-request-id: req_1\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
    ))
}

fn messages(record: &[RunEvent]) -> Vec<ModelMessage> {
    let message = |event: &RunEvent| match event {
        RunEvent::ModelMessage(message) => Some((**message).clone()),
        _ => None,
    };
    record.iter().filter_map(message).collect()
}

fn logged(record: &[RunEvent]) -> Vec<String> {
    let line = |event: &RunEvent| match event {
        RunEvent::Log { level, message } => Some(format!("{level}: {message}")),
        _ => None,
    };
    record.iter().filter_map(line).collect()
}

/// Cancels runs of a server that never ends its answer, until this much of it was heard by one; gives the records of all.
async fn cancelled_when_heard(home: &Home, server: &Server, said: &str) -> Vec<RunEvent> {
    let mut records = Vec::new();
    // When a piece of an answer is there shows nowhere outside.
    for wait in [10, 100, 1000, 10_000] {
        let run = home.start("m", task("c"), json!({})).await;
        server.asked.notified().await;
        tokio::time::sleep(Duration::from_millis(wait)).await;
        home.engine.cancel(&run, nb_runtime::engine::BY_A_PERSON);
        home.end_of(&run).await;
        let record = home.record(&run);
        let is_heard = messages(&record).remove(0).said == said;
        records.extend(record);
        if is_heard {
            return records;
        }
    }
    panic!("it was not heard: {records:?}");
}

/// Waits for what no record tells.
async fn eventually(holds: impl Fn() -> bool) {
    let wait = async {
        while !holds() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), wait).await.unwrap();
}

/// Runs the chain of `m` and gives its output, or its error without the step.
async fn run(home: &Home) -> (Result<Value, String>, Vec<RunEvent>) {
    let row = home.run("m", task("c"), json!({})).await;
    let result = match row.error {
        None => Ok(row.output.unwrap_or_default()),
        Some(error) => Err(error.trim_start_matches("step `s`: ").to_owned()),
    };
    (result, home.record(&row.id))
}
