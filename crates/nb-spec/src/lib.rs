//! File formats in, one model of an agent out.
//!
//! An agent is a folder of files (or a package that holds the same files): a manifest, tools in Lua or Fennel, and
//! chains. [`Agent::load`] reads all of it, checks all of it, and reports every problem at once with file and line.
//!
//! # Layout
//!
//! - [`files`]: the files of an agent, in memory.
//! - [`problem`]: what is wrong, where, and what to do.
//! - [`document`]: YAML text to a typed value; unknown keys, wrong types and the line each value stands on.
//! - [`manifest`], [`trigger`], [`tool`], [`module`], [`chain`], [`cartridge`]: the file formats. [`packed`]: the cartridge
//!   of an agent, checked against its manifest.
//! - `requires`: the modules that scripts require, with `words` for the texts of scripts.
//! - [`timing`], [`cron_expression`]: when a schedule fires.
//! - [`permission`]: what an agent may ask for, in words.
//! - [`task`], [`template`], [`condition`]: the model that chains lower to.
//! - [`agent`]: the whole, loaded and cross-checked.
//!
//! # Invariants
//!
//! - No I/O beyond reading files, no clock: the same files give the same agent.
//! - Nothing panics on input; a value that is out of bounds is refused with the bound, never clamped.
//! - Memory and work are bounded whatever the files hold: lists, steps, chains, aliases and problems have caps.

pub mod agent;
pub mod cartridge;
pub mod chain;
pub mod condition;
pub mod cron_expression;
pub mod document;
pub mod files;
pub mod manifest;
pub mod module;
mod order;
pub mod packed;
pub mod permission;
mod positions;
pub mod problem;
mod requires;
pub mod task;
pub mod template;
pub mod timing;
pub mod tool;
pub mod trigger;
mod words;

pub use agent::Agent;
pub use cartridge::{Cartridge, ProviderSection};
pub use files::Files;
pub use manifest::Manifest;
pub use module::Module;
pub use packed::PackedCartridge;
pub use permission::Permission;
pub use problem::{Problem, Problems, Severity};
pub use task::Task;
pub use tool::{Code, Lang, Tool};
