//! The engine through its public interface: real store, sandbox and network; time, desktop and secrets are doubles.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod abilities;
mod chains;
mod common;
mod docs;
mod faults;
mod logs;
mod models;
mod record;
mod server;
