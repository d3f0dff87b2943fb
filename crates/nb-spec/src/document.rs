//! YAML (or JSON, which is YAML) text to a typed value.
//!
//! Unknown keys are collected, all of them, with their line and the known key that was probably meant. A wrong type is
//! one error with its line. Duplicate keys are an error of the YAML reader.

use serde::de::DeserializeOwned;

use crate::positions::Positions;
use crate::problem::Problems;

/// The largest document that is read, in bytes: people write these by hand.
const MAX_BYTES: usize = 256 << 10;
/// The most that a document may hold when its aliases (`*name`) are written out, in bytes and values. Without this bound
/// a page of text that repeats one long value fills the memory.
const MAX_WRITTEN_OUT: usize = 4 * MAX_BYTES;

/// A text with the place of every value in it.
#[derive(Debug)]
pub struct Document<'a> {
    file: &'a str,
    text: &'a str,
    positions: Positions,
}

impl<'a> Document<'a> {
    /// Takes a file's bytes; what is not UTF-8 is a problem of that file.
    pub fn new(file: &'a str, bytes: &'a [u8], problems: &mut Problems) -> Option<Self> {
        if bytes.len() > MAX_BYTES {
            problems.error(file, None, format!("has {} bytes; at most {MAX_BYTES} are read", bytes.len()));
            return None;
        }
        match std::str::from_utf8(bytes) {
            Ok(text) => {
                // Some editors put a byte order mark before the text.
                let text = text.strip_prefix('\u{feff}').unwrap_or(text);
                Some(Self { file, text, positions: Positions::of(text) })
            }
            Err(error) => {
                let line = 1 + bytes[..error.valid_up_to()].iter().filter(|byte| **byte == b'\n').count();
                problems.error(file, Some(line), "is not UTF-8 text");
                None
            }
        }
    }

    /// Reads the document as a `T`. Keys that `T` does not have are errors, each with its nearest relative in `keys`.
    pub fn read<T: DeserializeOwned>(&self, keys: &[&str], problems: &mut Problems) -> Option<T> {
        self.bounded(problems)?;
        let mut unknown = Vec::new();
        let reader = serde_yaml::Deserializer::from_str(self.text);
        let value = serde_ignored::deserialize(reader, |path| unknown.push(plain_path(&path.to_string())));
        for path in unknown {
            let key = path.rsplit('.').next().unwrap_or(&path);
            // A key that exists elsewhere is misplaced, not mistyped.
            let meant = nearest(key, keys.iter().copied().filter(|known| *known != key));
            let hint = meant.map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_default();
            self.error(problems, &path, format!("unknown key `{path}`{}{hint}", self.whose(&path)));
        }
        match value {
            Ok(value) => Some(value),
            Err(error) => {
                self.reader_error(&error, problems);
                None
            }
        }
    }

    /// The name of the list item that a path leads into, in brackets: nobody counts to `tools.2`.
    fn whose(&self, path: &str) -> String {
        self.positions.name(path).map(|name| format!(" (`{name}`)")).unwrap_or_default()
    }

    /// The reader's message, which begins with a path such as `tools[2].lua:`, with that name behind the path.
    fn with_name(&self, message: String) -> String {
        let Some((path, rest)) = message.split_once(": ").filter(|(path, _)| path.contains('[')) else {
            return message;
        };
        let name = self.whose(&path.replace('[', ".").replace(']', ""));
        format!("{path}{name}: {rest}")
    }

    /// Reads the document as a `T`, whatever keys it has beside those of `T`.
    pub fn read_known<T: DeserializeOwned>(&self, problems: &mut Problems) -> Option<T> {
        self.bounded(problems)?;
        match serde_yaml::from_str(self.text) {
            Ok(value) => Some(value),
            Err(error) => {
                self.reader_error(&error, problems);
                None
            }
        }
    }

    fn reader_error(&self, error: &serde_yaml::Error, problems: &mut Problems) {
        let told = error.to_string();
        let twice = told.contains("duplicate").then(|| self.positions.duplicate()).flatten();
        let line = twice.or_else(|| error.location().map(|location| location.line()));
        problems.error(self.file, line, self.with_name(plain_error(&told)));
    }

    /// None when the document is too large with its aliases written out, or when that cannot be told.
    fn bounded(&self, problems: &mut Problems) -> Option<()> {
        if self.positions.size() > MAX_WRITTEN_OUT {
            let message = format!(
                "repetition: with its aliases (`*name`) written out it has more than {MAX_WRITTEN_OUT} bytes"
            );
            problems.error(self.file, None, message);
            return None;
        }
        match self.positions.broken() {
            // Without an anchor there is no alias, and the reader below says better what is wrong.
            Some((line, reason)) if self.text.contains('&') => {
                problems.error(self.file, Some(line), reason);
                None
            }
            _ => Some(()),
        }
    }

    /// Adds an error at the line of `path`.
    pub fn error(&self, problems: &mut Problems, path: &str, message: impl Into<String>) {
        problems.error(self.file, self.positions.line(path), message);
    }

    /// Adds a warning at the line of `path`.
    pub fn warning(&self, problems: &mut Problems, path: &str, message: impl Into<String>) {
        problems.warning(self.file, self.positions.line(path), message);
    }

    /// The line on which the text of the scalar at `path` begins.
    pub fn content_line(&self, path: &str) -> Option<usize> {
        self.positions.content_line(path)
    }

    /// The file's name.
    pub fn file(&self) -> &str {
        self.file
    }
}

/// `serde_ignored` writes `?` for each `Option` on the way; nobody wrote that in the file.
fn plain_path(path: &str) -> String {
    path.split('.').filter(|part| *part != "?").collect::<Vec<_>>().join(".")
}

/// The reader's message in words of the file: without the place, which stands before it, and without names of types.
fn plain_error(message: &str) -> String {
    const WORDS: [(&str, &str); 8] = [
        ("expected u64", "expected a whole number, 0 or more"),
        ("expected u32", "expected a whole number, 0 or more"),
        ("expected usize", "expected a whole number, 0 or more"),
        ("expected i32", "expected a whole number"),
        ("expected a string", "expected a text"),
        ("expected a sequence", "expected a list"),
        ("expected a map", "expected a mapping"),
        ("invalid type: map", "invalid type: mapping"),
    ];
    let message = message.rsplit_once(" at line ").map_or(message, |(before, _)| before);
    let message = WORDS.iter().fold(message.to_owned(), |text, (from, to)| text.replace(from, to));
    match message.split_once("expected struct ") {
        Some((before, _)) => format!("{before}expected a mapping"),
        None => message,
    }
}

/// The candidate that `word` was probably meant to be: at most two slips away, and less than half of a word that is
/// long enough to be mistyped.
pub fn nearest<'c>(word: &str, candidates: impl Iterator<Item = &'c str>) -> Option<&'c str> {
    // Texts whose lengths are far apart are far apart; to compare a very long one would take very long.
    let length = word.chars().count();
    candidates
        .filter(|candidate| candidate.chars().count().abs_diff(length) <= 2)
        .map(|candidate| (strsim::osa_distance(word, candidate), candidate))
        .filter(|(distance, _)| *distance <= 2 && distance * 2 < word.len())
        .min()
        .map(|(_, candidate)| candidate)
}
