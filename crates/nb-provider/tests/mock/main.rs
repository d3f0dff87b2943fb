//! Whole conversations with tools against aimock, a mock server by others. README.md says what it serves, and how to run
//! these tests.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "what fails in here fails a test")]

mod aimock;
#[expect(dead_code, reason = "the tests beside the SDKs alone use the rest")]
#[path = "../oracle/bot.rs"]
mod bot;
mod conversations;
mod faults;
mod services;
#[expect(dead_code, reason = "the tests of the providers alone use the rest")]
#[path = "../providers/support.rs"]
mod support;
mod talk;
