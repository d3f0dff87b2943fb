//! Source texts: what is compiled, and what errors point into.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// The language of a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Lang {
    /// Lua 5.4.
    Lua,
    /// Fennel 1.6, which is translated to Lua.
    Fennel,
}

impl fmt::Display for Lang {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Lua => "Lua",
            Self::Fennel => "Fennel",
        })
    }
}

/// A file with a script. Cloning it is cheap.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// Its language.
    pub lang: Lang,
    /// The name that errors carry, such as `tools/greet.fnl`.
    pub file: Arc<str>,
    /// The text.
    pub text: Arc<str>,
}

impl Source {
    /// A source of any kind of text. A byte order mark in front of it is left out, and a first line `#!…` of Lua, which
    /// says how to start a program, becomes an empty one: lines and columns stay those of the file.
    pub fn new(lang: Lang, file: impl Into<Arc<str>>, text: impl Into<Arc<str>>) -> Self {
        let text = text.into();
        let program = without_head(lang, &text);
        let text = if program.len() == text.len() { text } else { program.into() };
        Self { lang, file: file.into(), text }
    }
}

/// Fennel passes over a `#!` line by itself.
fn without_head(lang: Lang, text: &str) -> &str {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match lang {
        Lang::Lua if text.starts_with("#!") => text.find('\n').map_or("", |end| &text[end..]),
        _ => text,
    }
}

/// A file that a script can `require`, and whose macros a Fennel script can import.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Module {
    /// What it is required by: its path below `tools/lib`, with dots and without the ending.
    pub name: Arc<str>,
    /// Its text.
    pub source: Source,
}
