//! Ollama's own chat.
//!
//! Source: Ollama API documentation, "Generate a chat completion".

use async_trait::async_trait;
use nb_egress::Egress;
use serde_json::{Value, json};

use crate::address::Address;
use crate::answer::{Answer, Delta, Stop, Usage};
use crate::bearer::bearer;
use crate::chat::{Arguments, Call, Chat, Turn};
use crate::environment::Variable;
use crate::error::ProviderError;
use crate::frame::{Frame, Framing};
use crate::names::{NameRule, Names};
use crate::provider::Parts;
use crate::refusal::Refusal;
use crate::section::Section;
use crate::tools;
use crate::wire::{Authorization, Bad, Outgoing, Reader, Wire};

/// The credential that proves who asks. A server of one's own needs none; one behind a proxy may.
pub(crate) const KEY: &str = "api-key";

struct Ollama {
    section: Section,
    address: Address,
    url: String,
    key: Option<Variable>,
}

pub(crate) fn new(section: Section) -> Result<Parts, ProviderError> {
    section.refuse_settings(&["messages"])?;
    let address = Address::new(&section, "http://localhost:11434")?;
    let url = address.join("api/chat");
    let key = section.optional(KEY).cloned();
    let model = section.model("settings")?;
    Ok(Parts { wire: Box::new(Ollama { section, address: address.clone(), url, key }), address, model })
}

#[async_trait]
impl Wire for Ollama {
    fn request(&self, chat: &Chat, stream: bool) -> Result<Outgoing, ProviderError> {
        let names = Names::new(NameRule::COMMON, &chat.tools);
        let mut body = self.section.settings.clone();
        let mut declared = tools::own(&self.section, &mut body)?;
        for tool in &chat.tools {
            declared.push(tools::function(&self.section, tool, &names)?);
        }
        if !declared.is_empty() {
            body.insert("tools".to_owned(), Value::Array(declared));
        }
        // Without it, the answer comes as a stream.
        body.insert("stream".to_owned(), json!(stream));
        body.insert("messages".to_owned(), Value::Array(messages(chat, &names)));
        let framing = stream.then_some(Framing::Lines);
        Ok(Outgoing { url: self.url.clone(), headers: Vec::new(), body: Value::Object(body), framing, names })
    }

    async fn authorization(&self, _: &Egress, _: &Outgoing) -> Result<Authorization, ProviderError> {
        Ok(self.key.as_ref().map(|key| bearer(&self.address, key)).unwrap_or_default())
    }

    fn reader(&self, outgoing: &Outgoing) -> Box<dyn Reader> {
        Box::new(Lines { names: outgoing.names.clone(), answer: Answer::default(), done: false })
    }

    fn whole(&self, body: &Value, outgoing: &Outgoing) -> Result<Answer, Bad> {
        if body.get("message").is_none() {
            return Err("its answer has no `message`".into());
        }
        let mut lines = Lines { names: outgoing.names.clone(), answer: Answer::default(), done: false };
        lines.take(body, &mut |_| {});
        Ok(lines.answer())
    }
}

fn messages(chat: &Chat, names: &Names) -> Vec<Value> {
    let text = |role: &str, content: &str| json!({"role": role, "content": content});
    let mut messages = Vec::new();
    messages.extend(chat.directive.iter().map(|directive| text("system", directive)));
    messages.extend(chat.backdrop.iter().map(|backdrop| text("user", backdrop)));
    for turn in &chat.turns {
        match turn {
            Turn::User(content) => messages.push(text("user", content)),
            Turn::Model(message) => {
                let mut turn = text("assistant", &message.text);
                if !message.calls.is_empty() {
                    let calls = message.calls.iter().map(|call| {
                        json!({"function": {
                            "name": names.to_wire(&call.name), "arguments": call.arguments.to_value(),
                        }})
                    });
                    turn["tool_calls"] = calls.collect();
                }
                messages.push(turn);
            }
            Turn::Results(results) => messages.extend(results.iter().map(|result| {
                json!({"role": "tool", "tool_name": names.to_wire(&result.name), "content": result.text()})
            })),
        }
    }
    messages
}

/// Reads the lines of a stream.
struct Lines {
    names: Names,
    answer: Answer,
    done: bool,
}

impl Lines {
    fn take(&mut self, line: &Value, on: &mut (dyn FnMut(Delta<'_>) + Send)) {
        let message = line.get("message").unwrap_or(&Value::Null);
        let text = |key: &str| message.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
        if let Some(thinking) = text("thinking") {
            self.answer.thinking.push_str(thinking);
            on(Delta::Thinking(thinking));
        }
        if let Some(content) = text("content") {
            self.answer.text.push_str(content);
            on(Delta::Text(content));
        }
        for call in message.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
            let function = call.get("function").unwrap_or(&Value::Null);
            let name = function.get("name").and_then(Value::as_str).unwrap_or_default();
            let id = call.get("id").and_then(Value::as_str).filter(|id| !id.is_empty());
            let arguments = match function.get("arguments") {
                Some(Value::String(text)) => Arguments::parse(text),
                other => Arguments::from_value(other.cloned().unwrap_or_default()),
            };
            self.answer.calls.push(Call {
                id: id.map_or_else(|| format!("call_{}", self.answer.calls.len()), str::to_owned),
                name: self.names.to_real(name),
                arguments,
            });
        }
        if let Some(model) = line.get("model").and_then(Value::as_str) {
            self.answer.model = Some(model.to_owned());
        }
        if line.get("done").and_then(Value::as_bool) == Some(true) {
            self.end(line);
        }
    }

    fn end(&mut self, line: &Value) {
        self.done = true;
        let reason = line.get("done_reason").and_then(Value::as_str);
        self.answer.stop = Some(match reason {
            _ if !self.answer.calls.is_empty() => Stop::Calls,
            None | Some("stop" | "") => Stop::Done,
            Some("length") => Stop::Length,
            Some(_) => Stop::Other,
        });
        self.answer.stop_reason = reason.map(str::to_owned);
        let count = |key: &str| line.get(key).and_then(Value::as_u64);
        // A prompt that is in its cache as a whole is not counted.
        if let Some(output) = count("eval_count") {
            let input = count("prompt_eval_count").unwrap_or(0);
            self.answer.usage = Some(Usage { input, output, cached: 0 });
        }
    }
}

impl Reader for Lines {
    fn read(&mut self, frame: &Frame, on: &mut (dyn FnMut(Delta<'_>) + Send)) -> Result<(), Bad> {
        let line: Value = serde_json::from_slice(&frame.data)
            .map_err(|error| Bad::Malformed(format!("a line of its stream is no JSON: {error}")))?;
        if line.get("error").is_some_and(|error| !error.is_null()) {
            return Err(Bad::Refused(Refusal::read(&line)));
        }
        self.take(&line, on);
        Ok(())
    }

    fn is_whole(&self) -> bool {
        self.done
    }

    fn is_over(&self) -> bool {
        self.done
    }

    fn answer(&mut self) -> Answer {
        std::mem::take(&mut self.answer)
    }
}
