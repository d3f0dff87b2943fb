//! The providers of large language models: one conversation in, each provider's exact bytes out, and one answer back.
//!
//! # Layout
//! - [`Chat`], [`Turn`], [`Tool`] (`chat.rs`): what is asked, in no provider's words. [`Answer`], [`Delta`], [`Usage`]
//!   (`answer.rs`): what comes back. [`Prices`] (`prices.rs`): what it cost.
//! - [`Provider`] (`provider.rs`): made from the `provider:` section of a cartridge and an [`Environment`], which holds
//!   what stands outside of it; [`Terminal`] (`terminal.rs`) is that of a person at a terminal.
//! - `section.rs`, `settings.rs`, `address.rs`, `options.rs`: the section with its variables filled in, what of it goes
//!   out, where to, and how long it is waited for.
//! - `wire.rs`: what the module of a provider is. One module each: `openai.rs`, `mistral.rs` and `maritaca.rs`, which share
//!   `chat_completions.rs`; `anthropic.rs`, `cohere.rs`, `google/`, `ollama.rs`.
//! - `scripted/`: answers from a file.
//! - `tools.rs`, `names.rs`, `schema/`: tools in a request, their names and schemas under each provider's rules.
//! - `frame.rs`: bytes to events or lines. `reading.rs`: these to an answer (`streams.rs` tests it). `transport.rs`: one
//!   request and its answer, tried again before the first byte; a [`Listener`] (`listener.rs`) follows it, and `masked.rs`
//!   hides in it what a server repeats of the credentials, which `bearer.rs` puts into headers.
//! - [`ProviderError`] (`error.rs`), `refusal.rs` and `hint.rs`: what went wrong, and what to do.
//!
//! # Invariants
//! - A credential stands in headers alone, filled in by nb-egress, and only for the hosts that it is meant for. (A token
//!   of access is asked for in a body, by the token's own module.)
//! - A request goes to the host of the section's address and to no other; redirects are not followed.
//! - What was received stays: an answer that breaks off comes back in its error.
//! - The same conversation gives the same bytes.

mod address;
mod answer;
mod anthropic;
mod bearer;
mod chat;
mod chat_completions;
mod cohere;
mod environment;
mod error;
mod frame;
mod google;
mod hint;
mod id;
mod listener;
mod maritaca;
mod masked;
mod mistral;
mod names;
mod ollama;
mod openai;
mod options;
mod prices;
mod provider;
mod reading;
mod refusal;
mod schema;
mod scripted;
mod section;
mod settings;
#[cfg(test)]
mod streams;
mod terminal;
mod tools;
mod transport;
mod wire;

pub use answer::{Answer, Delta, Stop, Usage};
pub use chat::{Arguments, Call, Chat, Message, Native, Tool, ToolResult, Turn};
pub use environment::{Environment, Variable};
pub use error::{ErrorKind, ProviderError};
pub use id::ProviderId;
pub use listener::Listener;
pub use prices::Prices;
pub use provider::Provider;
pub use scripted::{Script, Served, serve};
pub use terminal::Terminal;
