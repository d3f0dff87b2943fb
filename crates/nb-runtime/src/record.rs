//! The events of a run's record: append-only, one JSON document each.

use chrono::{DateTime, Utc};
use nb_store::{RunRow, RunStatus};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::models::message::ModelMessage;

/// Larger values are kept as their size and beginning; the record is for reading, the data is elsewhere.
const KEPT_BYTES: usize = 64 << 10;

/// Who or what started a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "lowercase")]
pub enum Actor {
    /// Somebody at the command line or the API.
    Person,
    /// A slot of a schedule.
    Schedule {
        /// The trigger.
        trigger: String,
        /// The scheduled time.
        at: DateTime<Utc>,
    },
    /// An event of the bus.
    Event {
        /// The event's name.
        name: String,
        /// Its place in the log.
        seq: u64,
    },
    /// A webhook delivery.
    Webhook {
        /// The path.
        path: String,
        /// The sender's id of it.
        delivery: String,
    },
}

impl Actor {
    /// In a few words.
    pub fn in_words(&self) -> String {
        match self {
            Self::Person => "a person".to_owned(),
            Self::Schedule { trigger, .. } => format!("schedule {trigger}"),
            Self::Event { name, seq } => format!("event {name} #{seq}"),
            Self::Webhook { path, .. } => format!("webhook {path}"),
        }
    }
}

/// One thing that happened in a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event")]
pub enum RunEvent {
    /// The run was recorded.
    #[serde(rename = "started")]
    Started {
        /// Why it runs.
        actor: Actor,
        /// What its references can see: input, parameters, event, webhook.
        context: Value,
    },
    /// It went on after a restart of the daemon.
    #[serde(rename = "resumed")]
    Resumed {
        /// Why it had stopped.
        reason: String,
    },
    /// A step began.
    #[serde(rename = "step.started")]
    StepStarted {
        /// The step.
        step: String,
        /// The ability or tool it calls.
        call: String,
        /// Its arguments, filled in.
        args: Value,
        /// Counts from 1.
        attempt: u32,
    },
    /// A step will be tried again.
    #[serde(rename = "step.retry")]
    StepRetry {
        /// The step.
        step: String,
        /// The attempt that failed.
        attempt: u32,
        /// Why.
        error: String,
        /// When the next attempt begins. (`at` is when the event was recorded, as in every event.)
        next_at: DateTime<Utc>,
    },
    /// A step has its result.
    #[serde(rename = "step.finished")]
    StepFinished {
        /// The step.
        step: String,
        /// How it ended.
        status: StepStatus,
        /// What it gave.
        output: Value,
        /// Why it failed or was skipped.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// From its first attempt to its result, in milliseconds.
        ms: f64,
    },
    /// A tool call began.
    #[serde(rename = "tool.started")]
    ToolStarted {
        /// The tool.
        tool: String,
        /// Its parameters.
        input: Value,
        /// Whether it runs outside of the sandbox.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        unsandboxed: bool,
    },
    /// A tool call ended.
    #[serde(rename = "tool.finished")]
    ToolFinished {
        /// The tool.
        tool: String,
        /// Whether it failed.
        is_error: bool,
        /// What it gave, or the error's text.
        output: Value,
        /// Lines of the author's script, for an error.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        traceback: Option<String>,
        /// Units of fuel.
        fuel: u64,
        /// Bytes.
        peak_memory: u64,
        /// Bytes of the result.
        output_bytes: u64,
        /// Calls to abilities.
        host_calls: u64,
        /// Milliseconds of computing.
        running_ms: f64,
        /// Milliseconds of waiting for abilities.
        waiting_ms: f64,
    },
    /// A call was not permitted.
    #[serde(rename = "policy.decided")]
    PolicyDecided {
        /// The ability.
        ability: String,
        /// Always `deny`: what is allowed shows as the call.
        decision: String,
        /// Why.
        reason: String,
    },
    /// An ability with an effect is about to be called; written before the effect.
    #[serde(rename = "host.begun")]
    HostBegun {
        /// The ability.
        ability: String,
        /// Its arguments.
        args: Value,
    },
    /// An ability was called.
    #[serde(rename = "host.call")]
    HostCall {
        /// The ability.
        ability: String,
        /// Its arguments; not repeated after `host.begun`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        args: Option<Value>,
        /// What it gave.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        output: Option<Value>,
        /// Why it failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<String>,
        /// How long it took, in milliseconds.
        ms: f64,
    },
    /// A model said something, or was to.
    #[serde(rename = "model.message")]
    ModelMessage(Box<ModelMessage>),
    /// A line of log.
    #[serde(rename = "log")]
    Log {
        /// `info`, `warning`, `error`, or `print` for what a script prints.
        level: String,
        /// The line.
        message: String,
    },
    /// The run ended.
    #[serde(rename = "finished")]
    Finished {
        /// How.
        status: RunStatus,
        /// What it gave.
        output: Value,
        /// Why it failed or was cancelled.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    },
}

/// How a step ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StepStatus {
    /// It has an output.
    Succeeded,
    /// It failed, after all attempts.
    Failed,
    /// Its condition did not hold, or only a failure leads to it.
    Skipped,
}

