//! Native tools: what they see, and that they end.
#![allow(clippy::unwrap_used)]

mod common;
mod ends;
mod errors;
mod limits;
mod modules;
mod processes;
mod scripts;
mod witness;
