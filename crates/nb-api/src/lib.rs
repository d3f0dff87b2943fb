//! What the daemon and its clients say to each other: JSON over HTTP/1.1 on a Unix socket.
//!
//! # Layout
//!
//! - [`paths`]: where the socket and the folders of a daemon are.
//! - [`error`]: the one form of every refusal.
//! - [`agents`], [`runs`], [`wake`], [`host`]: requests and responses, by subject.
//! - [`client`]: asks the daemon.
//! - [`visible`]: text of agents, made fit to be read by a person.
//!
//! # Invariants
//!
//! - Every type reads what it writes, and ignores fields it does not know, so that an older client can talk to a newer
//!   daemon.
//! - Endless answers, and those of several parts (`follow`), are one JSON document a line.

pub mod agents;
pub mod client;
pub mod error;
pub mod host;
pub mod paths;
pub mod runs;
pub mod visible;
pub mod wake;

pub use client::Client;
pub use error::{ApiError, ErrorKind};
pub use paths::Paths;
