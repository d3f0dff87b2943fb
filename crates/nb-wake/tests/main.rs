//! Schedules, bus and webhooks through their public interface, over a real engine and store; tests move the clock.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod awake;
mod bus;
#[path = "../../nb-runtime/tests/common/mod.rs"]
mod common;
mod schedule;
mod webhooks;
