//! Cartridges: one YAML file that says who a bot is and which model speaks for it.
//!
//! Source: Nano Bots specification 3.2.0, "Cartridges". What is read here is what the daemon uses: the provider, and what
//! the model is told. Other keys are left alone, as the specification wants it.

use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use crate::document::{Document, nearest};
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
    /// Keys that a provider section does not have.
    #[serde(flatten)]
    others: Map<String, Value>,
}

/// The names of the providers that there are.
pub const PROVIDERS: [&str; 8] =
    ["anthropic", "cohere", "google", "maritaca", "mistral", "ollama", "openai", "scripted"];

/// The keys of a provider section.
const KEYS: [&str; 4] = ["id", "credentials", "settings", "options"];

/// The options that every provider knows.
pub const OPTIONS: [&str; 6] = ["idle_timeout", "longest_wait", "prices", "retries", "stream", "timeout"];

/// The credentials that a provider knows, with `-` in their names. None: there is no such provider.
pub fn credentials_of(id: &str) -> Option<&'static [&'static str]> {
    Some(match id {
        "anthropic" => &["address", "anthropic-version", "api-key"],
        "cohere" | "maritaca" | "ollama" => &["address", "api-key"],
        "google" => &[
            "address",
            "api-key",
            "file-contents",
            "file-path",
            "project-id",
            "region",
            "service",
            "version",
        ],
        "mistral" => &["address", "api-key", "version"],
        "openai" => &["access-token", "address", "version"],
        "scripted" => &[],
        _ => return None,
    })
}

/// The options that one provider knows beside [`OPTIONS`].
pub fn own_options_of(id: &str) -> &'static [&'static str] {
    match id {
        "google" => &["model"],
        "scripted" => &["script", "turns"],
        _ => &[],
    }
}

/// A key in a provider section that its provider does not know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownKey {
    /// Where it stands, such as `provider.credentials.adress`.
    pub path: String,
    /// The known key that it was probably meant to be. None: it is one of another program, and is ignored.
    pub meant: Option<&'static str>,
}

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

    /// The keys that its provider does not know; of a provider that does not exist, those of the section alone. Settings
    /// are the provider's own: each may be one.
    pub fn unknown_keys(&self) -> Vec<UnknownKey> {
        let mut found = unknown("provider", self.others.keys(), &KEYS);
        if let Some(known) = credentials_of(&self.id) {
            found.extend(unknown("provider.credentials", self.credentials.keys(), known));
            let options = [OPTIONS.as_slice(), own_options_of(&self.id)].concat();
            found.extend(unknown("provider.options", self.options.keys(), &options));
        }
        found
    }

    /// The model that it names, in the settings or, for Google, in the options. It may be a reference.
    pub fn model(&self) -> Option<&str> {
        self.settings.get("model").or_else(|| self.options.get("model"))?.as_str()
    }
}

fn unknown<'k>(
    part: &str,
    keys: impl Iterator<Item = &'k String>,
    known: &[&'static str],
) -> Vec<UnknownKey> {
    // The specification writes `file_contents` beside `file-path`: in credentials both are the same.
    let plain =
        |key: &str| if part.ends_with("credentials") { key.replace('_', "-") } else { key.to_owned() };
    keys.map(|key| (key, plain(key)))
        .filter(|(_, plain)| !known.contains(&plain.as_str()))
        .map(|(key, plain)| UnknownKey {
            path: format!("{part}.{key}"),
            meant: nearest(&plain, known.iter().copied()),
        })
        .collect()
}

/// Where providers are told how many tokens an answer may have.
const MOST_TOKENS: [&[&str]; 7] = [
    &["max_tokens"],
    &["max_completion_tokens"],
    &["maxTokens"],
    &["generationConfig", "maxOutputTokens"],
    &["generationConfig", "max_output_tokens"],
    &["generation_config", "max_output_tokens"],
    &["options", "num_predict"],
];

impl ProviderSection {
    /// The most tokens that an answer may have, when the settings say it as a number.
    pub fn most_tokens(&self) -> Option<u64> {
        let most = MOST_TOKENS.into_iter().filter_map(|path| self.setting(path)?.as_u64()).max()?;
        // Several answers to one request are paid for, whichever is taken.
        let answers = [&["n"][..], &["generationConfig", "candidateCount"]];
        let answers = answers.into_iter().find_map(|path| self.setting(path)?.as_u64());
        Some(most.saturating_mul(answers.unwrap_or(1)))
    }

