//! A provider that is ready to be asked.

use std::sync::Arc;

use nb_egress::Egress;
use nb_spec::ProviderSection;
use url::Url;

use crate::answer::{Answer, Delta};
use crate::chat::Chat;
use crate::environment::Environment;
use crate::error::ProviderError;
use crate::listener::Listener;
use crate::options::Options;
use crate::scripted::Script;
use crate::section::Section;
use crate::transport::Transport;
use crate::wire::Wire;
use crate::{Prices, ProviderId};
use crate::{anthropic, cohere, google, maritaca, mistral, ollama, openai, tools};

/// One provider with its credentials and settings. Cheap to clone.
#[derive(Clone)]
pub struct Provider(Arc<Inner>);

struct Inner {
    id: ProviderId,
    model: String,
    streams: bool,
    prices: Option<Prices>,
    backend: Backend,
}

enum Backend {
    Wire { wire: Box<dyn Wire>, transport: Box<Transport> },
    Script(Script),
}

impl Provider {
    /// Reads a provider section. Nothing is sent.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Setup`]: the provider does not exist, a credential is missing, an address or option is wrong.
    pub fn new(
        section: &ProviderSection,
        environment: Arc<dyn Environment>,
        egress: Egress,
    ) -> Result<Self, ProviderError> {
        let section = Section::new(section, environment.as_ref())?;
        let id = section.provider;
        let streams = section.streams();
        let (parts, key) = match id {
            ProviderId::Anthropic => (anthropic::new(section.clone())?, anthropic::KEY),
            ProviderId::Cohere => (cohere::new(section.clone())?, cohere::KEY),
            ProviderId::Google => (google::new(section.clone(), &environment)?, google::KEY),
            ProviderId::Maritaca => (maritaca::new(section.clone())?, maritaca::KEY),
            ProviderId::Mistral => (mistral::new(section.clone())?, mistral::KEY),
            ProviderId::Ollama => (ollama::new(section.clone())?, ollama::KEY),
            ProviderId::Openai => (openai::new(section.clone())?, openai::KEY),
            ProviderId::Scripted => {
                let script = Script::from_section(&section, environment.as_ref())?;
                let prices = Options::new(&section, "")?.prices;
                let model = "scripted".to_owned();
                let inner = Inner { id, model, streams, prices, backend: Backend::Script(script) };
                return Ok(Self(Arc::new(inner)));
            }
        };
        // Told now, and not when it is asked first.
        tools::own(&section, &mut section.settings.clone())?;
        let mut options = Options::new(&section, key)?;
        if id == ProviderId::Google
            && let Some(account) = google::account(&section)
        {
            options.key_source = account;
        }
        let prices = options.prices;
        let transport = Transport { provider: id, address: parts.address, egress, options, environment };
        let backend = Backend::Wire { wire: parts.wire, transport: Box::new(transport) };
        Ok(Self(Arc::new(Inner { id, model: parts.model, streams, prices, backend })))
    }

    /// Which provider it is.
    pub fn id(&self) -> ProviderId {
        self.0.id
    }

    /// The model that is asked.
    pub fn model(&self) -> &str {
        &self.0.model
    }

    /// Where it is reached, and so where a conversation goes. None: nowhere, a transcript answers.
    pub fn address(&self) -> Option<&Url> {
        match &self.0.backend {
            Backend::Script(_) => None,
            Backend::Wire { transport, .. } => Some(transport.address.base()),
        }
    }

    /// What tokens cost, when the section says it.
    pub fn prices(&self) -> Option<Prices> {
        self.0.prices
    }

    /// Asks, and waits for the whole answer. The listener gets each part when it arrives; without a stream, all at once. A
    /// stream is used when `stream` is set and the section does not forbid it.
    ///
    /// Dropping the future closes the connection.
    ///
    /// # Errors
    /// Each [`ProviderError`]; what was received before is in it.
    pub async fn ask(
        &self,
        chat: &Chat,
        stream: bool,
        listener: &mut dyn Listener,
    ) -> Result<Answer, ProviderError> {
        let stream = stream && self.0.streams;
        match &self.0.backend {
            Backend::Script(script) => {
                script.answer(chat, stream, &mut |delta: Delta<'_>| listener.hear(delta)).await
            }
            Backend::Wire { wire, transport } => {
                let outgoing = wire.request(chat, stream)?;
                transport.send(wire.as_ref(), &outgoing, listener).await
            }
        }
    }
}

/// What a provider's module makes of a section.
pub(crate) struct Parts {
    pub wire: Box<dyn Wire>,
    pub address: crate::address::Address,
    /// The model that is asked, for the record.
    pub model: String,
}