impl RunEvent {
    /// The event with its time, as it is stored.
    pub fn stamped(&self, at: DateTime<Utc>) -> Value {
        let mut value = serde_json::to_value(self)
            .unwrap_or_else(|error| json!({"event": "log", "level": "error", "message": error.to_string()}));
        if let Value::Object(map) = &mut value {
            map.insert("at".to_owned(), json!(at));
        }
        value
    }

    /// An event as it was stored; none for one that a later version wrote.
    pub fn read(stored: &Value) -> Option<Self> {
        serde_json::from_value(stored.clone()).ok()
    }

    /// The event for people: in one line, but for a log of several lines and an error with lines of its source.
    pub fn in_words(&self) -> String {
        let failed =
            |error: &Option<String>| error.as_ref().map(|error| format!(": {error}")).unwrap_or_default();
        match self {
            Self::Started { actor, .. } => format!("started by {}", actor.in_words()),
            Self::Resumed { reason } => format!("resumed: {reason}"),
            Self::StepStarted { step, call, attempt, .. } if *attempt > 1 => {
                format!("step {step}: {call}, attempt {attempt}")
            }
            Self::StepStarted { step, call, .. } => format!("step {step}: {call}"),
            Self::StepRetry { step, error, .. } => format!("step {step} will be tried again: {error}"),
            Self::StepFinished { step, status, output, reason, .. } => match status {
                StepStatus::Succeeded => format!("step {step} gave {}", abridged_text(output)),
                StepStatus::Failed => format!("step {step} failed{}", failed(reason)),
                StepStatus::Skipped => format!("step {step} skipped{}", failed(reason)),
            },
            Self::ToolStarted { tool, input, unsandboxed } => {
                let mark = if *unsandboxed { " (unsandboxed)" } else { "" };
                format!("tool {tool}{mark} {}", abridged_text(input))
            }
            Self::ToolFinished { tool, is_error: true, output, .. } => {
                let error = output.as_str().map_or_else(|| abridged_text(output), str::to_owned);
                // Most errors of a tool begin with its name.
                let error = error.strip_prefix(&format!("tool `{tool}`: ")).unwrap_or(&error);
                format!("tool {tool} failed: {error}")
            }
            Self::ToolFinished { tool, output, fuel, running_ms, .. } => {
                format!("tool {tool} gave {} ({fuel} fuel, {running_ms:.2} ms)", abridged_text(output))
            }
            Self::PolicyDecided { reason, .. } => format!("denied: {reason}"),
            Self::HostBegun { ability, args } => format!("{ability} {}", abridged_text(args)),
            Self::HostCall { ability, error: Some(error), .. } => format!("{ability} failed: {error}"),
            Self::HostCall { ability, output, .. } => {
                format!("{ability} gave {}", abridged_text(output.as_ref().unwrap_or(&Value::Null)))
            }
            Self::ModelMessage(message) => message.in_words(),
            Self::Log { level, message } => format!("{level}: {message}"),
            Self::Finished { status: RunStatus::Completed, output, .. } => {
                format!("completed with {}", abridged_text(output))
            }
            // `cancelled by a person` needs no other word before it.
            Self::Finished { status, error: Some(error), .. } if error.starts_with(status_name(*status)) => {
                error.clone()
            }
            Self::Finished { status, error, .. } => format!("{}{}", status_name(*status), failed(error)),
        }
    }
}

