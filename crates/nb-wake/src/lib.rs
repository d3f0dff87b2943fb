//! Schedules, the event bus and webhooks: they decide *that* an agent runs, the engine *how*.
//!
//! # Layout
//!
//! - [`wake`]: the handle that a daemon holds; starts and stops the rest.
//! - [`schedule`]: the triggers of all agents as one list; [`slots`]: which slots are due, and which of them run.
//! - [`scheduler`]: waits for the next slot of any schedule; `line`: decides and starts the slots of one; `agenda`: when
//!   each is looked at next.
//! - [`bus`]: hands the event log to the agents that subscribed; [`subscriber`]: one subscription; `pages`: how they
//!   read the log together.
//! - [`webhooks`]: which webhook a request is for, and what becomes of it; [`verify`]: the signature schemes;
//!   [`rate`]: how many requests a path takes.
//!
//! # Invariants
//!
//! - Record first, then act: a slot, an event or a delivery is in the ledger in the same transaction as the run it
//!   starts, and every decision not to act is recorded as well.
//! - What waits is bounded: slots of a schedule in memory, runs of a subscription; further events wait in the log.
//! - Nothing here knows how an agent runs.

mod agenda;
pub mod bus;
mod line;
mod pages;
pub mod rate;
pub mod schedule;
pub mod scheduler;
pub mod slots;
pub mod subscriber;
pub mod verify;
pub mod wake;
pub mod webhooks;

pub use wake::{Config, Wake};
