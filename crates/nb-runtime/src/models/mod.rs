//! The language model of an agent: made from its cartridge, and asked for a run.
//!
//! - `provider.rs`: the provider of an installed agent, made once and kept. [`environment`]: what surrounds it here, where
//!   a variable is a secret of the agent, whose value is not told.
//! - `request.rs`: one request, within the budget and on record. [`message`]: what the record says of it.
//! - `conversation.rs`: requests and calls of tools until there is an answer.
//! - [`prices`]: what the operator says that models cost.

mod conversation;
pub(crate) mod environment;
pub mod message;
pub mod prices;
mod provider;
mod request;

use nb_provider::{Chat, Turn};

use crate::ability::AbilityCall;

pub(crate) use conversation::{Said, answer_to, talk};
pub(crate) use provider::{Model, Providers};

/// The model of the agent that calls an ability, and a conversation that begins as its cartridge says. `system` stands in
/// place of the cartridge's directive.
///
/// # Errors
/// A sentence: there is no model, or it may not be used as the cartridge says.
pub(crate) fn begin(
    call: &AbilityCall<'_>,
    ability: &str,
    system: Option<String>,
    turns: Vec<Turn>,
) -> Result<(Model, Chat), String> {
    let agent = &call.run.agent;
    let model = agent.model(call.run.engine.services(), ability, &call.scopes)?;
    let cartridge = agent.spec.cartridge.as_ref().map(|packed| &packed.cartridge);
    let behavior = cartridge.map(|cartridge| cartridge.interaction().clone()).unwrap_or_default();
    let mut chat = Chat::new(&behavior, turns);
    chat.directive = system.or(chat.directive);
    Ok((model, chat))
}