/// A status as it is written.
pub fn status_name(status: RunStatus) -> &'static str {
    match status {
        RunStatus::Created => "created",
        RunStatus::Planned => "planned",
        RunStatus::Running => "running",
        RunStatus::Paused => "paused",
        RunStatus::Completed => "completed",
        RunStatus::Failed => "failed",
        RunStatus::Cancelled => "cancelled",
    }
}

/// The status that a record stands for: a fold over its events. None for an empty record.
pub fn status_of<'e>(events: impl IntoIterator<Item = &'e RunEvent>) -> Option<RunStatus> {
    events.into_iter().fold(None, |status, event| match (status, event) {
        (Some(ended), _) if RunStatus::is_final(ended) => Some(ended),
        (_, RunEvent::Started { .. }) => Some(RunStatus::Created),
        (_, RunEvent::Finished { status, .. }) => Some(*status),
        (None, _) => None,
        (Some(_), _) => Some(RunStatus::Running),
    })
}

/// Brings a stored row in line with its record.
pub fn fold_into(row: &mut RunRow, finished: &RunEvent, at: DateTime<Utc>) {
    if let RunEvent::Finished { status, output, error } = finished {
        row.status = *status;
        row.outcome = (*status == RunStatus::Completed).then(|| "done".to_owned());
        row.output = (!output.is_null()).then(|| output.clone());
        row.error = error.clone();
        row.finished_at = Some(at);
    }
}

/// A value for the record: whole, or its size and beginning when it is large.
pub fn kept(value: &Value) -> Value {
    let text = value.to_string();
    if text.len() <= KEPT_BYTES {
        return value.clone();
    }
    json!({"bytes": text.len(), "begins": beginning(&text, 1024)})
}

/// A value in one line; of a long one its beginning.
pub(crate) fn abridged_text(value: &Value) -> String {
    let text = value.to_string();
    if text.len() <= 160 { text } else { format!("{}… ({} bytes)", beginning(&text, 120), text.len()) }
}

/// An error for the record: whole, or its beginning and size when it is large.
pub(crate) fn kept_text(text: String) -> String {
    if text.len() <= KEPT_BYTES {
        text
    } else {
        format!("{}… ({} bytes)", beginning(&text, 1024), text.len())
    }
}

/// A name that somebody outside made up: at most 100 characters of it.
pub(crate) fn short_name(name: &str) -> String {
    match name.char_indices().nth(100) {
        Some((end, _)) => format!("{}…", beginning(name, end)),
        None => name.to_owned(),
    }
}

fn beginning(text: &str, bytes: usize) -> &str {
    let end = (0..=bytes.min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cancelled_run_says_why_and_by_whom() {
        let finished = |error: &str| {
            let error = Some(error.to_owned());
            RunEvent::Finished { status: RunStatus::Cancelled, output: Value::Null, error }.in_words()
        };
        assert_eq!(finished("cancelled by a person"), "cancelled by a person");
        assert_eq!(finished("the agent was stopped"), "cancelled: the agent was stopped");
    }

    #[test]
    fn what_is_large_is_kept_as_its_beginning() {
        assert_eq!(kept_text("a".repeat(KEPT_BYTES)).len(), KEPT_BYTES);
        let long = kept_text("ä".repeat(KEPT_BYTES));
        assert_eq!(long, format!("{}… ({} bytes)", "ä".repeat(512), 2 * KEPT_BYTES));
        assert_eq!(short_name(&"ä".repeat(100)), "ä".repeat(100));
        assert_eq!(short_name(&"ä".repeat(101)), "ä".repeat(100) + "…");
    }

    #[test]
    fn the_error_of_a_tool_keeps_its_lines_and_names_the_tool_once() {
        let error = "tool `a`: tools/a.lua:1:3: no\n  1 | nil.x\n    |   ^";
        let failed = RunEvent::ToolFinished {
            tool: "a".to_owned(),
            is_error: true,
            output: json!(error),
            traceback: None,
            fuel: 0,
            peak_memory: 0,
            output_bytes: 0,
            host_calls: 0,
            running_ms: 0.0,
            waiting_ms: 0.0,
        };
        assert_eq!(failed.in_words(), "tool a failed: tools/a.lua:1:3: no\n  1 | nil.x\n    |   ^");
    }
}
