//! What a provider answers, and what each side makes of it.

use std::fs;
use std::path::{Path, PathBuf};

use nb_provider::{Answer, Arguments, ProviderError};
use serde_json::{Value, json};

use crate::cases::Case;
use crate::differences::{self, Found};
use crate::sdk::here;
use crate::support::Reply;

/// The folder of streams as they come over the wire, one a file: `PROVIDER-WHAT.txt`.
pub fn streams() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/streams")
}

/// A stream, under the type that the provider gives it.
pub fn stream(service: &str, text: &str) -> Reply {
    let kind = match service {
        "cohere" => "application/stream+json",
        "ollama" => "application/x-ndjson",
        _ => "text/event-stream",
    };
    Reply::stream(kind, text)
}

/// Something that a provider would answer to a case.
pub fn reply(service: &str, case: &Case) -> Reply {
    let provider = match service {
        "vertex" => "google",
        // Its interface with tools.
        "maritaca" if !case.chat.tools.is_empty() => "openai",
        other => other,
    };
    if case.stream {
        let file = streams().join(format!("{provider}-text.txt"));
        return stream(provider, &fs::read_to_string(file).unwrap());
    }
    let file = here().join(format!("answers/{provider}.json"));
    Reply::json(200, &serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap())
}

/// The places where our answer and that of an SDK differ.
pub fn between(case: &str, ours: &Result<Answer, ProviderError>, mut theirs: Value) -> Vec<Found> {
    let nothing = Answer::default();
    let (answer, error) = match ours {
        Ok(answer) => (answer, None),
        Err(error) => (error.received.as_deref().unwrap_or(&nothing), Some(&error.message)),
    };
    let nameless: Vec<bool> =
        theirs["calls"].as_array().unwrap().iter().map(|call| call["id"].is_null()).collect();
    let calls: Vec<Value> = answer
        .calls
        .iter()
        .enumerate()
        .map(|(number, call)| {
            let arguments = match &call.arguments {
                Arguments::Object(object) => Value::Object(object.clone()),
                Arguments::Unreadable(text) => json!(text),
            };
            // Where a provider has no names for calls, ours is our own.
            let id = if nameless.get(number) == Some(&true) { Value::Null } else { json!(call.id) };
            json!({"id": id, "name": call.name, "arguments": arguments})
        })
        .collect();
    let usage = answer
        .usage
        .map(|usage| json!({"input": usage.input, "output": usage.output, "cached": usage.cached}));
    let ours = json!({
        "text": answer.text, "thinking": answer.thinking, "calls": calls, "stop": answer.stop_reason,
        "usage": usage, "error": error,
    });
    // How a turn goes back is asked for by itself.
    theirs.as_object_mut().unwrap().shift_remove("turn");
    differences::between(case, &json!({ "answer": ours }), &json!({ "answer": theirs }))
}
