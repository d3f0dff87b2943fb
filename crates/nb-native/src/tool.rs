//! What a call needs.

use std::ffi::OsString;
use std::path::PathBuf;

use nb_sandbox::{CancelFlag, Host, Limits, Module, Source};
use serde::{Deserialize, Serialize};

/// The argument with which the daemon's program becomes a process of a call: its `main` then calls
/// [`child`](crate::child()) and nothing else.
pub const CHILD_ARGUMENT: &str = "native-tool";

/// A script with the modules that it can require. It is compiled anew for each call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NativeTool {
    /// The script itself.
    pub source: Source,
    /// All modules of the package.
    pub modules: Vec<Module>,
}

impl NativeTool {
    /// The sources that an error can point into.
    pub(crate) fn sources(&self) -> impl Iterator<Item = &Source> {
        std::iter::once(&self.source).chain(self.modules.iter().map(|module| &module.source))
    }
}

/// The program that becomes the supervisor of a call; its last argument makes it the interpreter. The default is the running one, also when its file was replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Runner {
    /// Its file.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
}

impl Default for Runner {
    fn default() -> Self {
        Self { program: "/proc/self/exe".into(), arguments: vec![CHILD_ARGUMENT.into()] }
    }
}

/// One call of a native tool.
pub struct NativeCall {
    /// What is run.
    pub tool: NativeTool,
    /// A JSON object. Each of its keys becomes a global variable of the script.
    pub variables: String,
    /// What the call may use up. `fuel` is counted in steps of at most 1,000 instructions, and `memory_bytes` is Lua's
    /// own memory.
    pub limits: Limits,
    /// Ends the call from another thread.
    pub cancel: CancelFlag,
    /// What `nb`, `print`, the clock and randomness come from. It comes back with the result.
    pub host: Box<dyn Host + Send>,
    /// What becomes the processes of the call.
    pub runner: Runner,
}
