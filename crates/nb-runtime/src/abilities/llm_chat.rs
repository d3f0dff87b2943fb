//! `llm.chat`: a conversation with the agent's model, which may call the agent's tools.

use async_trait::async_trait;
use nb_provider::{Message, Tool, Turn};
use nb_spec::condition::as_text;
use serde::Deserialize;
use serde_json::{Value, json};

use super::asks_model::AsksModel;
use crate::ability::{AbilityCall, Caller};
use crate::installed::Installed;
use crate::models::{Said, begin, talk};

/// The most rounds of calls, and how many there may be when nobody says it.
const MAX_ROUNDS: u32 = 10;

pub(super) struct LlmChat;

#[derive(Deserialize)]
struct Args {
    prompt: Option<Value>,
    #[serde(default)]
    messages: Vec<Spoken>,
    system: Option<String>,
    #[serde(default)]
    tools: Vec<String>,
    rounds: Option<u32>,
}

/// What was said before.
#[derive(Deserialize)]
struct Spoken {
    role: Role,
    content: Value,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Role {
    User,
    Assistant,
}

#[async_trait]
impl AsksModel for LlmChat {
    const NAME: &'static str = "llm.chat";

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "prompt": {"description": "What to say; other values as JSON.", "minLength": 1},
                "messages": {
                    "type": "array", "minItems": 1,
                    "items": {
                        "type": "object",
                        "properties": {"role": {"enum": ["user", "assistant"]}, "content": {"minLength": 1}},
                        "required": ["role", "content"],
                        "additionalProperties": false
                    }
                },
                "system": {"type": "string", "description": "In place of the cartridge's directive."},
                "tools": {"type": "array", "items": {"type": "string"}},
                "rounds": {"type": "integer", "minimum": 1, "maximum": MAX_ROUNDS}
            },
            "anyOf": [{"required": ["prompt"]}, {"required": ["messages"]}],
            "additionalProperties": false
        })
    }

    async fn ask(&self, call: &AbilityCall<'_>, args: Value) -> Result<Value, String> {
        let Args { prompt, messages, system, tools, rounds } = super::parse(args)?;
        let turns = turns(prompt, messages)?;
        if !tools.is_empty() && call.caller == Caller::Tool {
            return Err("`tools` can be given in a step of a chain alone: a tool that calls it holds a place in the sandbox \
                        while the others would wait for one; leave `tools` out, or call it from a chain"
                .to_owned());
        }
        let tools = tools.iter().map(|name| declared(&call.run.agent, name)).collect::<Result<_, _>>()?;
        let (model, chat) = begin(call, Self::NAME, system, turns)?;
        let chat = nb_provider::Chat { tools, ..chat };
        let said = talk(call.run, &model, chat, rounds.unwrap_or(MAX_ROUNDS)).await?;
        Ok(answer(said))
    }
}

fn turns(prompt: Option<Value>, messages: Vec<Spoken>) -> Result<Vec<Turn>, String> {
    match (prompt, messages.last()) {
        (Some(_), Some(_)) => Err("give `prompt` or `messages`, not both".to_owned()),
        (Some(prompt), None) => Ok(vec![Turn::User(as_text(&prompt))]),
        (None, Some(last)) if last.role == Role::User => Ok(messages.into_iter().map(turn).collect()),
        (None, _) => Err("the last of `messages` must be of the role `user`: it is answered".to_owned()),
    }
}

fn turn(spoken: Spoken) -> Turn {
    let text = as_text(&spoken.content);
    match spoken.role {
        Role::User => Turn::User(text),
        Role::Assistant => Turn::Model(Message { text, ..Message::default() }),
    }
}

/// A tool of the agent as a model is told of it.
fn declared(agent: &Installed, name: &str) -> Result<Tool, String> {
    let tool = agent.spec.tools.get(name).ok_or_else(|| {
        let names: Vec<&str> = agent.spec.tools.keys().map(String::as_str).collect();
        let there =
            if names.is_empty() { "it has none".to_owned() } else { format!("it has {}", names.join(", ")) };
        format!("`tools`: {} has no tool `{name}`; {there}", agent.name())
    })?;
    // A schema that says nothing more is as good as none, and some providers refuse it.
    let takes_any = tool.parameters == json!({"type": "object"});
    let parameters = (!takes_any).then(|| tool.parameters.clone());
    Ok(Tool { name: tool.name.clone(), description: tool.description.clone(), parameters })
}

fn answer(said: Said) -> Value {
    let mut answer = json!({
        "text": said.text, "stop": said.stop, "model": said.model, "usage": said.usage, "rounds": said.rounds,
    });
    if said.estimated {
        answer["usage"]["estimated"] = json!(true);
    }
    if let Some(usd) = said.usd {
        answer["usd"] = json!(usd);
    }
    answer
}
