//! The file of a scripted provider.

use std::fmt;

use regex::Regex;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use crate::Usage;

/// A transcript: the first turn that fits what was said last answers.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Transcript {
    pub turns: Vec<Entry>,
}

/// One answer, and what it answers to.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Entry {
    /// What was said last. None: anything.
    #[serde(default)]
    pub when: Option<When>,
    /// Whether it answers only one time.
    #[serde(default)]
    pub once: bool,
    /// The text, as one piece a word, or in these pieces.
    #[serde(default)]
    pub answer: Option<Text>,
    /// Tools that are to be called.
    #[serde(default)]
    pub calls: Vec<ScriptedCall>,
    /// An error in place of an answer; behind a text, in the middle of it.
    #[serde(default)]
    pub error: Option<ScriptedError>,
    /// Before the first piece, and between two, in milliseconds.
    #[serde(default)]
    pub delay_ms: u64,
    /// The answer ends before its end, as when a connection breaks.
    #[serde(default)]
    pub breaks_off: bool,
    /// Why it ends, in OpenAI's words.
    #[serde(default)]
    pub stop: Option<String>,
    /// The tokens that it took. None: a quarter of the characters.
    #[serde(default)]
    pub usage: Option<Usage>,
}

/// What a turn answers to.
#[derive(Debug)]
pub(crate) enum When {
    /// The last message holds this text, in upper or lower case.
    Says(String),
    /// The last message fits this regular expression.
    Matches(Regex),
    /// The last message is the result of this tool.
    ResultOf(String),
    /// The last message is an error of this tool.
    ErrorOf(String),
}

impl<'de> Deserialize<'de> for When {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(WhenVisitor)
    }
}

/// An untagged enumeration would lose the error of a regular expression, and its line.
struct WhenVisitor;

impl<'de> Visitor<'de> for WhenVisitor {
    type Value = When;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("`when` as a text, or as one of {matches: …}, {result_of: …}, {error_of: …}")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<When, E> {
        Ok(When::Says(text.to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<When, A::Error> {
        const KEYS: [&str; 3] = ["matches", "result_of", "error_of"];
        let key: String = map.next_key()?.ok_or_else(|| A::Error::invalid_length(0, &self))?;
        let when = match key.as_str() {
            "matches" => When::Matches(expression(&map.next_value::<String>()?)?),
            "result_of" => When::ResultOf(map.next_value()?),
            "error_of" => When::ErrorOf(map.next_value()?),
            other => return Err(A::Error::unknown_field(other, &KEYS)),
        };
        match map.next_key::<String>()? {
            None => Ok(when),
            Some(_) => Err(A::Error::invalid_length(2, &self)),
        }
    }
}

fn expression<E: Error>(text: &str) -> Result<Regex, E> {
    Regex::new(text).map_err(|error| {
        // The last line has the reason; those before draw where it is.
        let told = error.to_string();
        let reason = told.lines().last().unwrap_or_default().trim_start_matches("error: ");
        E::custom(format!("`{text}` is not a regular expression: {reason}"))
    })
}

/// The text of an answer.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged, expecting = "`answer` is a text, or a list of its pieces")]
pub(crate) enum Text {
    Whole(String),
    Pieces(Vec<String>),
}

/// A tool to call.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ScriptedCall {
    pub name: String,
    #[serde(default)]
    pub arguments: Map<String, Value>,
}

/// An error.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ScriptedError {
    pub message: String,
    #[serde(default = "internal")]
    pub status: u16,
    #[serde(default)]
    pub code: Option<String>,
    /// In seconds.
    #[serde(default)]
    pub retry_after: Option<f64>,
}

fn internal() -> u16 {
    500
}

impl Transcript {
    /// Reads a transcript.
    ///
    /// # Errors
    /// A sentence, with the line where it is known.
    pub fn parse(text: &str) -> Result<Self, String> {
        let transcript: Self = serde_yaml::from_str(text).map_err(|error| error.to_string())?;
        for (index, entry) in transcript.turns.iter().enumerate() {
            let number = index + 1;
            if entry.answer.is_none() && entry.calls.is_empty() && entry.error.is_none() {
                return Err(format!("turn {number} has no `answer`, `calls` or `error`"));
            }
            if let Some(error) = &entry.error
                && !(400..600).contains(&error.status)
            {
                return Err(format!(
                    "turn {number}: error.status is {}, and must be from 400 to 599",
                    error.status
                ));
            }
            if entry.delay_ms > 600_000 {
                return Err(format!("turn {number}: delay_ms is more than ten minutes"));
            }
        }
        if transcript.turns.is_empty() {
            return Err("`turns` is empty".to_owned());
        }
        Ok(transcript)
    }
}

impl Text {
    /// The pieces in which a stream sends it.
    pub fn pieces(&self) -> Vec<String> {
        match self {
            Self::Pieces(pieces) => pieces.clone(),
            Self::Whole(text) => text.split_inclusive(' ').map(str::to_owned).collect(),
        }
    }
}
