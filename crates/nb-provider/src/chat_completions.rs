//! The shape of a conversation that OpenAI introduced and others took over: request, answer, stream.
//!
//! Source: OpenAI API reference, "Chat completions"; Mistral API reference, "Chat".

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::answer::{Answer, Delta, Stop, Usage};
use crate::chat::{Arguments, Call, Chat, ToolResult, Turn};
use crate::error::ProviderError;
use crate::frame::Frame;
use crate::names::Names;
use crate::refusal::Refusal;
use crate::section::Section;
use crate::tools;
use crate::wire::{Bad, Reader};

/// Where providers of this shape differ.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Dialect {
    /// A stream tells its tokens only when `stream_options.include_usage` asks for it.
    pub asks_for_usage: bool,
    /// The result of a tool repeats the tool's name.
    pub names_results: bool,
}

/// The body of a request.
pub(crate) fn body(
    dialect: Dialect,
    section: &Section,
    chat: &Chat,
    stream: bool,
    names: &Names,
) -> Result<Value, ProviderError> {
    let mut body = section.settings.clone();
    let mut declared = tools::own(section, &mut body)?;
    for tool in &chat.tools {
        declared.push(tools::function(section, tool, names)?);
    }
    if declared.is_empty() {
        // Refused without tools.
        body.shift_remove("tool_choice");
        body.shift_remove("parallel_tool_calls");
    } else {
        body.insert("tools".to_owned(), Value::Array(declared));
        if let Some(name) =
            body.get_mut("tool_choice").and_then(|choice| choice.pointer_mut("/function/name"))
        {
            tools::rename(name, names);
        }
    }
    body.insert("stream".to_owned(), json!(stream));
    if !stream {
        body.shift_remove("stream_options");
    } else if dialect.asks_for_usage {
        let options = body.entry("stream_options").or_insert_with(|| json!({}));
        if let Value::Object(options) = options {
            options.entry("include_usage").or_insert(json!(true));
        }
    }
    body.insert("messages".to_owned(), messages(dialect, chat, names));
    Ok(Value::Object(body))
}

fn messages(dialect: Dialect, chat: &Chat, names: &Names) -> Value {
    let text = |role: &str, content: &str| json!({"role": role, "content": content});
    let mut messages = Vec::new();
    messages.extend(chat.directive.iter().map(|directive| text("system", directive)));
    messages.extend(chat.backdrop.iter().map(|backdrop| text("user", backdrop)));
    for turn in &chat.turns {
        match turn {
            Turn::User(content) => messages.push(text("user", content)),
            Turn::Model(message) if message.calls.is_empty() => {
                messages.push(text("assistant", &message.text))
            }
            Turn::Model(message) => {
                let content = if message.text.is_empty() { Value::Null } else { json!(message.text) };
                let calls: Vec<Value> = message.calls.iter().map(|call| call_value(call, names)).collect();
                messages.push(json!({"role": "assistant", "content": content, "tool_calls": calls}));
            }
            Turn::Results(results) => {
                messages.extend(results.iter().map(|result| result_value(dialect, result, names)));
            }
        }
    }
    Value::Array(messages)
}

fn call_value(call: &Call, names: &Names) -> Value {
    json!({"id": call.id, "type": "function", "function": {
        "name": names.to_wire(&call.name), "arguments": call.arguments.to_text(),
    }})
}

fn result_value(dialect: Dialect, result: &ToolResult, names: &Names) -> Value {
    let mut message = Map::new();
    message.insert("role".to_owned(), json!("tool"));
    message.insert("tool_call_id".to_owned(), json!(result.id));
    if dialect.names_results {
        message.insert("name".to_owned(), json!(names.to_wire(&result.name)));
    }
    message.insert("content".to_owned(), json!(result.text()));
    Value::Object(message)
}

