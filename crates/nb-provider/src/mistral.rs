//! Mistral AI. Its chat has the shape of OpenAI's, with settings and details of its own.
//!
//! Source: Mistral API reference, "Chat completion".

use async_trait::async_trait;
use nb_egress::Egress;
use serde_json::Value;

use crate::address::Address;
use crate::answer::Answer;
use crate::bearer::bearer;
use crate::chat::Chat;
use crate::chat_completions::{self, ChatReader, Dialect};
use crate::environment::Variable;
use crate::error::ProviderError;
use crate::frame::Framing;
use crate::names::{NameRule, Names};
use crate::provider::Parts;
use crate::section::Section;
use crate::wire::{Authorization, Outgoing, Reader, Wire};

/// The credential that proves who asks.
pub(crate) const KEY: &str = "api-key";
const DIALECT: Dialect = Dialect { asks_for_usage: false, names_results: true };

struct Mistral {
    section: Section,
    address: Address,
    url: String,
    key: Variable,
}

pub(crate) fn new(section: Section) -> Result<Parts, ProviderError> {
    section.refuse_settings(&["messages"])?;
    let address = Address::new(&section, "https://api.mistral.ai")?;
    let version = section.optional("version").map_or("v1", |version| version.value.as_str());
    let url = address.join(&format!("{version}/chat/completions"));
    let key = section.required(KEY, "MISTRAL_API_KEY")?.clone();
    let model = section.model("settings")?;
    Ok(Parts { wire: Box::new(Mistral { section, address: address.clone(), url, key }), address, model })
}

#[async_trait]
impl Wire for Mistral {
    fn request(&self, chat: &Chat, stream: bool) -> Result<Outgoing, ProviderError> {
        let names = Names::new(NameRule::COMMON, &chat.tools);
        Ok(Outgoing {
            url: self.url.clone(),
            headers: Vec::new(),
            body: chat_completions::body(DIALECT, &self.section, chat, stream, &names)?,
            framing: stream.then_some(Framing::Events),
            names,
        })
    }

    async fn authorization(&self, _: &Egress, _: &Outgoing) -> Result<Authorization, ProviderError> {
        Ok(bearer(&self.address, &self.key))
    }

    fn reader(&self, outgoing: &Outgoing) -> Box<dyn Reader> {
        Box::new(ChatReader::new(outgoing.names.clone()))
    }

    fn whole(&self, body: &Value, outgoing: &Outgoing) -> Result<Answer, String> {
        chat_completions::whole(body, &outgoing.names)
    }
}
