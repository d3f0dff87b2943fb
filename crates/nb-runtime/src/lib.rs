//! The run engine: carries out tasks and tools, and records every step before its effect.
//!
//! # Layout
//!
//! - [`engine`]: starts, follows, cancels and recovers runs. Begin here.
//! - [`target`]: what of an agent is to run. [`installed`]: an agent that is ready to run; [`policy`]: the one permission check.
//! - [`record`]: the events of a run's record.
//! - `task_run`, `scope`: the steps of a task, and what their references see.
//! - `tool_run`: one tool call in the sandbox, and its bridge to the abilities.
//! - [`ability`]: what an ability is, and the single way to call one; [`abilities`]: one file each.
//! - [`models`]: the language model of an agent; [`budget`]: what it may spend.
//! - [`services`]: what the engine is given: store, sandbox, egress, clock, notifier, secrets; `folders`: which folders
//!   components may read.
//! - [`error`]: why a run fails, and why one does not start.
//!
//! # Invariants
//!
//! - A run is on disk before its first step, and its end is on disk before anybody is told.
//! - An ability is called through [`ability::invoke`] and in no other way: check, record, limits.
//! - Nothing here decides *that* an agent runs; that is for the caller.

pub mod abilities;
pub mod ability;
pub mod budget;
mod cancel;
pub mod engine;
pub mod error;
mod folders;
pub mod installed;
pub mod models;
pub mod policy;
pub mod record;
mod recover;
mod scope;
pub mod services;
pub mod target;
mod task_run;
mod tool_run;

pub use engine::{Engine, RunRequest, Started};
pub use error::{RunError, StartError};
pub use installed::Installed;
pub use record::Actor;
pub use services::Services;
pub use target::Target;
