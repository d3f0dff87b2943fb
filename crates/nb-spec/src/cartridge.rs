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

/// The names of the providers that there are.
pub const PROVIDERS: [&str; 8] =
    ["anthropic", "cohere", "google", "maritaca", "mistral", "ollama", "openai", "scripted"];

/// A place in a provider section that names a variable: `ENV/NAME`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// Where it stands, such as `credentials.access-token`.
    pub path: String,
    /// The variable.
    pub name: String,
}

impl ProviderSection {
    /// The variables that it names, in the order of the section.
    pub fn references(&self) -> Vec<Reference> {
        let mut found = Vec::new();
        for (path, map) in
            [("credentials", &self.credentials), ("settings", &self.settings), ("options", &self.options)]
        {
            for (key, value) in map {
                collect(&format!("{path}.{key}"), value, &mut found);
            }
        }
        found
    }

    /// The model that it names, in the settings or, for Google, in the options. It may be a reference.
    pub fn model(&self) -> Option<&str> {
        self.settings.get("model").or_else(|| self.options.get("model"))?.as_str()
    }
}

fn collect(path: &str, value: &Value, found: &mut Vec<Reference>) {
    match value {
        Value::String(text) => found.extend(
            variable_name(text).map(|name| Reference { path: path.to_owned(), name: name.to_owned() }),
        ),
        Value::Array(items) => {
            items
                .iter()
                .enumerate()
                .for_each(|(index, item)| collect(&format!("{path}.{index}"), item, found));
        }
        Value::Object(map) => {
            map.iter().for_each(|(key, item)| collect(&format!("{path}.{key}"), item, found));
        }
        _ => {}
    }
}

/// The name in a scalar that is `ENV`, one separator and a name. It is the whole scalar, so that no sentence that begins
/// with these letters is taken for one.
pub fn variable_name(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("ENV")?;
    let separator = rest.chars().next()?;
    let name = rest.get(separator.len_utf8()..)?;
    let begins = name.chars().next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    (!separator.is_ascii_alphanumeric() && begins && plain).then_some(name)
}

impl Cartridge {
    /// Reads a cartridge; what is wrong is added to the problems.
    pub fn read(file: &str, bytes: &[u8], problems: &mut Problems) -> Option<Self> {
        Self::of(&Document::new(file, bytes, problems)?, problems)
    }

    /// The same from a document.
    pub(crate) fn of(document: &Document<'_>, problems: &mut Problems) -> Option<Self> {
        document.read_known(problems)
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
    fn variables_are_found_wherever_they_stand_and_sentences_are_none() {
        let text = "provider:\n  id: openai\n  credentials: {access-token: ENV/KEY, address: ENVELOPE}\n  \
            settings: {user: ENV-USER, stop: [a, ENV/STOP], note: ENV is short}\n";
        let found = read(text).unwrap().provider.unwrap().references();
        let found: Vec<(&str, &str)> =
            found.iter().map(|found| (found.path.as_str(), found.name.as_str())).collect();
        let expected =
            [("credentials.access-token", "KEY"), ("settings.user", "USER"), ("settings.stop.1", "STOP")];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_wrong_type_or_a_key_twice_is_told_with_its_line() {
        assert!(read("provider:\n  id: [a]\n").unwrap_err().starts_with("bot.yml:2:"));
        let twice = read("provider:\n  id: a\n  credentials: {}\n  credentials: {}\n").unwrap_err();
        assert!(twice.starts_with("bot.yml:4:") && twice.contains("duplicate"), "{twice}");
    }
}
