//! What a model answered.

use serde::{Deserialize, Serialize};

use crate::{Call, Message, Native};

/// An answer, whole or as far as it was received.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answer {
    /// The text.
    pub text: String,
    /// What the model thought before it answered, where the provider shows it.
    pub thinking: String,
    /// The tools that it wants called, in its order.
    pub calls: Vec<Call>,
    /// Why it ended. None: it did not end, or the provider did not say why.
    pub stop: Option<Stop>,
    /// The provider's own word for that.
    pub stop_reason: Option<String>,
    /// The tokens that it took. None: the provider did not say.
    pub usage: Option<Usage>,
    /// The model that answered, in the provider's words.
    pub model: Option<String>,
    /// The provider's name for this answer, for its support.
    pub request_id: Option<String>,
    /// The provider's own form of it, where it holds more than is above.
    pub native: Option<Native>,
}

impl Answer {
    /// The turn that this answer is in the conversation.
    pub fn message(&self) -> Message {
        Message { text: self.text.clone(), calls: self.calls.clone(), native: self.native.clone() }
    }
}

/// Why an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// The model had said everything, or came to a stop sequence.
    Done,
    /// It waits for the results of its calls.
    Calls,
    /// It reached the most tokens that it may write, or the end of its context.
    Length,
    /// The provider withheld the rest.
    Filtered,
    /// Something else: [`Answer::stop_reason`] has the provider's word.
    Other,
}

/// Tokens of one answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Read, those from a cache among them.
    pub input: u64,
    /// Written, thoughts among them.
    pub output: u64,
    /// Of those that were read, how many came from the provider's cache.
    pub cached: u64,
}

impl Usage {
    /// All of them.
    pub fn total(self) -> u64 {
        self.input.saturating_add(self.output)
    }
}

/// A part of an answer, at the moment when it arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delta<'a> {
    /// More of the text.
    Text(&'a str),
    /// More of the thoughts.
    Thinking(&'a str),
}
