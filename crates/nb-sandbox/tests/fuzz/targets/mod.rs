//! The bodies of the fuzz targets. Each takes any bytes and panics when a promise of the sandbox does not hold.
//!
//! The fuzzer in `fuzz/` and the bounded test beside this folder run the same bodies.
//!
//! - [`chunk`]: what `run` takes as a chunk
//! - [`compile`]: what `compile` takes as a script and its modules
//! - [`json`]: variables, results, and what goes to the host and comes from there
//! - [`component`]: what a component answers, and what it hands to the host's functions
//! - [`watch`]: the promises that hold for each call

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, reason = "a target fails by panicking")]

pub mod chunk;
pub mod compile;
pub mod component;
mod host;
pub mod json;
mod program;
mod watch;
