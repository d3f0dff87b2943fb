//! Cartridges: one YAML file that says who a bot is and which model speaks for it.
//!
//! Source: Nano Bots specification 3.2.0, "Cartridges". What is read here is what the daemon uses: the provider, and what
//! the model is told. Other keys are left alone, as the specification wants it.

use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use crate::document::Document;
use crate::problem::Problems;

/// A cartridge, as far as it is used.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct Cartridge {
    /// Which model answers, and how it is reached.
    #[serde(default)]
    pub provider: Option<ProviderSection>,
    #[serde(default, deserialize_with = "or_default")]
    behaviors: Behaviors,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
struct Behaviors {
    #[serde(default, deserialize_with = "or_default")]
    interaction: Behavior,
}

/// What a model is told.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct Behavior {
    /// Who it is: the system message.
    #[serde(default)]
    pub directive: Option<String>,
    /// Context.
    #[serde(default)]
    pub backdrop: Option<String>,
    /// What it is to do next.
    #[serde(default)]
    pub instruction: Option<String>,
}

/// The `provider:` section as it was written. `ENV/NAME` in it is not replaced yet.
///
/// Source: Nano Bots specification 3.2.0, "Providers".
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct ProviderSection {
    /// The provider's name, such as `openai`.
    #[serde(default)]
    pub id: String,
    /// Keys, addresses, versions of the interface.
    #[serde(default, deserialize_with = "or_default")]
    pub credentials: Map<String, Value>,
    /// What is sent to the provider, each setting under its own name.
    #[serde(default, deserialize_with = "or_default")]
    pub settings: Map<String, Value>,
    /// What we need to know and the provider is not sent.
    #[serde(default, deserialize_with = "or_default")]
    pub options: Map<String, Value>,
}

impl Cartridge {
    /// Reads a cartridge; what is wrong is added to the problems.
    pub fn read(file: &str, bytes: &[u8], problems: &mut Problems) -> Option<Self> {
        Document::new(file, bytes, problems)?.read_known(problems)
    }

    /// What the model is told in a conversation.
    pub fn interaction(&self) -> &Behavior {
        &self.behaviors.interaction
    }
}

/// A key with nothing behind it is as good as none.
fn or_default<'de, T: Deserialize<'de> + Default, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    Ok(Option::<T>::deserialize(deserializer)?.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Cartridge, String> {
        let mut problems = Problems::default();
        Cartridge::read("bot.yml", text.as_bytes(), &mut problems).ok_or_else(|| problems.to_string())
    }

    #[test]
    fn what_is_used_is_read_and_the_rest_is_left_alone() {
        let text = "meta: {name: a}\nbehaviors:\n  boot:\n  interaction: {directive: Be kind., backdrop: null}\n\
            provider:\n  id: openai\n  credentials: {access-token: ENV/KEY}\n  settings:\n  new: 1\nmiscellaneous: {x: 1}\n";
        let cartridge = read(text).unwrap();
        assert_eq!(cartridge.interaction().directive.as_deref(), Some("Be kind."));
        let provider = cartridge.provider.unwrap();
        assert_eq!((provider.id.as_str(), provider.settings.len()), ("openai", 0));
    }

    #[test]
    fn a_wrong_type_or_a_key_twice_is_told_with_its_line() {
        assert!(read("provider:\n  id: [a]\n").unwrap_err().starts_with("bot.yml:2:"));
        let twice = read("provider:\n  id: a\n  credentials: {}\n  credentials: {}\n").unwrap_err();
        assert!(twice.starts_with("bot.yml:4:") && twice.contains("duplicate"), "{twice}");
    }
}
