//! Mistral AI. Its chat has the shape of OpenAI's, with settings and details of its own.
//!
//! Source: Mistral API reference, "Chat completion".

use crate::chat_completions::Dialect;
use crate::error::ProviderError;
use crate::openai::{self, Shape};
use crate::provider::Parts;
use crate::section::Section;

/// The credential that proves who asks.
pub(crate) const KEY: &str = "api-key";

pub(crate) fn new(section: Section) -> Result<Parts, ProviderError> {
    let dialect = Dialect { asks_for_usage: false, names_results: true };
    let address = "https://api.mistral.ai";
    openai::of(section, &Shape { key: KEY, variable: "MISTRAL_API_KEY", address, dialect })
}
