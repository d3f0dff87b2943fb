//! Runs tools with `sandboxed: false`: Lua and Fennel on native Lua, with files, programs and the environment.
//!
//! Such a tool can do whatever the daemon's user can. It runs in a process of its own, the interpreter, so that a crash,
//! a loop or a full memory ends the call and not the daemon. Between it and the daemon is the supervisor, which runs
//! nothing of the tool and ends what the tool started:
//!
//! ```text
//! daemon ── supervisor ── interpreter ── programs
//! ```
//! What goes in and comes out has the form of `nb_sandbox`: the same
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
//! - `process`: the processes of a call, seen from the daemon; `channel`: a socket to them; `lines`: the interpreter's
//!   standard output as lines of the log
//! - `life_line`: the supervisor, seen from the daemon, and the end of everything below it
//! - `protocol`: what all of them say to each other
//! - `child`: which of the processes this one is; one call, seen from the interpreter; `socket`: its side of a socket
//! - `supervisor`: the process that outlives the interpreter; `descendants`: finding and ending what is below it
//! - `rlimits`: what the kernel holds the interpreter to
//! - `interpreter`: one script in a Lua state
//! - `globals`, `api`: what the script sees; `arguments`: what its functions are given
//! - `compiler`: sources to functions
//! - `fuel`: counting instructions
//! - `failure`: what is told about an error
//! - `json`: values of Lua as JSON and back
//!
//! # Invariants
//! - When [`run`] or [`check`] returns, the supervisor, the interpreter and all processes below them have ended, in
//!   whatever session, group or environment they were.
//! - When the daemon is killed, the supervisor ends them in the same way.
//! - Both hold but for a program of another user, a process that the kernel holds for seconds, and a tool that attacks
//!   its supervisor with signals. When the supervisor is lost, the interpreter ends with it, and the daemon, if it
//!   lives, ends the interpreter's group. It warns of what may be left.
//! - A script cannot catch a limit or a cancellation. Memory is as in the sandbox: an error that a script can catch,
//!   and the reason of the failure when it does not.
//! - What fuel does not count ends by the wall clock: functions of C, finalizers, and a variable's `__close` while fuel
//!   ends the script.

mod api;
mod arguments;
mod channel;
mod child;
mod compiler;
mod descendants;
mod failure;
mod fuel;
mod globals;
mod interpreter;
mod json;
mod life_line;
mod lines;
mod parent;
mod process;
mod protocol;
mod rlimits;
mod socket;
mod supervisor;
mod tool;

pub use crate::child::child;
pub use crate::interpreter::evaluate;
pub use crate::parent::{check, run};
pub use crate::tool::{CHILD_ARGUMENT, NativeCall, NativeTool, Runner};
