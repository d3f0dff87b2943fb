//! This crate beside the official SDKs of the providers: the same conversations, the same answers. README.md says what is
//! compared, and how to run it.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "what fails in here fails a test")]

mod answers;
mod assertion;
mod bot;
mod cases;
mod differences;
mod requests;
mod sdk;
mod streams;
#[expect(dead_code, reason = "the tests of the providers alone use the rest")]
#[path = "../providers/support.rs"]
mod support;
mod types;
