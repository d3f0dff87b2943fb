//! What the runtime does with a model: asks, calls the tools that it wants, and asks again.

use nb_provider::{Answer, Call, Chat, Provider, ToolResult, Turn};
use serde_json::{Value, json};

use crate::support::{ask, tool};

/// A model that never comes to an end fails its test.
const MOST_ROUNDS: usize = 5;

/// A person says something; the conversation goes on until the model has no more calls. Gives its last answer, with the
/// text as it arrived.
pub async fn say(
    bot: &Provider,
    chat: &mut Chat,
    words: &str,
    stream: bool,
    tools: &mut dyn FnMut(&Call) -> Result<String, String>,
) -> (Answer, Vec<String>) {
    chat.turns.push(Turn::User(words.to_owned()));
    for _ in 0..MOST_ROUNDS {
        let (answer, pieces) = ask(bot, chat, stream).await;
        let answer = answer.unwrap_or_else(|error| panic!("{words}: {error}"));
        chat.turns.push(Turn::Model(answer.message()));
        if answer.calls.is_empty() {
            return (answer, pieces);
        }
        let results = answer.calls.iter().map(|call| {
            let (content, is_error) = match tools(call) {
                Ok(content) => (content, false),
                Err(reason) => (reason, true),
            };
            ToolResult { id: call.id.clone(), name: call.name.clone(), content, is_error }
        });
        chat.turns.push(Turn::Results(results.collect()));
    }
    panic!("{words}: still calls tools after {MOST_ROUNDS} rounds");
}

/// A bot with two tools, one of which has a name that no provider takes.
pub fn bot() -> Chat {
    let range = json!({
        "type": "object",
        "properties": {"from": {"type": "integer"}, "to": {"type": "integer"}, "label": {"type": "string"}},
        "required": ["from", "to"],
    });
    Chat {
        directive: Some("You are a cheerful bot.".to_owned()),
        backdrop: Some("It is Monday.".to_owned()),
        turns: Vec::new(),
        tools: vec![tool("random-number", Some(range)), tool("what time", None)],
    }
}

/// Names and arguments of calls, for a comparison.
pub fn named(call: &Call) -> (String, Value) {
    (call.name.clone(), call.arguments.to_value())
}
