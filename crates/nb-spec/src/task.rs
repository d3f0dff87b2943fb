//! The model that chains lower to: parameters, and steps in order.

use std::collections::BTreeSet;

use chrono::{DateTime, Duration, NaiveDate};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::condition::Op;

/// The most unknown parameters that are reported by name: each report lists all that are known.
const MAX_UNKNOWN: usize = 10;

/// Steps to carry out.
#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    /// Unique within the agent.
    pub id: String,
    /// What it does.
    pub description: String,
    /// What it takes.
    pub parameters: Vec<Parameter>,
    /// In the order in which they run.
    pub steps: Vec<Step>,
    /// The file it came from, for messages.
    pub file: String,
}

/// A parameter of a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Parameter {
    /// Referred to as `{{name}}`.
    pub name: String,
    /// Its type.
    #[serde(default, alias = "type")]
    pub param_type: ParameterType,
    /// What it is for.
    #[serde(default)]
    pub description: String,
    /// Whether a run without it is refused.
    #[serde(default)]
    pub required: bool,
    /// Taken when none is given.
    pub default: Option<Value>,
}

/// The type of a parameter.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ParameterType {
    /// Any text.
    #[default]
    Text,
    /// A number, or a text that is one.
    Number,
    /// `true` or `false`.
    Boolean,
    /// An http or https address.
    Url,
    /// An e-mail address.
    Email,
    /// RFC 3339, or a date.
    DateTime,
}

/// One step.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Unique within the task.
    pub id: String,
    /// What is called.
    pub call: Callee,
    /// Its arguments, with references not yet filled in.
    pub args: Value,
    /// A name for its output, beside `{{id.output}}`.
    pub output_key: Option<String>,
    /// Runs only when this holds.
    pub condition: Option<Condition>,
    /// What happens when it fails.
    pub on_failure: OnFailure,
    /// Steps whose result it needs.
    pub depends_on: Vec<String>,
    /// Reached only through another step's `on_failure`.
    pub is_fallback: bool,
}

/// What a step calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Callee {
    /// A power of the host.
    Ability(String),
    /// A tool of the agent.
    Tool(String),
}

/// `condition:` of a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Condition {
    /// A dotted path, as inside `{{…}}`.
    pub ref_key: String,
    /// The comparison.
    pub op: Op,
    /// What is compared with; may hold references.
    #[serde(default)]
    pub value: Value,
}

/// What happens when a step fails.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OnFailure {
    /// The task fails.
    Abort,
    /// The next step runs; the output is null.
    Continue,
    /// The task goes on at that later step.
    GoTo(String),
    /// Again, up to `attempts` times in all; then the task fails.
    Retry {
        /// At least 1, at most 10.
        attempts: u32,
        /// Before the second attempt.
        delay: Duration,
        /// Each further delay is this many times the one before.
        backoff: u32,
    },
}

impl Task {
    /// Checks given parameters against the declared ones and fills in defaults. All problems in one sentence each.
    ///
    /// Texts become numbers and booleans where the type says so, as they come from a command line.
    pub fn check_parameters(&self, given: &Map<String, Value>) -> Result<Map<String, Value>, Vec<String>> {
        let mut problems = Vec::new();
        let mut checked = Map::new();
        let names: BTreeSet<&str> = self.parameters.iter().map(|parameter| parameter.name.as_str()).collect();
        for name in given.keys().filter(|name| !names.contains(name.as_str())).take(MAX_UNKNOWN) {
            let known: Vec<&str> = self.parameters.iter().map(|parameter| parameter.name.as_str()).collect();
            let known = if known.is_empty() {
                "it takes none".to_owned()
            } else {
                format!("it takes {}", known.join(", "))
            };
            problems.push(format!("task `{}` has no parameter `{name}`; {known}", self.id));
        }
        for parameter in &self.parameters {
            match given.get(&parameter.name).or(parameter.default.as_ref()) {
                None if parameter.required => {
                    problems.push(format!("task `{}` needs the parameter `{}`", self.id, parameter.name));
                }
                None => {
                    checked.insert(parameter.name.clone(), Value::Null);
                }
                Some(value) => match parameter.param_type.accept(value) {
                    Some(value) => {
                        checked.insert(parameter.name.clone(), value);
                    }
                    None => problems.push(format!(
                        "parameter `{}` of task `{}` must be {}; it is {value}",
                        parameter.name,
                        self.id,
                        parameter.param_type.in_words()
                    )),
                },
            }
        }
        if problems.is_empty() { Ok(checked) } else { Err(problems) }
    }

    /// The step with that id.
    pub fn step(&self, id: &str) -> Option<&Step> {
        self.steps.iter().find(|step| step.id == id)
    }
}

impl ParameterType {
    /// The value as this type, or none when it is not one.
    pub fn accept(self, value: &Value) -> Option<Value> {
        let text = value.as_str();
        let fits = |ok: bool| ok.then(|| value.clone());
        match self {
            Self::Text => match value {
                Value::String(_) => Some(value.clone()),
                Value::Number(_) | Value::Bool(_) => Some(Value::String(value.to_string())),
                _ => None,
            },
            Self::Number => match text {
                Some(text) => serde_json::from_str::<serde_json::Number>(text.trim()).ok().map(Value::Number),
                None => fits(value.is_number()),
            },
            Self::Boolean => match text {
                Some("true") => Some(Value::Bool(true)),
                Some("false") => Some(Value::Bool(false)),
                _ => fits(value.is_boolean()),
            },
            Self::Url => {
                let url = url::Url::parse(text?).ok()?;
                fits(matches!(url.scheme(), "http" | "https") && url.host().is_some())
            }
            Self::Email => {
                let (name, host) = text?.rsplit_once('@')?;
                let plain = |part: &str| {
                    !part.is_empty() && !part.contains(|c: char| c.is_whitespace() || c.is_control())
                };
                fits(
                    plain(name)
                        && plain(host)
                        && host.contains('.')
                        && !host.starts_with('.')
                        && !host.ends_with('.'),
                )
            }
            Self::DateTime => {
                let text = text?;
                fits(
                    DateTime::parse_from_rfc3339(text).is_ok()
                        || NaiveDate::parse_from_str(text, "%Y-%m-%d").is_ok(),
                )
            }
        }
    }

    fn in_words(self) -> &'static str {
        match self {
            Self::Text => "a text",
            Self::Number => "a number",
            Self::Boolean => "true or false",
            Self::Url => "an http or https address",
            Self::Email => "an e-mail address",
            Self::DateTime => "a date (2026-01-31) or a time (2026-01-31T09:00:00Z)",
        }
    }
}
