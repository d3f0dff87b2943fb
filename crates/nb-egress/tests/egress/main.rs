//! The promises of the crate, checked against servers on this machine.

#![expect(clippy::unwrap_used, reason = "what fails in here fails a test")]

mod addresses;
mod headers;
mod limits;
mod redirects;
mod secrets;
mod support;
