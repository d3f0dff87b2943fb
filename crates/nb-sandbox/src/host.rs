//! What a tool can reach, and the flag that cancels it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Everything that the outside world is, for a tool.
///
/// The methods are called on the thread that called [`Sandbox::run`](crate::Sandbox::run), while the guest waits. The
/// time that they take counts as waiting, not against the tool's wall clock; a host brings its own deadlines.
pub trait Host {
    /// Uses an ability, for example `kv.read`. `args` is JSON: an object, unless a component that is not a script
    /// sends something else.
    ///
    /// Answers JSON, or says in plain words why not; a script can catch the latter. Whether the tool may use the
    /// ability is decided here. Called only while the call is within its limits.
    fn invoke(&mut self, ability: &str, args: &str) -> Result<String, String>;

    /// Takes one line of the tool's log, without its newline. What exceeds the log's limit never arrives here.
    fn log(&mut self, line: &str);

    /// Is told at the end of a call how many bytes of its log never arrived, if there were any. Without a method of
    /// its own a host gets a last line that says so.
    fn log_dropped(&mut self, bytes: u64) {
        self.log(&format!("… {bytes} bytes of log dropped"));
    }

    /// The time of the run's clock, in nanoseconds since 1970-01-01 UTC.
    fn now_ns(&mut self) -> u64;

    /// 64 random bits.
    fn random(&mut self) -> u64;
}

/// Ends a call from another thread. Clones share one flag, which is never cleared.
#[derive(Debug, Clone, Default)]
pub struct CancelFlag(Arc<AtomicBool>);

impl CancelFlag {
    /// Ends the calls that carry this flag, within a few ticks of the sandbox's clock (10 ms each). A call that waits
    /// for its host ends when the host has answered.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether [`cancel`](Self::cancel) was called.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// A host that refuses everything: for compiling, and for what is left in a call's place while its host is in use.
#[derive(Debug, Clone, Copy)]
pub struct NoHost;

impl Host for NoHost {
    fn invoke(&mut self, ability: &str, _args: &str) -> Result<String, String> {
        Err(format!("{ability} cannot be used here: there is no host"))
    }

    fn log(&mut self, _line: &str) {}

    fn now_ns(&mut self) -> u64 {
        0
    }

    fn random(&mut self) -> u64 {
        0
    }
}
