//! The sandbox as its users see it.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod c_component;
mod cache;
mod common;
mod components;
mod errors;
mod isolation;
mod limits;
mod modules;
mod scripts;
mod wasi;
