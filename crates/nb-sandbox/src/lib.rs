//! Runs Lua and Fennel tools in fresh, limited WebAssembly guests.
//!
//! A tool is compiled once to a [`Chunk`] and run any number of times, each time in a new instance of the guest
//! component whose memory is that of a guest which has just been prepared. What a tool can reach is the [`Host`] that
//! its [`Call`] brings along, and nothing else: the component imports no other interface.
//!
//! ```no_run
//! # use nb_sandbox::*;
//! # fn demo(host: Box<dyn Host + Send>) -> Result<(), SandboxError> {
//! let sandbox = Sandbox::new(&SandboxConfig::default())?;
//! let chunk = sandbox.compile(Lang::Fennel, "greet.fnl", r#"(.. "Hello, " parameters.name)"#)?;
//! let finished = sandbox.run(Call {
//!     chunk,
//!     variables: r#"{"parameters": {"name": "Ada"}}"#.into(),
//!     limits: Limits::default(),
//!     cancel: CancelFlag::default(),
//!     host,
//! });
//! assert_eq!(finished.outcome.unwrap(), r#""Hello, Ada""#);
//! # Ok(())
//! # }
//! ```
//!
//! # Layout
//! - [`call`](Call): what a call needs and what it answers
//! - [`host`](Host): what a tool can reach, and the flag that cancels it
//! - [`limits`](Limits): what a tool may use up
//! - [`error`](ToolError): how a tool, or the sandbox, can fail
//! - [`sandbox`](Sandbox): compile and run
//! - `guest`: the component, its interface, and how the host's functions are given to it
//! - `meter`: counting what a call uses, and stopping it
//! - `engine`: the settings of the WebAssembly engine, with the measurements behind them
//! - `ticker`: the clock that interrupts running guests
//! - `slots`: how many calls run at once
//! - `cache`: the compiled component on disk
//!
//! # Invariants
//! - An instance serves one call. Nothing that a call leaves in its memory is readable by another.
//! - A limit ends the call from outside of the guest; a script cannot catch it.
//! - A call never fails because others are running: it waits for a free slot.

mod cache;
mod call;
mod engine;
mod error;
mod guest;
mod host;
mod limits;
mod meter;
mod sandbox;
mod slots;
mod ticker;

pub use crate::call::{Call, Chunk, Finished, Lang, Usage};
pub use crate::error::{SandboxError, ScriptErrorKind, ToolError};
pub use crate::guest::{COMPONENT_SHA256, component};
pub use crate::host::{CancelFlag, Host};
pub use crate::limits::{FUEL_PER_UNIT, Limit, Limits, MAX_MEMORY_BYTES};
pub use crate::sandbox::{Sandbox, SandboxConfig};
