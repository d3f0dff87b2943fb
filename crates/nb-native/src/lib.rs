//! Runs tools with `sandboxed: false`: Lua and Fennel on native Lua, with files, programs and the environment.
//!
//! Such a tool can do whatever the daemon's user can. It runs in a child process of its own, so that a crash, a loop or
//! a full memory ends the call and not the daemon. What goes in and comes out has the form of `nb_sandbox`: the same
//! sources, limits, host, result and errors.
//!
//! ```no_run
//! # use nb_native::*;
//! # use nb_sandbox::*;
//! # fn demo(host: Box<dyn Host + Send>) {
//! let source = Source::new(Lang::Lua, "tools/home.lua", "return os.getenv('HOME')");
//! let finished = run(NativeCall {
//!     tool: NativeTool { source, modules: Vec::new() },
//!     variables: "{}".into(),
//!     limits: Limits::default(),
//!     cancel: CancelFlag::default(),
//!     host,
//!     runner: Runner::default(),
//! });
//! assert!(finished.outcome.is_ok());
//! # }
//! ```
//!
//! # What a script sees
//! Lua's `_G` with `io`, `os`, `package`, `require`, `dofile`, `load` of binary chunks and `string.dump`; the whole
//! module `fennel`; and `json`, `nb` and `print` of the sandbox. `require` finds the package's modules first.
//!
//! Of `debug` there is `traceback` alone, for the running coroutine, and modules written in C are not loaded: both can
//! break Rust's memory safety.
//!
//! # Layout
//! - `tool`: what a call needs
//! - `parent`: one call, seen from the daemon
//! - `process`: the child process, the socket to it, and its end
//! - `programs`: finding and ending what a call started
//! - `lines`: its standard output as lines of the log
//! - `protocol`: what both sides say to each other
//! - `child`: one call, seen from the child process
//! - `watch`: the end of the child process when the daemon is gone
//! - `rlimits`: what the kernel holds the child process to
//! - `interpreter`: one script in a Lua state
//! - `globals`, `api`: what the script sees; `arguments`: what its functions are given
//! - `compiler`: sources to functions
//! - `fuel`: counting instructions
//! - `failure`: what is told about an error
//! - `json`: values of Lua as JSON and back
//!
//! # Invariants
//! - When [`run`] or [`check`] returns, the child process has ended, its process group was killed, and so were the
//!   programs that left the group by `setsid`. What also gave itself another environment is not found.
//! - When the daemon is killed, the child process ends in the same way, by itself.
//! - A script cannot catch a limit or a cancellation. Memory is as in the sandbox: an error that a script can catch,
//!   and the reason of the failure when it does not.
//! - What fuel does not count ends by the wall clock: functions of C, finalizers, and a variable's `__close` while fuel
//!   ends the script.

mod api;
mod arguments;
mod child;
mod compiler;
mod failure;
mod fuel;
mod globals;
mod interpreter;
mod json;
mod lines;
mod parent;
mod process;
mod programs;
mod protocol;
mod rlimits;
mod tool;
mod watch;

pub use crate::child::child;
pub use crate::interpreter::evaluate;
pub use crate::parent::{check, run};
pub use crate::tool::{CHILD_ARGUMENT, NativeCall, NativeTool, Runner};
