//! What a package promises, checked from outside.
#![allow(clippy::unwrap_used, reason = "a helper of a test that cannot go on says so where it stands")]

mod altered;
mod archive;
mod building;
mod keys;
mod minisign_interop;
mod mutations;
mod refusals;
mod sample;
mod signatures;
mod staging;
mod trust_store;
