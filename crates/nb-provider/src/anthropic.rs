//! Anthropic's messages.
//!
//! Source: Anthropic API reference, "Messages" and "Streaming messages", version 2023-06-01.

use async_trait::async_trait;
use nb_egress::Egress;
use serde_json::{Value, json};

use crate::address::Address;
use crate::answer::{Answer, Delta, Stop, Usage};
use crate::bearer::header;
use crate::chat::{Arguments, Call, Chat, Message, Native, Turn};
use crate::environment::Variable;
use crate::error::ProviderError;
use crate::frame::{Frame, Framing};
use crate::names::{NameRule, Names};
use crate::provider::Parts;
use crate::refusal::Refusal;
use crate::section::Section;
use crate::wire::{Authorization, Bad, Outgoing, Reader, Wire};
use crate::{ProviderId, schema, tools};

/// The credential that proves who asks.
pub(crate) const KEY: &str = "api-key";
/// The version that the specification's settings belong to.
const VERSION: &str = "2023-06-01";
/// `max_tokens` has no default there. This much every model of today can write.
const MAX_TOKENS: u64 = 4096;

struct Anthropic {
    section: Section,
    address: Address,
    url: String,
    key: Variable,
    version: String,
}

pub(crate) fn new(section: Section) -> Result<Parts, ProviderError> {
    section.refuse_settings(&["messages", "system"])?;
    let address = Address::new(&section, "https://api.anthropic.com")?;
    let url = address.join("v1/messages");
    let key = section.required(KEY, "ANTHROPIC_API_KEY")?.clone();
    let version =
        section.optional("anthropic-version").map_or(VERSION, |version| version.value.as_str()).to_owned();
    let model = section.model("settings")?;
    Ok(Parts {
        wire: Box::new(Anthropic { section, address: address.clone(), url, key, version }),
        address,
        model,
    })
}

#[async_trait]
impl Wire for Anthropic {
    fn request(&self, chat: &Chat, stream: bool) -> Result<Outgoing, ProviderError> {
        let names = Names::new(NameRule::COMMON, &chat.tools);
        let mut body = self.section.settings.clone();
        body.entry("max_tokens").or_insert(json!(MAX_TOKENS));
        let mut declared = tools::own(&self.section, &mut body)?;
        for tool in &chat.tools {
            declared.push(json!({
                "name": names.to_wire(&tool.name),
                "description": tool.description,
                "input_schema": schema::parameters(ProviderId::Anthropic, tool)?,
            }));
        }
        if declared.is_empty() {
            // Refused without tools.
            body.shift_remove("tool_choice");
        } else {
            body.insert("tools".to_owned(), Value::Array(declared));
            if let Some(name) = body.get_mut("tool_choice").and_then(|choice| choice.get_mut("name")) {
                tools::rename(name, &names);
            }
        }
        if let Some(directive) = &chat.directive {
            body.insert("system".to_owned(), json!(directive));
        }
        body.insert("stream".to_owned(), json!(stream));
        body.insert("messages".to_owned(), Value::Array(messages(chat, &names)));
        let framing = stream.then_some(Framing::Events);
        let headers = vec![("anthropic-version".to_owned(), self.version.clone())];
        Ok(Outgoing { url: self.url.clone(), headers, body: Value::Object(body), framing, names })
    }

    async fn authorization(&self, _: &Egress, _: &Outgoing) -> Result<Authorization, ProviderError> {
        Ok(header("x-api-key", "", &self.address, &self.key))
    }

    fn reader(&self, outgoing: &Outgoing) -> Box<dyn Reader> {
        Box::new(Events { names: outgoing.names.clone(), ..Events::default() })
    }

    fn whole(&self, body: &Value, outgoing: &Outgoing) -> Result<Answer, Bad> {
        let blocks = body.get("content").and_then(Value::as_array).ok_or("its answer has no `content`")?;
        let mut events = Events { names: outgoing.names.clone(), ..Events::default() };
        events.head(body);
        for block in blocks {
            events.begin(block);
            let text = |key: &str| block.get(key).and_then(Value::as_str);
            events.answer.text.push_str(text("text").unwrap_or_default());
            events.answer.thinking.push_str(text("thinking").unwrap_or_default());
            events.end();
        }
        events.stopped(body);
        Ok(events.answer())
    }