/// Reads an answer that came in one piece.
pub(crate) fn whole(body: &Value, names: &Names) -> Result<Answer, Bad> {
    let message = body.pointer("/choices/0/message").ok_or("its answer has no choices[0].message")?;
    let mut parts = ChatReader::new(names.clone());
    let text = |key: &str| body.get(key).and_then(Value::as_str);
    parts.head(text("model"), text("id"), body.get("usage"));
    parts.message(message, &mut |_| {});
    parts.finished(body.pointer("/choices/0/finish_reason").and_then(Value::as_str));
    Ok(parts.answer())
}

/// Reads a stream, and with the same eyes an answer in one piece.
pub(crate) struct ChatReader {
    names: Names,
    answer: Answer,
    calls: Vec<Partial>,
    over: bool,
}

/// What is read of an event. There is one for each token, so that only what is used becomes a value.
#[derive(Deserialize)]
struct Chunk {
    /// A number with some servers.
    #[serde(default)]
    id: Option<Value>,
    #[serde(default)]
    model: Option<String>,
    #[serde(default)]
    object: Option<String>,
    #[serde(default)]
    usage: Option<Value>,
    #[serde(default)]
    error: Option<Value>,
    #[serde(default)]
    choices: Option<Vec<Choice>>,
}

#[derive(Deserialize)]
struct Choice {
    #[serde(default)]
    index: Option<u64>,
    #[serde(default)]
    delta: Option<Value>,
    #[serde(default)]
    finish_reason: Option<String>,
}

/// A call as far as it came.
#[derive(Debug, Default)]
struct Partial {
    /// The place that the provider gives it; pieces of one call have the same.
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
}

impl ChatReader {
    pub fn new(names: Names) -> Self {
        Self { names, answer: Answer::default(), calls: Vec::new(), over: false }
    }

    /// Every event of a stream repeats these.
    fn head(&mut self, model: Option<&str>, id: Option<&str>, tokens: Option<&Value>) {
        let keep = |place: &mut Option<String>, told: Option<&str>| {
            if told.is_some() && place.as_deref() != told {
                *place = told.map(str::to_owned);
            }
        };
        keep(&mut self.answer.model, model);
        keep(&mut self.answer.request_id, id);
        if let Some(usage) = tokens.and_then(usage) {
            self.answer.usage = Some(usage);
        }
    }

