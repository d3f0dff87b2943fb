//! Which turn of a transcript answers, and how.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::Value;

use crate::ProviderId;
use crate::answer::{Answer, Delta, Stop, Usage};
use crate::chat::{Arguments, Call, Chat, Turn};
use crate::environment::Environment;
use crate::error::{ErrorKind, ProviderError};
use crate::hint;
use crate::section::Section;

use super::transcript::{Entry, ScriptedError, Transcript, When};

/// A transcript at work. Clones share which of its turns were used.
#[derive(Clone)]
pub struct Script(Arc<Inner>);

struct Inner {
    transcript: Transcript,
    used: Vec<AtomicBool>,
    /// Numbers the calls: the ids of one script are different.
    calls: AtomicUsize,
}

/// What answers.
#[derive(Debug, Clone)]
pub(crate) struct Planned {
    /// The number of the turn in the file, counted from 1.
    pub number: usize,
    pub pieces: Vec<String>,
    pub calls: Vec<Call>,
    pub error: Option<ScriptedError>,
    pub delay: Duration,
    pub breaks_off: bool,
    /// In OpenAI's words.
    pub stop: String,
    pub usage: Usage,
}

impl Script {
    /// Reads a transcript.
    ///
    /// # Errors
    /// A sentence, with the line where it is known.
    pub fn parse(text: &str) -> Result<Self, String> {
        let transcript = Transcript::parse(text)?;
        let used = transcript.turns.iter().map(|_| AtomicBool::new(false)).collect();
        Ok(Self(Arc::new(Inner { transcript, used, calls: AtomicUsize::new(0) })))
    }

    /// `options.script` is the file; `options.turns` are the turns themselves.
    pub(crate) fn from_section(
        section: &Section,
        environment: &dyn Environment,
    ) -> Result<Self, ProviderError> {
        if let Some(turns) = section.options.get("turns") {
            let text = serde_json::json!({ "turns": turns }).to_string();
            return Self::parse(&text)
                .map_err(|reason| section.fail(format!("provider.options.turns: {reason}")));
        }
        let path = section.options.get("script").and_then(Value::as_str).ok_or_else(|| {
            section.fail("provider.options has no `script`").hinting("name the file with the transcript")
        })?;
        let text = environment
            .file(path)
            .and_then(|bytes| String::from_utf8(bytes).map_err(|_| "it is not UTF-8 text".to_owned()));
        text.and_then(|text| Self::parse(&text)).map_err(|reason| section.fail(format!("{path}: {reason}")))
    }

    /// The turn that answers what was said last. None: the transcript has none.
    pub(crate) fn plan(&self, chat: &Chat) -> Option<Planned> {
        let last = chat.turns.last();
        let entries = self.0.transcript.turns.iter().zip(&self.0.used).enumerate();
        let (index, entry) = entries
            .filter(|(_, (entry, _))| fits(entry.when.as_ref(), last))
            .find(|(_, (entry, used))| !entry.once || !used.swap(true, Ordering::Relaxed))
            .map(|(index, (entry, _))| (index, entry))?;
        Some(self.planned(index + 1, entry, chat))
    }

    fn planned(&self, number: usize, entry: &Entry, chat: &Chat) -> Planned {
        let pieces = entry.answer.as_ref().map(super::transcript::Text::pieces).unwrap_or_default();
        let calls: Vec<Call> = entry
            .calls
            .iter()
            .map(|call| Call {
                id: format!("call_{}", self.0.calls.fetch_add(1, Ordering::Relaxed) + 1),
                name: call.name.clone(),
                arguments: Arguments::Object(call.arguments.clone()),
            })
            .collect();
        let usual = if calls.is_empty() { "stop" } else { "tool_calls" };
        let output: usize = pieces.iter().map(String::len).sum::<usize>()
            + calls.iter().map(|call| call.name.len() + call.arguments.to_text().len()).sum::<usize>();
        let usage =
            entry.usage.unwrap_or(Usage { input: quarter(said(chat)), output: quarter(output), cached: 0 });
        Planned {
            number,
            pieces,
            calls,
            error: entry.error.clone(),
            delay: Duration::from_millis(entry.delay_ms),
            breaks_off: entry.breaks_off,
            stop: entry.stop.clone().unwrap_or_else(|| usual.to_owned()),
            usage,
        }
    }