    fn request_id_header(&self) -> &'static str {
        "request-id"
    }
}

fn messages(chat: &Chat, names: &Names) -> Vec<Value> {
    let text = |role: &str, content: &str| json!({"role": role, "content": content});
    let mut messages = Vec::new();
    if let Some(backdrop) = &chat.backdrop {
        // Context as a turn of its own, acknowledged, so that the person's first words stay apart from it.
        messages.push(text("user", backdrop));
        messages.push(text("assistant", "Ok."));
    }
    for turn in &chat.turns {
        messages.push(match turn {
            Turn::User(content) => text("user", content),
            // A model may have had nothing to say. Such a turn is refused when it comes back; without it the turns of
            // the person around it count as one.
            Turn::Model(message) if message.is_empty_for(ProviderId::Anthropic) => continue,
            Turn::Model(message) => model_turn(message, names),
            Turn::Results(results) => {
                let blocks: Vec<Value> = results
                    .iter()
                    .map(|result| {
                        let mut block = json!({"type": "tool_result", "tool_use_id": result.id, "content": result.content});
                        if result.is_error {
                            block["is_error"] = json!(true);
                        }
                        block
                    })
                    .collect();
                json!({"role": "user", "content": blocks})
            }
        });
    }
    messages
}

fn model_turn(message: &Message, names: &Names) -> Value {
    if let Some(native) = message.native_of(ProviderId::Anthropic) {
        return json!({"role": "assistant", "content": native});
    }
    if message.calls.is_empty() {
        return json!({"role": "assistant", "content": message.text});
    }
    let mut blocks = Vec::new();
    if !message.text.is_empty() {
        blocks.push(json!({"type": "text", "text": message.text}));
    }
    blocks.extend(message.calls.iter().map(|call| {
        json!({
            "type": "tool_use", "id": call.id, "name": names.to_wire(&call.name),
            "input": call.arguments.to_value(),
        })
    }));
    json!({"role": "assistant", "content": blocks})
}

/// Reads the events of a stream.
struct Events {
    names: Names,
    answer: Answer,
    /// The blocks as they have to come back to Anthropic.
    blocks: Vec<Value>,
    /// The block that is on its way, and the text of its input.
    open: Option<(Value, String)>,
    tokens: Tokens,
    over: bool,
}

#[derive(Debug, Default)]
struct Tokens {
    known: bool,
    input: u64,
    read: u64,
    written: u64,
    output: u64,
}

impl Default for Events {
    fn default() -> Self {
        Self {
            names: Names::new(NameRule::COMMON, &[]),
            answer: Answer::default(),
            blocks: Vec::new(),
            open: None,
            tokens: Tokens::default(),
            over: false,
        }
    }
}

impl Events {
    fn head(&mut self, message: &Value) {
        let text = |key: &str| message.get(key).and_then(Value::as_str).map(str::to_owned);
        self.answer.model = text("model");
        self.answer.request_id = text("id");
        self.count(message);
    }

    /// The counts are running totals: what comes later replaces what came before.
    fn count(&mut self, holder: &Value) {
        let Some(usage) = holder.get("usage") else { return };
        let tokens = &mut self.tokens;
        for (key, place) in [
            ("input_tokens", &mut tokens.input),
            ("cache_read_input_tokens", &mut tokens.read),
            ("cache_creation_input_tokens", &mut tokens.written),
            ("output_tokens", &mut tokens.output),
        ] {
            if let Some(count) = usage.get(key).and_then(Value::as_u64) {
                *place = count;
                tokens.known = true;
            }
        }
    }

    fn begin(&mut self, block: &Value) {
        self.open = Some((block.clone(), String::new()));
    }

