//! The provider of an installed agent: made once and kept with its connections and tokens, made anew when a secret changes.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nb_egress::{HostPattern, Mask};
use nb_provider::{ErrorKind, Prices, Provider, ProviderError, ProviderId};
use nb_spec::ProviderSection;
use nb_spec::cartridge::variable_name;
use serde_json::Value;

use super::environment::Surroundings;
use crate::installed::Installed;
use crate::policy::Scopes;
use crate::services::Services;

/// The providers of one agent that are ready: one for each set of hosts that its permissions name.
#[derive(Default)]
pub(crate) struct Providers(Mutex<Vec<Kept>>);

struct Kept {
    scopes: Scopes,
    provider: Provider,
    surroundings: Arc<Surroundings>,
}

impl Providers {
    fn lock(&self) -> MutexGuard<'_, Vec<Kept>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Providers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Providers").field("ready", &self.lock().len()).finish()
    }
}

/// A model that is ready to be asked.
#[derive(Clone)]
pub(crate) struct Model {
    provider: Provider,
    /// What it costs, when that is known.
    pub(crate) prices: Option<Prices>,
    mask: Mask,
}

impl Model {
    /// The provider.
    pub(crate) fn provider(&self) -> &Provider {
        &self.provider
    }

    /// The model's name as it may be told.
    pub(crate) fn name(&self) -> String {
        self.told(self.provider.model())
    }

    /// A text of the provider as it may be told.
    pub(crate) fn told(&self, text: &str) -> String {
        self.mask.text(text)
    }

    /// An error with what a person can do, as it may be told.
    pub(crate) fn error(&self, error: &ProviderError) -> String {
        self.told(&in_words(error))
    }
}

fn in_words(error: &ProviderError) -> String {
    error.hint.as_ref().map_or_else(|| error.to_string(), |hint| format!("{error}; {hint}"))
}

impl Installed {
    /// The model of the agent for an ability that it may use within these scopes, which are hosts.
    ///
    /// # Errors
    /// A sentence: there is no model, or it may not be used as the cartridge says.
    pub(crate) fn model(&self, services: &Services, ability: &str, scopes: &Scopes) -> Result<Model, String> {
        let section = self.spec.provider().ok_or_else(|| {
            format!(
                "{} has no model; add a cartridge (cartridge.yml) with a `provider` to its package",
                self.name()
            )
        })?;
        let mut kept = self.providers.lock();
        kept.retain(|kept| kept.surroundings.is_current());
        if let Some(found) = kept.iter().find(|kept| kept.scopes == *scopes) {
            return Ok(ready(&found.provider, &found.surroundings, services));
        }
        let (provider, surroundings) = self.make(section, services, ability, scopes)?;
        let model = ready(&provider, &surroundings, services);
        kept.push(Kept { scopes: scopes.clone(), provider, surroundings });
        Ok(model)
    }

    fn make(
        &self,
        section: &ProviderSection,
        services: &Services,
        ability: &str,
        scopes: &Scopes,
    ) -> Result<(Provider, Arc<Surroundings>), String> {
        refuse_options(section)?;
        let hosts = hosts(scopes)?;
        let surroundings = Arc::new(Surroundings::new(self, services, ability, hosts.clone()));
        let provider = Provider::new(section, Arc::clone(&surroundings) as Arc<_>, services.egress.clone())
            .map_err(|error| surroundings.mask().text(&in_words(&error)))?;
        if let (Some(hosts), Some(address)) = (hosts, provider.address())
            && !hosts.iter().any(|host| host.matches(address))
        {
            let place = surroundings.mask().text(address.as_str());
            let granted: Vec<String> = hosts.iter().map(HostPattern::to_string).collect();
            return Err(format!(
                "{} is asked at {place}, and `{ability}` was granted for {} only",
                provider.id(),
                granted.join(", ")
            ));
        }
        Ok((provider, surroundings))
    }

    /// What is wrong with the provider section, as far as that can be told without the values of its variables.
    pub(crate) fn model_problem(&self, services: &Services) -> Option<String> {
        let packed = self.spec.cartridge.as_ref()?;
        let section = without_variables(packed.provider()?)?;
        let nothing = Arc::new(Surroundings::new(self, services, "", None));
        let error = Provider::new(&section, nothing, services.egress.clone()).err()?;
        let is_of_the_section = matches!(error.kind, ErrorKind::Setup | ErrorKind::Request);
        is_of_the_section.then(|| format!("{}: {}", packed.file, in_words(&error)))
    }
}

fn ready(provider: &Provider, surroundings: &Surroundings, services: &Services) -> Model {
    let prices = provider.prices().or_else(|| services.prices.of(provider.model()));
    Model { provider: provider.clone(), prices, mask: surroundings.mask() }
}

/// The hosts that a person granted by name. None: any host was granted, and so none by its name.
fn hosts(scopes: &Scopes) -> Result<Option<Vec<HostPattern>>, String> {
    let Scopes::Limited(scopes) = scopes else { return Ok(None) };
    let parse = |scope: &String| scope.parse::<HostPattern>().map_err(|error| error.to_string());
    scopes.iter().map(parse).collect::<Result<_, _>>().map(Some)
}

/// Credentials that say where the provider is and how it is spoken to: without them, it can be told whether the rest is
/// right.
const PLAIN: [&str; 6] = ["address", "anthropic-version", "project-id", "region", "service", "version"];

/// An option is not sent, but a transcript may stand in it: there a secret would become what the model says.
fn refuse_options(section: &ProviderSection) -> Result<(), String> {
    match section.references().into_iter().find(|found| found.path.starts_with("options.")) {
        Some(found) => Err(format!(
            "provider.{} is ENV/{}: a secret may stand in credentials and settings alone",
            found.path, found.name
        )),
        None => Ok(()),
    }
}

/// The section with something in place of its variables; none when too little of it is left to tell.
fn without_variables(section: &ProviderSection) -> Option<ProviderSection> {
    const SOMETHING: &str = "something";
    let mut section = section.clone();
    let names_one = |value: &Value| match value {
        Value::String(text) => variable_name(text).is_some(),
        Value::Array(_) | Value::Object(_) => value.to_string().contains("\"ENV"),
        _ => false,
    };
    let is_google = section.id == ProviderId::Google.name();
    if is_google && section.credentials.iter().any(|(key, value)| key != "api-key" && names_one(value)) {
        return None;
    }
    // The account of a machine, which is not here, may tell the project.
    if is_google
        && !["api-key", "file-path", "file_path", "file-contents", "file_contents"]
            .iter()
            .any(|key| section.credentials.contains_key(*key))
    {
        return None;
    }
    let is_plain = |key: &str| PLAIN.contains(&key.replace('_', "-").as_str());
    section.credentials.retain(|key, value| !is_plain(key) || !names_one(value));
    for (_, value) in section.credentials.iter_mut().filter(|(_, value)| names_one(value)) {
        *value = Value::String(SOMETHING.to_owned());
    }
    for map in [&mut section.settings, &mut section.options] {
        map.retain(|key, value| key == "model" || !names_one(value));
        if let Some(model) = map.get_mut("model").filter(|model| names_one(model)) {
            *model = Value::String(SOMETHING.to_owned());
        }
    }
    Some(section)
}