    /// The setting that says how many tokens an answer may have, such as `provider.settings.max_tokens`; the usual one of
    /// the provider where none does.
    pub fn most_tokens_setting(&self) -> String {
        let usual: &[&str] = match self.id.as_str() {
            "google" => &["generationConfig", "maxOutputTokens"],
            "ollama" => &["options", "num_predict"],
            _ => &["max_tokens"],
        };
        let set = MOST_TOKENS.into_iter().find(|path| self.setting(path).is_some());
        format!("provider.settings.{}", set.unwrap_or(usual).join("."))
    }

    fn setting(&self, path: &[&str]) -> Option<&Value> {
        let (first, rest) = path.split_first()?;
        rest.iter()
            .try_fold(self.settings.get(*first)?, |value, key| value.get(key))
            .filter(|value| !value.is_null())
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
        let cartridge: Self = document.read_known(problems)?;
        if let Some(section) = &cartridge.provider {
            // What looks mistyped is refused by whoever uses the section.
            for UnknownKey { path, .. } in section.unknown_keys().iter().filter(|key| key.meant.is_none()) {
                document.warning(problems, path, format!("`{path}` is not known here, and is ignored"));
            }
        }
        Some(cartridge)
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
    fn a_key_that_is_not_known_is_told_with_the_one_that_was_meant() {
        let unknown = |text: &str| {
            let section = read(text).unwrap().provider.unwrap();
            section.unknown_keys().into_iter().map(|key| (key.path, key.meant)).collect::<Vec<_>>()
        };
        let text = "provider:\n  id: openai\n  setings: {}\n  credentials: {access_token: a, adress: b, organization: c}\n  \
            settings: {anything: 1}\n  options: {timeot: 1, retires: 9, stream: true, idle-timeout: 1, model: a}\n";
        let expected = [
            ("provider.setings", Some("settings")),
            ("provider.credentials.adress", Some("address")),
            ("provider.credentials.organization", None),
            ("provider.options.timeot", Some("timeout")),
            ("provider.options.retires", Some("retries")),
            ("provider.options.idle-timeout", Some("idle_timeout")),
            ("provider.options.model", None),
        ];
        assert_eq!(unknown(text), expected.map(|(path, meant)| (path.to_owned(), meant)));
        let google =
            "provider: {id: google, credentials: {file_contents: a, file-path: b}, options: {model: a}}\n";
        assert_eq!(unknown(google), []);
        assert_eq!(unknown("provider: {id: later, credentials: {adress: a}, options: {timeot: 1}}\n"), []);
        for id in PROVIDERS {
            assert!(credentials_of(id).is_some(), "{id}");
        }
    }

    #[test]
    fn the_most_tokens_of_an_answer_are_found_where_each_provider_has_them() {
        for (id, settings, most, setting) in [
            ("openai", "{max_tokens: 5, max_completion_tokens: 7}", Some(7), "max_tokens"),
            ("openai", "{max_completion_tokens: 7}", Some(7), "max_completion_tokens"),
            ("openai", "{max_tokens: 5, n: 3}", Some(15), "max_tokens"),
            ("anthropic", "{max_tokens: ENV/MOST}", None, "max_tokens"),
            (
                "google",
                "{generationConfig: {maxOutputTokens: 9}}",
                Some(9),
                "generationConfig.maxOutputTokens",
            ),
            ("google", "{max_tokens: null}", None, "generationConfig.maxOutputTokens"),
            ("ollama", "{options: {num_predict: -1}}", None, "options.num_predict"),
            ("ollama", "{}", None, "options.num_predict"),
        ] {
            let text = format!("provider: {{id: {id}, settings: {settings}}}\n");
            let section = read(&text).unwrap().provider.unwrap();
            let found = (section.most_tokens(), section.most_tokens_setting());
            assert_eq!(found, (most, format!("provider.settings.{setting}")), "{text}");
        }
    }

    #[test]
    fn a_key_that_is_ignored_is_warned_of() {
        let mut problems = Problems::default();
        let text = "provider:\n  id: openai\n  credentials:\n    organization: a\n    adress: b\n";
        Cartridge::read("bot.yml", text.as_bytes(), &mut problems).unwrap();
        let told =
            "bot.yml:4: warning: `provider.credentials.organization` is not known here, and is ignored";
        assert_eq!(problems.to_string(), told);
    }

    #[test]
    fn a_wrong_type_or_a_key_twice_is_told_with_its_line() {
        assert!(read("provider:\n  id: [a]\n").unwrap_err().starts_with("bot.yml:2:"));
        let twice = read("provider:\n  id: a\n  credentials: {}\n  credentials: {}\n").unwrap_err();
        assert!(twice.starts_with("bot.yml:4:") && twice.contains("duplicate"), "{twice}");
    }
}