    fn delta(&mut self, delta: &Value, on: &mut (dyn FnMut(Delta<'_>) + Send)) {
        let text = |key: &str| delta.get(key).and_then(Value::as_str);
        let Some((block, input)) = &mut self.open else { return };
        if let Some(more) = text("text") {
            append(block, "text", more);
            self.answer.text.push_str(more);
            on(Delta::Text(more));
        }
        if let Some(more) = text("thinking") {
            append(block, "thinking", more);
            self.answer.thinking.push_str(more);
            on(Delta::Thinking(more));
        }
        if let Some(signature) = text("signature") {
            append(block, "signature", signature);
        }
        if let Some(citation) = delta.get("citation") {
            match block.get_mut("citations") {
                Some(Value::Array(citations)) => citations.push(citation.clone()),
                _ => block["citations"] = json!([citation]),
            }
        }
        input.push_str(text("partial_json").unwrap_or_default());
    }

    fn end(&mut self) {
        let Some((mut block, input)) = self.open.take() else { return };
        let kind = block.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
        if kind.ends_with("tool_use") && !input.is_empty() {
            // What is no JSON can only go back as some object: the interface takes no other.
            block["input"] = Arguments::parse(&input).to_value();
        }
        if kind == "tool_use" {
            let text = |key: &str| block.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
            let arguments = if input.is_empty() {
                Arguments::from_value(block.get("input").cloned().unwrap_or_default())
            } else {
                Arguments::parse(&input)
            };
            self.answer.calls.push(Call {
                id: text("id"),
                name: self.names.to_real(&text("name")),
                arguments,
            });
        }
        // An empty text is refused when it comes back.
        if kind != "text" || block.get("text").is_some_and(|text| text != "") {
            self.blocks.push(block);
        }
    }

    fn stopped(&mut self, holder: &Value) {
        if let Some(reason) = holder.get("stop_reason").and_then(Value::as_str) {
            self.answer.stop = Some(match reason {
                "end_turn" | "stop_sequence" => Stop::Done,
                "tool_use" => Stop::Calls,
                "max_tokens" | "model_context_window_exceeded" => Stop::Length,
                "refusal" => Stop::Filtered,
                _ => Stop::Other,
            });
            self.answer.stop_reason = Some(reason.to_owned());
        }
    }
}

fn append(block: &mut Value, key: &str, more: &str) {
    match block.get_mut(key) {
        Some(Value::String(text)) => text.push_str(more),
        _ => block[key] = json!(more),
    }
}

impl Reader for Events {
    fn read(&mut self, frame: &Frame, on: &mut (dyn FnMut(Delta<'_>) + Send)) -> Result<(), Bad> {
        let event: Value = serde_json::from_slice(&frame.data)
            .map_err(|error| Bad::Malformed(format!("an event of its stream is no JSON: {error}")))?;
        let kind = event.get("type").and_then(Value::as_str).or(frame.event.as_deref()).unwrap_or_default();
        match kind {
            "message_start" => self.head(event.get("message").unwrap_or(&Value::Null)),
            "content_block_start" => {
                let block = event.get("content_block").cloned().unwrap_or_default();
                self.begin(&block);
                // A block may begin with its first words.
                let first = json!({"text": block.get("text"), "thinking": block.get("thinking")});
                let empty = |key: &str| block.get(key).and_then(Value::as_str).is_none_or(str::is_empty);
                if !(empty("text") && empty("thinking")) {
                    self.begin(&json!({"type": block.get("type")}));
                    self.delta(&first, on);
                }
            }
            "content_block_delta" => self.delta(event.get("delta").unwrap_or(&Value::Null), on),
            "content_block_stop" => self.end(),
            "message_delta" => {
                self.count(&event);
                self.stopped(event.get("delta").unwrap_or(&Value::Null));
            }
            "message_stop" => self.over = true,
            "error" => return Err(Bad::Refused(Refusal::read(&event))),
            // `ping`, and kinds that come later.
            _ => {}
        }
        Ok(())
    }

    fn is_whole(&self) -> bool {
        self.over
    }

    fn is_over(&self) -> bool {
        self.over
    }

    fn answer(&mut self) -> Answer {
        let mut answer = std::mem::take(&mut self.answer);
        let tokens = &self.tokens;
        if tokens.known {
            let input = tokens.input + tokens.read + tokens.written;
            answer.usage = Some(Usage { input, output: tokens.output, cached: tokens.read });
        }
        let blocks = std::mem::take(&mut self.blocks);
        // Text and calls can be told from the answer; the rest (thoughts and their signatures) only comes from here.
        let plain =
            |block: &Value| matches!(block.get("type").and_then(Value::as_str), Some("text" | "tool_use"));
        if !blocks.iter().all(plain) {
            answer.native = Some(Native { provider: ProviderId::Anthropic, content: Value::Array(blocks) });
        }
        answer
    }
}
