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
//! let source = Source::new(Lang::Fennel, "greet.fnl", r#"(.. "Hello, " parameters.name)"#);
//! let chunk = sandbox.compile(&source, &[])?;
//! let finished = sandbox.run(Call {
//!     program: chunk.into(),
//!     variables: r#"{"parameters": {"name": "Ada"}}"#.into(),
//!     limits: Limits::default(),
//!     cancel: CancelFlag::default(),
//!     folders: Vec::new(),
//!     host,
//! });
//! assert_eq!(finished.outcome.unwrap(), r#""Hello, Ada""#);
//! # Ok(())
//! # }
//! ```
//!
//! # Layout
//! - [`source`](Source): what is compiled, and what errors point into
//! - [`call`](Call): what a call needs and what it answers
//! - [`host`](Host): what a tool can reach, and the flag that cancels it
//! - [`limits`](Limits): what a tool may use up
//! - [`error`](ToolError): how a tool, or the sandbox, can fail
//! - [`script_error`](ScriptError): what went wrong in a script, and `explain`: its line and a hint
//! - [`sandbox`](Sandbox): compile and run
//! - [`component_tool`](ComponentTool): tools that are components of their own, with `wasi`, `stdout`, `patience`, and
//!   `wit_words` for what is told of their types
//! - `guest`: the component, its interface, and how the host's functions are given to it
//! - `instance`: one call's store, and the judgement at its end
//! - `meter`: counting what a call uses, and stopping it
//! - `engine`: the settings of the WebAssembly engines, with the measurements behind them
//! - `ticker`: the clock that interrupts running guests
//! - `slots`: how many calls run at once
//! - `cache`: compiled components on disk; `deadline`: compiling one of somebody else, but not for ever
//!
//! # Invariants
//! - An instance serves one call. Nothing that a call leaves in its memory is readable by another.
//! - A limit ends the call from outside of the guest; a script cannot catch it.
//! - A call never fails because others are running: it waits for a free slot.

mod cache;
mod call;
mod component_tool;
mod deadline;
mod engine;
mod error;
mod explain;
mod guest;
mod host;
mod instance;
mod limits;
mod meter;
mod patience;
mod plain_files;
mod sandbox;
mod script_error;
mod slots;
mod source;
mod stdout;
mod ticker;
mod wasi;
mod wit_words;

pub use crate::call::{Call, Chunk, Finished, Folder, Program, Usage};
pub use crate::component_tool::ComponentTool;
pub use crate::error::{SandboxError, ToolError};
pub use crate::explain::{explain, explain_native};
pub use crate::guest::{COMPONENT_SHA256, component};
pub use crate::host::{CancelFlag, Host, NoHost};
pub use crate::limits::{FUEL_PER_UNIT, Limit, Limits, MAX_MEMORY_BYTES};
pub use crate::meter::{Meter, Stop};
pub use crate::sandbox::{Sandbox, SandboxConfig};
pub use crate::script_error::{Position, ScriptError, ScriptErrorKind};
pub use crate::source::{Lang, Module, Source};