    /// Answers as a provider does.
    pub(crate) async fn answer(
        &self,
        chat: &Chat,
        stream: bool,
        on: &mut (dyn FnMut(Delta<'_>) + Send),
    ) -> Result<Answer, ProviderError> {
        let fail = |kind, message: String| ProviderError::new(ProviderId::Scripted, kind, message);
        let planned = self.plan(chat).ok_or_else(|| {
            fail(ErrorKind::Refused, unanswered(chat))
                .hinting("add a turn without `when`: it answers everything else")
        })?;
        let mut answer = Answer::default();
        tokio::time::sleep(planned.delay).await;
        for (index, piece) in planned.pieces.iter().enumerate() {
            if stream && index > 0 {
                tokio::time::sleep(planned.delay).await;
            }
            answer.text.push_str(piece);
            if stream {
                on(Delta::Text(piece));
            }
        }
        if let Some(error) = planned.error {
            let wait = error.retry_after.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
            let failed = ProviderError {
                status: Some(error.status),
                code: error.code,
                retry_after: wait,
                hint: wait.map(hint::for_wait),
                ..fail(ErrorKind::Refused, error.message)
            };
            return Err(if answer.text.is_empty() { failed } else { failed.after(answer) });
        }
        if planned.breaks_off {
            return Err(fail(ErrorKind::Ended, "the answer broke off".to_owned()).after(answer));
        }
        if !stream && !answer.text.is_empty() {
            on(Delta::Text(&answer.text));
        }
        answer.calls = planned.calls;
        answer.stop = Some(match planned.stop.as_str() {
            "stop" => Stop::Done,
            "tool_calls" => Stop::Calls,
            "length" => Stop::Length,
            "content_filter" => Stop::Filtered,
            _ => Stop::Other,
        });
        answer.stop_reason = Some(planned.stop);
        answer.usage = Some(planned.usage);
        answer.model = Some("scripted".to_owned());
        Ok(answer)
    }
}

fn fits(when: Option<&When>, last: Option<&Turn>) -> bool {
    let results = match last {
        Some(Turn::Results(results)) => results.as_slice(),
        _ => &[],
    };
    // What a person said, or what the last tool gave.
    let said = match last {
        Some(Turn::User(text)) => text.as_str(),
        Some(Turn::Results(results)) => results.last().map_or("", |result| result.content.as_str()),
        _ => "",
    };
    match when {
        None => true,
        Some(When::Says(text)) => said.to_lowercase().contains(&text.to_lowercase()),
        Some(When::Matches(expression)) => expression.is_match(said),
        Some(When::ResultOf(tool)) => results.iter().any(|result| result.name == *tool),
        Some(When::ErrorOf(tool)) => results.iter().any(|result| result.name == *tool && result.is_error),
    }
}

/// Why nothing answers.
pub(crate) fn unanswered(chat: &Chat) -> String {
    let last = match chat.turns.last() {
        Some(Turn::User(text)) => format!("{text:?}"),
        Some(Turn::Results(results)) => {
            let names: Vec<&str> = results.iter().map(|result| result.name.as_str()).collect();
            format!("the result of {}", names.join(", "))
        }
        _ => "nothing".to_owned(),
    };
    format!("no turn of the transcript answers {last}")
}

fn said(chat: &Chat) -> usize {
    let fixed = chat.directive.iter().chain(&chat.backdrop).map(String::len).sum::<usize>();
    let turns = chat.turns.iter().map(|turn| match turn {
        Turn::User(text) => text.len(),
        Turn::Model(message) => message.text.len(),
        Turn::Results(results) => results.iter().map(|result| result.content.len()).sum(),
    });
    fixed + turns.sum::<usize>()
}

/// About what a token has.
fn quarter(characters: usize) -> u64 {
    u64::try_from(characters.div_ceil(4)).unwrap_or(u64::MAX)
}
