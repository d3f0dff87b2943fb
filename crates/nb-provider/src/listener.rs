//! Who follows an answer while it comes.

use std::time::Duration;

use crate::answer::Delta;
use crate::error::ProviderError;

/// Follows one request. A closure that takes a [`Delta`] does as well.
pub trait Listener: Send {
    /// A part of the answer has arrived.
    fn hear(&mut self, delta: Delta<'_>);

    /// A request failed before any of its answer came, and is to be sent again after a wait.
    ///
    /// # Errors
    /// Why it must not be.
    fn again(&mut self, _failed: &ProviderError, _wait: Duration) -> Result<(), String> {
        Ok(())
    }
}

impl<F: FnMut(Delta<'_>) + Send> Listener for F {
    fn hear(&mut self, delta: Delta<'_>) {
        self(delta);
    }
}
