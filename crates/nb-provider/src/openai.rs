//! OpenAI, and every server that speaks its chat completions.
//!
//! Source: OpenAI API reference, "Chat completions".

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
use crate::wire::{Authorization, Bad, Outgoing, Reader, Wire};

/// The credential that proves who asks.
pub(crate) const KEY: &str = "access-token";

/// A provider that is reached and asked in this way.
pub(crate) struct Shape {
    /// The credential that proves who asks, and the variable that usually holds it.
    pub key: &'static str,
    pub variable: &'static str,
    /// The usual address.
    pub address: &'static str,
    pub dialect: Dialect,
}

struct Openai {
    dialect: Dialect,
    section: Section,
    address: Address,
    url: String,
    key: Variable,
}

pub(crate) fn new(section: Section) -> Result<Parts, ProviderError> {
    let dialect = Dialect { asks_for_usage: true, names_results: false };
    of(section, &Shape { key: KEY, variable: "OPENAI_API_KEY", address: "https://api.openai.com", dialect })
}

/// A provider of this shape.
pub(crate) fn of(section: Section, shape: &Shape) -> Result<Parts, ProviderError> {
    section.refuse_settings(&["messages"])?;
    let address = Address::new(&section, shape.address)?;
    let version = section.optional("version").map_or("v1", |version| version.value.as_str());
    let url = address.join(&format!("{version}/chat/completions"));
    let key = section.required(shape.key, shape.variable)?.clone();
    let model = section.model("settings")?;
    let dialect = shape.dialect;
    let wire = Openai { dialect, section, address: address.clone(), url, key };
    Ok(Parts { wire: Box::new(wire), address, model })
}

#[async_trait]
impl Wire for Openai {
    fn request(&self, chat: &Chat, stream: bool) -> Result<Outgoing, ProviderError> {
        let names = Names::new(NameRule::COMMON, &chat.tools);
        Ok(Outgoing {
            url: self.url.clone(),
            headers: Vec::new(),
            body: chat_completions::body(self.dialect, &self.section, chat, stream, &names)?,
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

    fn whole(&self, body: &Value, outgoing: &Outgoing) -> Result<Answer, Bad> {
        chat_completions::whole(body, &outgoing.names)
    }
}
