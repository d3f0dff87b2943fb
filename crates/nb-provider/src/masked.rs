//! What a provider repeats of the values that nothing may show, hidden in everything that is handed on.

use nb_egress::{Mask, MaskedPieces};
use serde_json::{Map, Value};

use crate::answer::{Answer, Delta};
use crate::chat::Arguments;
use crate::listener::Listener;
use crate::refusal::Refusal;

/// Hands on the parts of an answer, masked as if they came in one.
pub(crate) struct Masked<'a> {
    listener: &'a mut dyn Listener,
    mask: &'a Mask,
    text: MaskedPieces,
    thinking: MaskedPieces,
}

impl<'a> Masked<'a> {
    pub fn new(listener: &'a mut dyn Listener, mask: &'a Mask) -> Self {
        Self { listener, mask, text: MaskedPieces::default(), thinking: MaskedPieces::default() }
    }

    pub fn hear(&mut self, delta: Delta<'_>) {
        match delta {
            Delta::Text(piece) => {
                let told = self.text.push(self.mask, piece);
                self.tell(Delta::Text(&told));
            }
            Delta::Thinking(piece) => {
                let told = self.thinking.push(self.mask, piece);
                self.tell(Delta::Thinking(&told));
            }
        }
    }

    /// Hands on what was held back, when nothing more comes.
    pub fn end(&mut self) {
        let (thinking, text) = (self.thinking.end(self.mask), self.text.end(self.mask));
        self.tell(Delta::Thinking(&thinking));
        self.tell(Delta::Text(&text));
    }

    fn tell(&mut self, delta: Delta<'_>) {
        let (Delta::Text(text) | Delta::Thinking(text)) = delta;
        if !text.is_empty() {
            self.listener.hear(delta);
        }
    }
}

/// The answer as it may be told, its calls among it.
pub(crate) fn answer(mut answer: Answer, mask: &Mask) -> Answer {
    answer.text = mask.text(&answer.text);
    answer.thinking = mask.text(&answer.thinking);
    for word in [&mut answer.stop_reason, &mut answer.model, &mut answer.request_id].into_iter().flatten() {
        *word = mask.text(word);
    }
    for call in &mut answer.calls {
        call.id = mask.text(&call.id);
        call.name = mask.text(&call.name);
        match &mut call.arguments {
            Arguments::Object(arguments) => *arguments = hidden(std::mem::take(arguments), mask),
            Arguments::Unreadable(text) => *text = mask.text(text),
        }
    }
    if let Some(native) = &mut answer.native {
        hide(&mut native.content, mask);
    }
    answer
}

/// A refusal as it may be told.
pub(crate) fn refusal(mut refusal: Refusal, mask: &Mask) -> Refusal {
    refusal.message = mask.text(&refusal.message);
    for word in [&mut refusal.code, &mut refusal.request_id].into_iter().flatten() {
        *word = mask.text(word);
    }
    refusal
}

/// Names may repeat a value as well.
fn hidden(map: Map<String, Value>, mask: &Mask) -> Map<String, Value> {
    map.into_iter()
        .map(|(name, mut value)| {
            hide(&mut value, mask);
            (mask.text(&name), value)
        })
        .collect()
}

fn hide(value: &mut Value, mask: &Mask) {
    match value {
        Value::String(text) => *text = mask.text(text),
        Value::Array(items) => items.iter_mut().for_each(|item| hide(item, mask)),
        Value::Object(map) => *map = hidden(std::mem::take(map), mask),
        // A key of digits.
        Value::Number(number) => {
            let told = mask.text(&number.to_string());
            if told != number.to_string() {
                *value = Value::String(told);
            }
        }
        Value::Null | Value::Bool(_) => {}
    }
}
