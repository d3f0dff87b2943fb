//! One request to a model: within the budget, on record, ended with its run.

use std::time::{Duration, Instant};

use nb_provider::{Answer, Call, Chat, Delta, ErrorKind, Listener, ProviderError, Turn, Usage};
use serde_json::{Value, json};

use super::Model;
use super::message::ModelMessage;
use crate::budget::{reserve, settle};
use crate::engine::RunContext;
use crate::record::{RunEvent, kept, kept_text, short_name};

/// An answer with what it took.
pub(super) struct Answered {
    pub answer: Answer,
    pub usage: Usage,
    /// Whether the provider did not tell the tokens.
    pub estimated: bool,
    pub usd: Option<f64>,
}

/// How a request ended that gave no whole answer.
enum Failure {
    Cancelled,
    Provider(ProviderError),
}

/// Asks once. A run that is cancelled breaks the request off.
///
/// # Errors
/// A sentence; what had come by then is on record.
pub(super) async fn ask(run: &RunContext, model: &Model, chat: &Chat) -> Result<Answered, String> {
    let prompt = quarter(characters(chat));
    let reservation = reserve(run, model, prompt).await?;
    let begun = Instant::now();
    let mut heard = Heard { run, model, prompt, lost: 0, text: String::new(), thought: String::new() };
    let result = tokio::select! {
        result = model.provider().ask(chat, true, &mut heard) => result.map_err(Failure::Provider),
        // Dropping the request closes its connection.
        () = run.cancel.cancelled() => Err(Failure::Cancelled),
    };
    let (answer, error, has_spent) = match result {
        Ok(answer) => (answer, None, true),
        Err(Failure::Cancelled) => {
            let error = Some(run.cancelled().to_string());
            (Answer { text: heard.text, thinking: heard.thought, ..Answer::default() }, error, true)
        }
        Err(Failure::Provider(mut error)) => {
            let has_spent = may_have_spent(&error);
            let mut answer = error.received.take().map(|answer| *answer).unwrap_or_default();
            answer.request_id = answer.request_id.or(error.request_id.clone());
            // The text stands beside the error.
            (answer, Some(kept_text(model.error(&error))), has_spent)
        }
    };
    let estimate = Usage { input: prompt, output: quarter(said(&answer)), cached: 0 };
    let (mut usage, mut estimated) = match answer.usage {
        Some(usage) => (usage, false),
        None if has_spent => (estimate, true),
        None => (Usage::default(), false),
    };
    usage.input = usage.input.saturating_add(heard.lost);
    estimated |= heard.lost > 0;
    let usd = model.prices.map(|prices| prices.cost(usage));
    let ms = begun.elapsed().as_secs_f64() * 1e3;
    let message = message(model, &answer, Took { usage, estimated, usd, ms }, error.clone());
    settle(run, model, reservation, message).map_err(|error| error.to_string())?;
    match error {
        Some(error) => Err(error),
        None => Ok(Answered { answer, usage, estimated, usd }),
    }
}

/// Keeps what came of an answer, in case that its run is cancelled.
struct Heard<'a> {
    run: &'a RunContext,
    model: &'a Model,
    /// The tokens of the request.
    prompt: u64,
    /// Those of requests that failed, may have been counted, and were sent again.
    lost: u64,
    text: String,
    thought: String,
}

impl Listener for Heard<'_> {
    fn hear(&mut self, delta: Delta<'_>) {
        match delta {
            Delta::Text(text) => self.text.push_str(text),
            Delta::Thinking(thought) => self.thought.push_str(thought),
        }
    }

    fn again(&mut self, failed: &ProviderError, wait: Duration) -> Result<(), String> {
        // Each one that is sent leaves the machine, and counts.
        self.run.count_outside_call()?;
        if may_have_spent(failed) {
            self.lost = self.lost.saturating_add(self.prompt);
        }
        let failed = self.model.told(&failed.to_string());
        let message = format!("{}; asking again in {:.1} s", kept_text(failed), wait.as_secs_f64());
        let event = RunEvent::Log { level: "info".to_owned(), message };
        self.run.record(&event).map_err(|error| error.to_string())
    }
}

struct Took {
    usage: Usage,
    estimated: bool,
    usd: Option<f64>,
    ms: f64,
}

fn message(model: &Model, answer: &Answer, took: Took, error: Option<String>) -> ModelMessage {
    ModelMessage {
        provider: model.provider().id(),
        model: short_name(&answer.model.as_deref().map_or_else(|| model.name(), |name| model.told(name))),
        thought: match answer.thinking.as_str() {
            "" => Value::Null,
            thought => kept(&json!(thought)),
        },
        said: kept(&Value::String(answer.text.clone())),
        calls: calls(&answer.calls),
        stop: answer.stop,
        stop_reason: answer.stop_reason.as_deref().map(short_name),
        usage: took.usage,
        estimated: took.estimated,
        usd: took.usd,
        request_id: answer.request_id.as_deref().map(short_name),
        error,
        ms: took.ms,
    }
}

fn calls(calls: &[Call]) -> Value {
    if calls.is_empty() {
        return Value::Null;
    }
    let mut shown = calls.to_vec();
    shown.iter_mut().for_each(|call| call.name = short_name(&call.name));
    kept(&json!(shown))
}

/// Whether the provider may have counted tokens. One that refused, or was not reached, has not.
fn may_have_spent(error: &ProviderError) -> bool {
    error.received.is_some()
        || matches!(error.kind, ErrorKind::TimedOut | ErrorKind::Ended | ErrorKind::Malformed)
}

/// The characters of a conversation, those of its tools among them.
fn characters(chat: &Chat) -> usize {
    let count = |text: &str| text.chars().count();
    let fixed: usize = chat.directive.iter().chain(&chat.backdrop).map(|text| count(text)).sum();
    let turns = chat.turns.iter().map(|turn| match turn {
        Turn::User(text) => count(text),
        Turn::Model(message) => {
            count(&message.text)
                + message.calls.iter().map(|call| count(&call.arguments.to_text())).sum::<usize>()
        }
        Turn::Results(results) => results.iter().map(|result| count(&result.content)).sum(),
    });
    let tools = chat.tools.iter().map(|tool| {
        let parameters = tool.parameters.as_ref().map_or(0, |schema| count(&schema.to_string()));
        count(&tool.name) + count(&tool.description) + parameters
    });
    fixed + turns.sum::<usize>() + tools.sum::<usize>()
}

fn said(answer: &Answer) -> usize {
    let calls = answer.calls.iter().map(|call| call.name.len() + call.arguments.to_text().chars().count());
    answer.text.chars().count() + answer.thinking.chars().count() + calls.sum::<usize>()
}

/// About what a token has.
fn quarter(characters: usize) -> u64 {
    u64::try_from(characters.div_ceil(4)).unwrap_or(u64::MAX)
}
