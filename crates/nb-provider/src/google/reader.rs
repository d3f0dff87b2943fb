//! What comes back.

use serde_json::{Value, json};

use crate::ProviderId;
use crate::answer::{Answer, Delta, Stop, Usage};
use crate::chat::{Arguments, Call, Native};
use crate::frame::Frame;
use crate::names::Names;
use crate::refusal::Refusal;
use crate::wire::{Bad, Reader};

/// Reads chunks: the events of a stream, or the one of an answer in one piece.
pub(super) struct Chunks {
    names: Names,
    answer: Answer,
    /// The parts as they have to come back to Google.
    parts: Vec<Value>,
    whole: bool,
}

impl Chunks {
    pub fn new(names: Names) -> Self {
        Self { names, answer: Answer::default(), parts: Vec::new(), whole: false }
    }

    /// Takes one chunk.
    pub fn take(&mut self, chunk: &Value, on: &mut (dyn FnMut(Delta<'_>) + Send)) -> Result<(), Refusal> {
        if chunk.get("error").is_some() {
            return Err(Refusal::read(chunk));
        }
        let text = |pointer: &str| chunk.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
        self.answer.model = text("/modelVersion").or(self.answer.model.take());
        self.answer.request_id = text("/responseId").or(self.answer.request_id.take());
        if let Some(usage) = chunk.get("usageMetadata").and_then(usage) {
            self.answer.usage = Some(usage);
        }
        if let Some(reason) = text("/promptFeedback/blockReason") {
            let words = text("/promptFeedback/blockReasonMessage").map(|words| format!(": {words}"));
            let message = format!("the conversation was blocked ({reason}){}", words.unwrap_or_default());
            return Err(Refusal { message, code: Some(reason), ..Refusal::default() });
        }
        let Some(candidate) = chunk.pointer("/candidates/0") else { return Ok(()) };
        for part in candidate.pointer("/content/parts").and_then(Value::as_array).into_iter().flatten() {
            self.part(part, on);
        }
        if let Some(reason) = candidate.get("finishReason").and_then(Value::as_str) {
            self.whole = true;
            self.answer.stop = Some(match reason {
                "STOP" | "FUNCTION_CALL" if !self.answer.calls.is_empty() => Stop::Calls,
                "STOP" => Stop::Done,
                "MAX_TOKENS" => Stop::Length,
                "SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" | "LANGUAGE"
                | "IMAGE_SAFETY" => Stop::Filtered,
                _ => Stop::Other,
            });
            self.answer.stop_reason = Some(reason.to_owned());
        }
        Ok(())
    }

    fn part(&mut self, part: &Value, on: &mut (dyn FnMut(Delta<'_>) + Send)) {
        if let Some(text) = part.get("text").and_then(Value::as_str) {
            let thought = part.get("thought") == Some(&json!(true));
            let (kept, delta) = if thought {
                (&mut self.answer.thinking, Delta::Thinking(text))
            } else {
                (&mut self.answer.text, Delta::Text(text))
            };
            if !text.is_empty() {
                kept.push_str(text);
                on(delta);
            }
        }
        if let Some(call) = part.get("functionCall") {
            let text = |key: &str| call.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
            self.answer.calls.push(Call {
                id: text("id").map_or_else(|| format!("call_{}", self.answer.calls.len()), str::to_owned),
                name: self.names.to_real(text("name").unwrap_or_default()),
                arguments: Arguments::from_value(call.get("args").cloned().unwrap_or_default()),
            });
        }
        self.keep(part);
    }

    /// Plain text that comes in many parts goes back as one.
    fn keep(&mut self, part: &Value) {
        let plain =
            |part: &Value| part.as_object().is_some_and(|map| map.len() == 1 && map.contains_key("text"));
        if plain(part)
            && let Some(last) = self.parts.last_mut().filter(|last| plain(last))
            && let (Some(Value::String(before)), Some(more)) = (last.get_mut("text"), part["text"].as_str())
        {
            before.push_str(more);
            return;
        }
        self.parts.push(part.clone());
    }
}

impl Reader for Chunks {
    fn read(&mut self, frame: &Frame, on: &mut (dyn FnMut(Delta<'_>) + Send)) -> Result<(), Bad> {
        let chunk: Value = serde_json::from_slice(&frame.data)
            .map_err(|error| Bad::Malformed(format!("an event of its stream is no JSON: {error}")))?;
        self.take(&chunk, on).map_err(Bad::Refused)
    }

    fn is_whole(&self) -> bool {
        self.whole
    }

    fn answer(&mut self) -> Answer {
        let mut answer = std::mem::take(&mut self.answer);
        let parts = std::mem::take(&mut self.parts);
        // Signatures of thoughts and ids of calls have to come back; text and calls can be told from the answer.
        let more = |part: &Value| {
            let known = part
                .as_object()
                .is_some_and(|map| map.keys().all(|key| key == "text" || key == "functionCall"));
            !known || part.pointer("/functionCall/id").is_some()
        };
        if parts.iter().any(more) {
            answer.native = Some(Native { provider: ProviderId::Google, content: Value::Array(parts) });
        }
        answer
    }
}

fn usage(value: &Value) -> Option<Usage> {
    let count = |key: &str| value.get(key).and_then(Value::as_u64);
    let written = count("candidatesTokenCount").unwrap_or(0) + count("thoughtsTokenCount").unwrap_or(0);
    let read = count("promptTokenCount")? + count("toolUsePromptTokenCount").unwrap_or(0);
    Some(Usage { input: read, output: written, cached: count("cachedContentTokenCount").unwrap_or(0) })
}
