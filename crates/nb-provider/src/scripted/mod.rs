//! Answers from a file: for tests, for demonstrations, and for other people's own CI.
//!
//! - `transcript.rs`: the file.
//! - `script.rs`: which turn of it answers, and how it is told.
//! - `server.rs`: the same transcript as a local server that speaks OpenAI's chat completions.

mod script;
mod server;
mod transcript;

pub use script::Script;
pub use server::{Served, serve};