    fn message(&mut self, message: &Value, on: &mut (dyn FnMut(Delta<'_>) + Send)) {
        for key in ["reasoning_content", "reasoning"] {
            if let Some(thinking) = message.get(key).and_then(Value::as_str) {
                self.think(thinking, on);
                break;
            }
        }
        match message.get("content") {
            Some(Value::String(text)) => self.say(text, on),
            Some(Value::Array(parts)) => {
                for part in parts {
                    self.part(part, on);
                }
            }
            _ => {}
        }
        // What the model says in place of an answer that it refuses.
        if let Some(refusal) = message.get("refusal").and_then(Value::as_str) {
            self.say(refusal, on);
        }
        for call in message.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
            self.call(call);
        }
    }

    /// Mistral's models that think answer in parts.
    fn part(&mut self, part: &Value, on: &mut (dyn FnMut(Delta<'_>) + Send)) {
        if let Some(text) = part.get("text").and_then(Value::as_str) {
            self.say(text, on);
        }
        for thought in part.get("thinking").and_then(Value::as_array).into_iter().flatten() {
            if let Some(text) = thought.get("text").and_then(Value::as_str) {
                self.think(text, on);
            }
        }
    }

    fn say(&mut self, text: &str, on: &mut (dyn FnMut(Delta<'_>) + Send)) {
        if !text.is_empty() {
            self.answer.text.push_str(text);
            on(Delta::Text(text));
        }
    }

    fn think(&mut self, text: &str, on: &mut (dyn FnMut(Delta<'_>) + Send)) {
        if !text.is_empty() {
            self.answer.thinking.push_str(text);
            on(Delta::Thinking(text));
        }
    }

    fn call(&mut self, piece: &Value) {
        let text = |pointer: &str| piece.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let index = piece.get("index").and_then(Value::as_u64);
        let id = text("/id");
        let known = match index {
            Some(_) => self.calls.iter_mut().rfind(|call| call.index == index),
            // Servers that leave the place out send calls whole, or go on with the last one.
            None if id.is_empty() && text("/function/name").is_empty() => self.calls.last_mut(),
            None => self.calls.iter_mut().rfind(|call| !id.is_empty() && call.id == id),
        };
        // The same place with another id is another call: some servers count every call as number 0.
        let known = known.filter(|call| id.is_empty() || call.id.is_empty() || call.id == id);
        let call = match known {
            Some(call) => call,
            None => {
                self.calls.push(Partial { index, ..Partial::default() });
                let Some(call) = self.calls.last_mut() else { return };
                call
            }
        };
        if call.id.is_empty() {
            id.clone_into(&mut call.id);
        }
        call.name.push_str(text("/function/name"));
        match piece.pointer("/function/arguments") {
            Some(Value::String(arguments)) => call.arguments.push_str(arguments),
            Some(Value::Null) | None => {}
            // Some servers send the object itself.
            Some(object) => call.arguments.push_str(&object.to_string()),
        }
    }

    fn finished(&mut self, reason: Option<&str>) {
        if let Some(reason) = reason {
            self.answer.stop = Some(stop(reason));
            self.answer.stop_reason = Some(reason.to_owned());
        }
    }
}

impl Reader for ChatReader {
    fn read(&mut self, frame: &Frame, on: &mut (dyn FnMut(Delta<'_>) + Send)) -> Result<(), Bad> {
        if frame.data.trim_ascii() == b"[DONE]" {
            self.over = true;
            return Ok(());
        }
        let chunk: Chunk = serde_json::from_slice(&frame.data)
            .map_err(|error| Bad::Malformed(format!("an event of its stream cannot be read: {error}")))?;
        if chunk.error.as_ref().is_some_and(|error| !error.is_null())
            || chunk.object.as_deref() == Some("error")
        {
            let whole: Value = serde_json::from_slice(&frame.data).unwrap_or_default();
            return Err(Bad::Refused(Refusal::read(&whole)));
        }
        self.head(chunk.model.as_deref(), chunk.id.as_ref().and_then(Value::as_str), chunk.usage.as_ref());
        // With `n` over 1 the others are paid for and not read.
        for choice in chunk.choices.into_iter().flatten().filter(|choice| choice.index.unwrap_or(0) == 0) {
            if let Some(delta) = &choice.delta {
                self.message(delta, on);
            }
            self.finished(choice.finish_reason.as_deref());
        }
        Ok(())
    }

    fn is_whole(&self) -> bool {
        self.over || self.answer.stop.is_some()
    }

    fn is_over(&self) -> bool {
        self.over
    }

    fn answer(&mut self) -> Answer {
        let whole = self.is_whole();
        let mut answer = std::mem::take(&mut self.answer);
        for (number, call) in std::mem::take(&mut self.calls).into_iter().enumerate() {
            let arguments = Arguments::parse(&call.arguments);
            if !whole && matches!(arguments, Arguments::Unreadable(_)) {
                continue;
            }
            let id = if call.id.is_empty() { format!("call_{number}") } else { call.id };
            answer.calls.push(Call { id, name: self.names.to_real(&call.name), arguments });
        }
        // Imitating servers end calls with `stop`.
        if answer.stop == Some(Stop::Done) && !answer.calls.is_empty() {
            answer.stop = Some(Stop::Calls);
        }
        answer
    }
}

fn stop(reason: &str) -> Stop {
    match reason {
        "stop" => Stop::Done,
        "tool_calls" | "function_call" => Stop::Calls,
        "length" | "model_length" => Stop::Length,
        "content_filter" => Stop::Filtered,
        _ => Stop::Other,
    }
}

fn usage(value: &Value) -> Option<Usage> {
    let count = |pointer: &str| value.pointer(pointer).and_then(Value::as_u64);
    let cached = count("/prompt_tokens_details/cached_tokens").or_else(|| count("/num_cached_tokens"));
    Some(Usage {
        input: count("/prompt_tokens")?,
        output: count("/completion_tokens").unwrap_or(0),
        cached: cached.unwrap_or(0),
    })
}
