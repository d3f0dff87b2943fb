//! What can go wrong.

use std::io;
use std::path::PathBuf;

/// Why the guest was not built, or is not what was committed.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    #[error("{0}")]
    Usage(&'static str),
    #[error("cannot read {path}: {source}")]
    Read { path: PathBuf, source: io::Error },
    #[error("cannot write {path}: {source}")]
    Write { path: PathBuf, source: io::Error },
    #[error(
        "{missing} is missing; install it with:\n  apt-get install clang-22 lld-22 libclang-rt-22-dev-wasm32 wasi-libc"
    )]
    Tool { missing: String },
    #[error("cannot start {tool}: {source}")]
    Start { tool: String, source: io::Error },
    #[error("{tool} failed for {what}:\n{output}")]
    Failed { tool: String, what: String, output: String },
    #[error("cannot find the crate lua-src, which carries the sources of Lua: {0}")]
    LuaSources(String),
    #[error("{path} is not the pinned file: its sha256 is {found}, but {expected} was recorded")]
    Pinned { path: PathBuf, found: String, expected: String },
    #[error("the WIT world in {path} cannot be used: {message}")]
    Wit { path: PathBuf, message: String },
    #[error("cannot {what}: {message}")]
    Component { what: &'static str, message: String },
    #[error(
        "guest.wasm.sha256 says {recorded}, but the sha256 of guest.wasm is {committed}; build both again"
    )]
    RecordedDigest { recorded: String, committed: String },
    #[error(
        "the sources make another guest.wasm than the committed one\n  committed sha256 {committed}\n  rebuilt   sha256 {rebuilt}\n\
         build it again and commit it with its sources; if the sources did not change, the compiler's version did"
    )]
    Differs { committed: String, rebuilt: String },
}

impl BuildError {
    /// 2 for wrong arguments, else 1.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Usage(_) => 2,
            _ => 1,
        }
    }
}
