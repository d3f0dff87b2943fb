//! Maritaca AI: its own interface, which knows no tools, and its OpenAI-shaped one for conversations with tools.
//!
//! Source: Maritaca documentation, "Chat" (`/api/chat/inference`) and "OpenAI compatibility" (`/api/chat/completions`).

use async_trait::async_trait;
use nb_egress::Egress;
use serde_json::{Value, json};

use crate::address::Address;
use crate::answer::{Answer, Delta, Stop, Usage};
use crate::bearer::{bearer, header};
use crate::chat::{Chat, Turn};
use crate::chat_completions::{self, ChatReader, Dialect};
use crate::environment::Variable;
use crate::error::ProviderError;
use crate::frame::{Frame, Framing};
use crate::names::{NameRule, Names};
use crate::provider::Parts;
use crate::refusal::Refusal;
use crate::section::Section;
use crate::wire::{Authorization, Bad, Outgoing, Reader, Wire};

/// The credential that proves who asks.
pub(crate) const KEY: &str = "api-key";
const DIALECT: Dialect = Dialect { asks_for_usage: false, names_results: false };

struct Maritaca {
    section: Section,
    address: Address,
    key: Variable,
    /// The interface without tools.
    own: String,
    /// The one with them.
    shared: String,
}

pub(crate) fn new(section: Section) -> Result<Parts, ProviderError> {
    section.refuse_settings(&["messages"])?;
    let address = Address::new(&section, "https://chat.maritaca.ai")?;
    let key = section.required(KEY, "MARITACA_API_KEY")?.clone();
    let model = section.model("settings")?;
    let (own, shared) = (address.join("api/chat/inference"), address.join("api/chat/completions"));
    let wire = Maritaca { section, address: address.clone(), key, own, shared };
    Ok(Parts { wire: Box::new(wire), address, model })
}

impl Maritaca {
    fn is_own(&self, outgoing: &Outgoing) -> bool {
        outgoing.url == self.own
    }

    fn own_body(&self, chat: &Chat, stream: bool) -> Value {
        let text = |role: &str, content: &str| json!({"role": role, "content": content});
        let mut messages = Vec::new();
        // It has no system role.
        messages.extend(chat.directive.iter().chain(&chat.backdrop).map(|content| text("user", content)));
        for turn in &chat.turns {
            match turn {
                Turn::User(content) => messages.push(text("user", content)),
                Turn::Model(message) => messages.push(text("assistant", &message.text)),
                Turn::Results(_) => {}
            }
        }
        let mut body = self.section.settings.clone();
        // Without tools to choose from.
        body.shift_remove("tool_choice");
        body.shift_remove("parallel_tool_calls");
        body.entry("chat_mode").or_insert(json!(true));
        body.insert("stream".to_owned(), json!(stream));
        body.insert("messages".to_owned(), Value::Array(messages));
        Value::Object(body)
    }
}

#[async_trait]
impl Wire for Maritaca {
    fn request(&self, chat: &Chat, stream: bool) -> Result<Outgoing, ProviderError> {
        let names = Names::new(NameRule::COMMON, &chat.tools);
        let had_tools = chat.turns.iter().any(|turn| match turn {
            Turn::Results(_) => true,
            Turn::Model(message) => !message.calls.is_empty(),
            Turn::User(_) => false,
        });
        let own = chat.tools.is_empty() && !had_tools && !self.section.settings.contains_key("tools");
        let (url, body) = if own {
            (self.own.clone(), self.own_body(chat, stream))
        } else {
            (self.shared.clone(), chat_completions::body(DIALECT, &self.section, chat, stream, &names)?)
        };
        let framing = stream.then_some(Framing::Events);
        Ok(Outgoing { url, headers: Vec::new(), body, framing, names })
    }

    async fn authorization(&self, _: &Egress, outgoing: &Outgoing) -> Result<Authorization, ProviderError> {
        Ok(if self.is_own(outgoing) {
            header("authorization", "Key ", &self.address, &self.key)
        } else {
            bearer(&self.address, &self.key)
        })
    }

    fn reader(&self, outgoing: &Outgoing) -> Box<dyn Reader> {
        if self.is_own(outgoing) {
            Box::new(OwnReader::default())
        } else {
            Box::new(ChatReader::new(outgoing.names.clone()))
        }
    }

    fn whole(&self, body: &Value, outgoing: &Outgoing) -> Result<Answer, Bad> {
        if !self.is_own(outgoing) {
            return chat_completions::whole(body, &outgoing.names);
        }
        let text = body.get("answer").and_then(Value::as_str).ok_or("its answer has no `answer`")?;
        let mut answer = Answer { text: text.to_owned(), stop: Some(Stop::Done), ..Answer::default() };
        head(&mut answer, body);
        Ok(answer)
    }
}

fn head(answer: &mut Answer, value: &Value) {
    if let Some(model) = value.get("model").and_then(Value::as_str) {
        answer.model = Some(model.to_owned());
    }
    let count = |key: &str| value.pointer(&format!("/usage/{key}")).and_then(Value::as_u64);
    if let Some(input) = count("prompt_tokens") {
        answer.usage = Some(Usage { input, output: count("completion_tokens").unwrap_or(0), cached: 0 });
    }
}

/// Reads its own stream: `{"text": "…"}` an event. Nothing marks the end but the end of the connection.
#[derive(Default)]
struct OwnReader {
    answer: Answer,
    began: bool,
}

impl Reader for OwnReader {
    fn read(&mut self, frame: &Frame, on: &mut (dyn FnMut(Delta<'_>) + Send)) -> Result<(), Bad> {
        if frame.data.trim_ascii().is_empty() || frame.data.trim_ascii() == b"[DONE]" {
            return Ok(());
        }
        let event: Value = serde_json::from_slice(&frame.data)
            .map_err(|error| Bad::Malformed(format!("an event of its stream is no JSON: {error}")))?;
        if frame.event.as_deref() == Some("error")
            || event.get("error").is_some()
            || event.get("detail").is_some()
        {
            return Err(Bad::Refused(Refusal::read(&event)));
        }
        self.began = true;
        head(&mut self.answer, &event);
        if let Some(text) = event.get("text").and_then(Value::as_str).filter(|text| !text.is_empty()) {
            self.answer.text.push_str(text);
            on(Delta::Text(text));
        }
        Ok(())
    }

    fn is_whole(&self) -> bool {
        self.began
    }

    fn marks_end(&self) -> bool {
        false
    }

    fn answer(&mut self) -> Answer {
        let mut answer = std::mem::take(&mut self.answer);
        answer.stop = self.began.then_some(Stop::Done);
        answer
    }
}
