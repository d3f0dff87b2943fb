//! The sandbox as its users see it.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod cache;
mod common;
mod errors;
mod isolation;
mod limits;
mod scripts;
