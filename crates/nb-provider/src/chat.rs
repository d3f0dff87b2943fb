//! What is asked of a model, in no provider's words.

use nb_spec::cartridge::Behavior;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::ProviderId;

/// A conversation, and the tools that the model may call to go on with it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Chat {
    /// Who the model is: the system message.
    pub directive: Option<String>,
    /// Context that comes before the turns.
    pub backdrop: Option<String>,
    /// What was said, oldest first.
    pub turns: Vec<Turn>,
    /// What the model may call.
    pub tools: Vec<Tool>,
}

impl Chat {
    /// A conversation that begins as a cartridge says. Its context comes first, then what to do next.
    pub fn new(behavior: &Behavior, turns: Vec<Turn>) -> Self {
        let context: Vec<&str> =
            [&behavior.backdrop, &behavior.instruction].into_iter().flatten().map(String::as_str).collect();
        let backdrop = (!context.is_empty()).then(|| context.join("\n\n"));
        Self { directive: behavior.directive.clone(), backdrop, turns, tools: Vec::new() }
    }
}

/// One turn of a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Turn {
    /// A person, or whoever stands for one.
    User(String),
    /// The model.
    Model(Message),
    /// What the calls of the model's turn before gave, in the order of the calls.
    Results(Vec<ToolResult>),
}

/// What a model said.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// The text; may be empty beside calls.
    pub text: String,
    /// The tools that it wants called.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<Call>,
    /// The same in the provider's own form, where that holds more than text and calls (signatures of thoughts). It goes
    /// back to the same provider as it came, and to no other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub native: Option<Native>,
}

/// Something in the form of one provider.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Native {
    /// Whose form it is.
    pub provider: ProviderId,
    /// The content.
    pub content: Value,
}

impl Message {
    /// The provider's own form of this message, when it came from that provider.
    pub fn native_of(&self, provider: ProviderId) -> Option<&Value> {
        self.native.as_ref().filter(|native| native.provider == provider).map(|native| &native.content)
    }

    /// Whether there is nothing in it that this provider could be sent. Some refuse a turn without content.
    pub(crate) fn is_empty_for(&self, provider: ProviderId) -> bool {
        self.text.is_empty() && self.calls.is_empty() && self.native_of(provider).is_none()
    }
}

/// A call of a tool, as the model asks for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// Tells calls of one turn apart; the provider's own where it gives one.
    pub id: String,
    /// The tool's real name. A name that no tool of the conversation has is as the provider sent it.
    pub name: String,
    /// What to call it with.
    pub arguments: Arguments,
}

/// The arguments of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Arguments {
    /// Names and values.
    Object(Map<String, Value>),
    /// A text that is no JSON object, as models sometimes write it. It is replayed as it came; the tool is not called.
    Unreadable(String),
}

impl Arguments {
    /// Reads a JSON text. Nothing at all counts as no arguments: providers send `""` for a tool without parameters.
    pub fn parse(text: &str) -> Self {
        if text.trim().is_empty() {
            return Self::Object(Map::new());
        }
        match serde_json::from_str(text) {
            Ok(Value::Object(object)) => Self::Object(object),
            Ok(Value::Null) => Self::Object(Map::new()),
            _ => Self::Unreadable(text.to_owned()),
        }
    }

    /// A value that a provider sent as JSON, not as a text of JSON.
    pub fn from_value(value: Value) -> Self {
        match value {
            Value::Object(object) => Self::Object(object),
            Value::Null => Self::Object(Map::new()),
            other => Self::Unreadable(other.to_string()),
        }
    }

    /// As a JSON text.
    pub fn to_text(&self) -> String {
        match self {
            Self::Object(object) => Value::Object(object.clone()).to_string(),
            Self::Unreadable(text) => text.clone(),
        }
    }

    /// As a JSON object; what could not be read stands under `unreadable`.
    pub fn to_value(&self) -> Value {
        match self {
            Self::Object(object) => Value::Object(object.clone()),
            Self::Unreadable(text) => serde_json::json!({ "unreadable": text }),
        }
    }
}

/// What a call gave.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolResult {
    /// The id of the call.
    pub id: String,
    /// The tool's real name.
    pub name: String,
    /// What it gave, or the error's text.
    pub content: String,
    /// Whether the call failed.
    pub is_error: bool,
}

impl ToolResult {
    /// The content for providers that have no mark for an error: it says of itself that it is one.
    pub fn text(&self) -> String {
        if self.is_error { format!("Error: {}", self.content) } else { self.content.clone() }
    }

    /// The content for providers that want an object: `{"error": …}`, the object that it is, or `{"result": …}`.
    pub fn object(&self) -> Value {
        if self.is_error {
            return serde_json::json!({ "error": self.content });
        }
        match serde_json::from_str(&self.content) {
            Ok(object @ Value::Object(_)) => object,
            _ => serde_json::json!({ "result": self.content }),
        }
    }
}

/// A tool that the model may call.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    /// The name that people and records see.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// JSON Schema of the arguments. None: it takes none.
    pub parameters: Option<Value>,
}
