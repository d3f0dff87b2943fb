//! The providers by name.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A provider, as `provider.id` names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names are the documentation")]
pub enum ProviderId {
    Anthropic,
    Cohere,
    Google,
    Maritaca,
    Mistral,
    Ollama,
    Openai,
    /// Answers from a file, for tests and demonstrations.
    Scripted,
}

impl ProviderId {
    /// All of them, in the order of their names.
    pub const ALL: [Self; 8] = [
        Self::Anthropic,
        Self::Cohere,
        Self::Google,
        Self::Maritaca,
        Self::Mistral,
        Self::Ollama,
        Self::Openai,
        Self::Scripted,
    ];

    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::Cohere => "cohere",
            Self::Google => "google",
            Self::Maritaca => "maritaca",
            Self::Mistral => "mistral",
            Self::Ollama => "ollama",
            Self::Openai => "openai",
            Self::Scripted => "scripted",
        }
    }
}

impl fmt::Display for ProviderId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for ProviderId {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        Self::ALL.into_iter().find(|id| id.name() == text).ok_or(())
    }
}
