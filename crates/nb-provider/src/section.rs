//! A provider section with its variables filled in.

use std::collections::BTreeMap;

use nb_egress::HostPattern;
use nb_spec::ProviderSection;
use nb_spec::cartridge::{UnknownKey, credentials_of, variable_name};
use serde_json::{Map, Value};

use crate::environment::{Environment, Variable};
use crate::error::{ErrorKind, ProviderError};
use crate::{ProviderId, settings};

/// A provider section that is ready for use.
#[derive(Clone)]
pub(crate) struct Section {
    pub provider: ProviderId,
    credentials: BTreeMap<String, Credential>,
    /// Without what is null.
    pub settings: Map<String, Value>,
    pub options: Map<String, Value>,
    /// Hosts that the variables in the settings may be sent to, by variable.
    pub limited: Vec<(String, Vec<HostPattern>)>,
}

/// One value of `credentials`.
#[derive(Clone)]
pub(crate) enum Credential {
    /// It is known; the variable that it came from, when it came from one.
    Known { variable: Option<String>, value: Variable },
    /// It names a variable that is not set.
    Unset { variable: String },
}

/// Credentials that go into a header as they are.
const KEYS: [&str; 2] = ["access-token", "api-key"];
const NOT_ONE_LINE: &str = "check how it was stored: often a line break at the end is one too many";

impl Credential {
    /// The variable that it came from, set or not.
    fn variable(&self) -> Option<&str> {
        match self {
            Self::Known { variable, .. } => variable.as_deref(),
            Self::Unset { variable } => Some(variable),
        }
    }

    /// Refuses a key that no header can hold.
    fn check(&self, name: &str) -> Result<(), String> {
        let Self::Known { value, .. } = self else { return Ok(()) };
        let one_line = |byte: u8| byte == b'\t' || !byte.is_ascii_control();
        if !KEYS.contains(&name) || value.value.bytes().all(one_line) {
            return Ok(());
        }
        let whose = self.variable().map(|variable| format!(" (ENV/{variable})")).unwrap_or_default();
        Err(format!(
            "provider.credentials.{name}{whose} cannot be put into a header: it holds a line break or another control character"
        ))
    }
}

impl Section {
    pub fn new(section: &ProviderSection, environment: &dyn Environment) -> Result<Self, ProviderError> {
        let provider: ProviderId = section.id.parse().map_err(|()| unknown(&section.id))?;
        let fail = |message: String| ProviderError::new(provider, ErrorKind::Setup, message);
        // With a mistyped `address`, a key would go to the usual one.
        for UnknownKey { path, meant } in section.unknown_keys() {
            if let Some(meant) = meant {
                return Err(fail(format!("{path} is not known; did you mean `{meant}`?")));
            }
        }
        let mut credentials = BTreeMap::new();
        for (key, value) in &section.credentials {
            let text = match value {
                Value::Null => continue,
                Value::String(text) => text.clone(),
                Value::Number(number) => number.to_string(),
                _ => return Err(fail(format!("provider.credentials.{key} must be a text"))),
            };
            let credential = match variable_name(&text) {
                None => Credential::Known { variable: None, value: Variable { value: text, hosts: None } },
                Some(name) => match environment.variable(name).map_err(fail)? {
                    Some(value) if !value.value.is_empty() => {
                        Credential::Known { variable: Some(name.to_owned()), value }
                    }
                    _ => Credential::Unset { variable: name.to_owned() },
                },
            };
            // `file_contents` is written with an underscore in the specification, the others with a hyphen.
            let name = key.replace('_', "-");
            if credentials.insert(name.clone(), credential).is_some() {
                return Err(fail(format!("provider.credentials has `{name}` twice, with `-` and with `_`")));
            }
        }
        for (name, credential) in &credentials {
            credential.check(name).map_err(|reason| fail(reason).hinting(NOT_ONE_LINE))?;
        }
        let mut limited = Vec::new();
        let settings = filled_map(&section.settings, environment, &mut limited).map_err(fail)?;
        let settings = settings::without_nulls(settings);
        let options = filled_map(&section.options, environment, &mut limited).map_err(fail)?;
        for (part, map) in [("settings", &settings), ("options", &options)] {
            if !matches!(map.get("stream"), None | Some(Value::Null | Value::Bool(_))) {
                return Err(fail(format!("provider.{part}.stream must be true or false")));
            }
        }
        Ok(Self { provider, credentials, settings, options, limited })
    }

    /// A credential that may be left out, as one is whose variable is not set.
    pub fn optional(&self, key: &str) -> Option<&Variable> {
        debug_assert!(
            credentials_of(self.provider.name()).is_some_and(|known| known.contains(&key)),
            "{key} is not among the credentials of {}",
            self.provider.name()
        );
        match self.credentials.get(key)? {
            Credential::Known { value, .. } => Some(value),
            Credential::Unset { .. } => None,
        }
    }

