//! Each provider against a local server: what it is sent, and what is made of its answers.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "what fails in here fails a test")]

mod anthropic;
mod cohere;
mod google;
mod maritaca;
mod masked;
mod mistral;
mod ollama;
mod openai;
mod page;
mod scripted;
mod section;
mod support;
mod transport;
