//! Ends a run from outside.

use std::sync::OnceLock;

use nb_sandbox::CancelFlag;
use tokio::sync::watch;

/// Why a run was ended from outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reason {
    /// Somebody wanted it.
    Cancelled(String),
    /// The daemon leaves; the run goes on after the next start.
    Shutdown,
}

/// Set once; reaches what waits (`cancelled`) and what computes (the sandbox looks at `flag`).
#[derive(Debug)]
pub(crate) struct Cancel {
    reason: OnceLock<Reason>,
    pub(crate) flag: CancelFlag,
    signal: watch::Sender<bool>,
}

impl Cancel {
    pub(crate) fn new() -> Self {
        Self { reason: OnceLock::new(), flag: CancelFlag::default(), signal: watch::Sender::new(false) }
    }

    pub(crate) fn cancel(&self, reason: Reason) {
        // The first reason stands.
        let _ = self.reason.set(reason);
        self.flag.cancel();
        self.signal.send_replace(true);
    }

    pub(crate) fn reason(&self) -> Option<&Reason> {
        self.reason.get()
    }

    /// Returns when the run was cancelled.
    pub(crate) async fn cancelled(&self) {
        let mut signal = self.signal.subscribe();
        // The sender lives as long as `self`, so the wait ends only when it is set.
        let _ = signal.wait_for(|cancelled| *cancelled).await;
    }
}