    /// The variable behind a credential, set or not.
    pub fn variable_of(&self, key: &str) -> Option<&str> {
        self.credentials.get(key)?.variable()
    }

    /// A credential that the provider cannot do without.
    ///
    /// # Errors
    /// [`ErrorKind::Setup`], with the variable to set when the section names one.
    pub fn required(&self, key: &str, usual_variable: &str) -> Result<&Variable, ProviderError> {
        self.optional(key).ok_or_else(|| match self.variable_of(key) {
            Some(variable) => ProviderError::new(
                self.provider,
                ErrorKind::Setup,
                format!(
                    "there is no key: provider.credentials.{key} is ENV/{variable}, and {variable} is not set"
                ),
            )
            .hinting(format!("set {variable} to your key")),
            None => ProviderError::new(
                self.provider,
                ErrorKind::Setup,
                format!("there is no key: provider.credentials has no `{key}`"),
            )
            .hinting(format!(
                "add `{key}: ENV/{usual_variable}` to provider.credentials, and set {usual_variable}"
            )),
        })
    }

    /// What its owner calls the key: its variable, or the credential. Without one, a token of access is sent.
    pub fn key_name(&self) -> &str {
        let key = self.credentials.iter().find(|(name, _)| KEYS.contains(&name.as_str()));
        key.map_or("token", |(name, key)| key.variable().unwrap_or(name))
    }

    /// An error of this section.
    pub fn fail(&self, message: impl Into<String>) -> ProviderError {
        ProviderError::new(self.provider, ErrorKind::Setup, message)
    }

    /// The model, from the settings or the options, as the provider has it.
    pub fn model(&self, place: &str) -> Result<String, ProviderError> {
        let map = if place == "options" { &self.options } else { &self.settings };
        match map.get("model") {
            Some(Value::String(model)) if !model.is_empty() => Ok(model.clone()),
            Some(other) if !other.is_null() => {
                Err(self.fail(format!("provider.{place}.model must be a text")))
            }
            _ => Err(self
                .fail(format!("provider.{place} has no `model`"))
                .hinting("name the model that is to answer")),
        }
    }

    /// Refuses settings whose place on the wire is taken by the conversation.
    pub fn refuse_settings(&self, taken: &[&str]) -> Result<(), ProviderError> {
        match taken.iter().find(|key| self.settings.contains_key(**key)) {
            Some(key) => Err(self
                .fail(format!("provider.settings.{key} cannot be set: the conversation itself goes there"))),
            None => Ok(()),
        }
    }

    /// Whether an answer may be streamed, as far as the section says: false only when it says so.
    pub fn streams(&self) -> bool {
        let says_no = |map: &Map<String, Value>| map.get("stream") == Some(&Value::Bool(false));
        !says_no(&self.settings) && !says_no(&self.options)
    }
}

/// The mapping with variables in place of their names. What names a variable that is not set becomes null: it counts as
/// absent.
fn filled_map(
    map: &Map<String, Value>,
    environment: &dyn Environment,
    limited: &mut Vec<(String, Vec<HostPattern>)>,
) -> Result<Map<String, Value>, String> {
    map.iter().map(|(key, item)| Ok((key.clone(), filled(item, environment, limited)?))).collect()
}

fn filled(
    value: &Value,
    environment: &dyn Environment,
    limited: &mut Vec<(String, Vec<HostPattern>)>,
) -> Result<Value, String> {
    Ok(match value {
        Value::String(text) => match variable_name(text) {
            None => value.clone(),
            Some(name) => match environment.variable(name)? {
                None => Value::Null,
                Some(variable) => {
                    limited.extend(variable.hosts.map(|hosts| (name.to_owned(), hosts)));
                    Value::String(variable.value)
                }
            },
        },
        Value::Array(items) => {
            let items: Result<_, String> =
                items.iter().map(|item| filled(item, environment, limited)).collect();
            Value::Array(items?)
        }
        Value::Object(map) => Value::Object(filled_map(map, environment, limited)?),
        other => other.clone(),
    })
}

fn unknown(id: &str) -> ProviderError {
    let known: Vec<&str> = ProviderId::ALL.into_iter().map(ProviderId::name).collect();
    let message = if id.is_empty() {
        "provider.id is missing".to_owned()
    } else {
        format!("there is no provider `{id}`")
    };
    ProviderError::new(None, ErrorKind::Setup, message)
        .hinting(format!("provider.id is one of: {}", known.join(", ")))
}
