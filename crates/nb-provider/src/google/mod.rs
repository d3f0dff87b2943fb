//! Google's Gemini, by both of its services: the Generative Language API and Vertex AI.
//!
//! Source: Gemini API reference, "Generating content"; Vertex AI reference, "Gemini".
//!
//! - `credentials.rs`: keys, key files and what stands on a machine by default.
//! - `token.rs`: tokens of access.
//! - `place.rs`: addresses of both services.
//! - `body.rs`, `reader.rs`: what is sent and what comes back.

mod body;
mod credentials;
mod place;
mod reader;
mod token;

use std::sync::Arc;

use async_trait::async_trait;
use nb_egress::Egress;
use serde_json::Value;

use crate::address::Address;
use crate::answer::Answer;
use crate::bearer::header;
use crate::chat::Chat;
use crate::environment::{Environment, Variable};
use crate::error::ProviderError;
use crate::frame::Framing;
use crate::names::{NameRule, Names};
use crate::provider::Parts;
use crate::section::Section;
use crate::wire::{Authorization, Bad, Outgoing, Reader, Wire};

use credentials::Proof;
use reader::Chunks;
use token::Tokens;

/// The credential that proves who asks, where there is one.
pub(crate) const KEY: &str = "api-key";
/// A letter or `_` first.
const NAMES: NameRule = NameRule { also: &['_', '-', '.'], any_first: false, longest: 64 };

struct Google {
    section: Section,
    address: Address,
    /// All of the address but the method behind the colon.
    model: String,
    proof: Proof,
    tokens: Tokens,
}

pub(crate) fn new(section: Section, environment: &Arc<dyn Environment>) -> Result<Parts, ProviderError> {
    section.refuse_settings(&["contents", "systemInstruction", "system_instruction"])?;
    let model = section.model("options")?;
    let proof = credentials::read(&section, environment.as_ref())?;
    let (address, path) = place::find(&section, &proof, environment.as_ref(), &model)?;
    let tokens = Tokens::new(Arc::clone(environment));
    let google = Google { section, address: address.clone(), model: address.join(&path), proof, tokens };
    Ok(Parts { wire: Box::new(google), address, model })
}

/// The account that asks, in words for a hint. None: a key asks.
pub(crate) fn account(section: &Section) -> Option<String> {
    if section.optional(KEY).is_some() {
        return None;
    }
    let named = ["file-path", "file-contents"].into_iter().find(|key| section.optional(key).is_some());
    Some(match named.map(|key| (key, section.variable_of(key))) {
        Some((_, Some(variable))) => format!("the account of {variable}"),
        Some((key, None)) => format!("the account of provider.credentials.{key}"),
        None => "the account that this machine has by default".to_owned(),
    })
}

#[async_trait]
impl Wire for Google {
    fn request(&self, chat: &Chat, stream: bool) -> Result<Outgoing, ProviderError> {
        let names = Names::new(NAMES, &chat.tools);
        let method = if stream { "streamGenerateContent?alt=sse" } else { "generateContent" };
        Ok(Outgoing {
            url: format!("{}:{method}", self.model),
            headers: Vec::new(),
            body: body::body(&self.section, chat, &names)?,
            framing: stream.then_some(Framing::Events),
            names,
        })
    }

    async fn authorization(&self, egress: &Egress, _: &Outgoing) -> Result<Authorization, ProviderError> {
        let account = match &self.proof {
            Proof::Key(key) => return Ok(header("x-goog-api-key", "", &self.address, key)),
            Proof::Account(account) => account,
        };
        let token = self.tokens.get(account, egress).await?;
        let token = Variable { value: token, hosts: self.tokens.hosts(account) };
        let mut authorization = header("authorization", "Bearer ", &self.address, &token);
        if let Some(project) = account.billed_project() {
            authorization.headers.push(("x-goog-user-project".to_owned(), project.to_owned()));
        }
        Ok(authorization)
    }

    async fn unauthorized(&self) {
        self.tokens.forget().await;
    }

    fn reader(&self, outgoing: &Outgoing) -> Box<dyn Reader> {
        Box::new(Chunks::new(outgoing.names.clone()))
    }

    fn whole(&self, body: &Value, outgoing: &Outgoing) -> Result<Answer, Bad> {
        let mut chunks = Chunks::new(outgoing.names.clone());
        // A server that streams without events answers with a list of chunks.
        let list = match body {
            Value::Array(list) => list.as_slice(),
            one => std::slice::from_ref(one),
        };
        for chunk in list {
            chunks.take(chunk, &mut |_| {}).map_err(Bad::Refused)?;
        }
        if !chunks.is_whole() {
            return Err("its answer has no candidate with a `finishReason`".into());
        }
        Ok(chunks.answer())
    }
}
