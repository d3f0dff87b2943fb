//! How many calls run at once.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::host::CancelFlag;

/// How often a waiting call looks whether it was cancelled.
const LOOK: Duration = Duration::from_millis(20);

/// A counting semaphore: the pool of instances fails when it is empty, a call should wait.
pub(crate) struct Slots {
    places: Mutex<Places>,
    freed: Condvar,
}

struct Places {
    free: u32,
    /// Waking somebody is a system call, even when nobody waits.
    waiting: u32,
}

/// A place in the pool, given back when it is dropped.
pub(crate) struct Slot<'a>(&'a Slots);

impl Slots {
    pub(crate) fn new(count: u32) -> Self {
        Self { places: Mutex::new(Places { free: count, waiting: 0 }), freed: Condvar::new() }
    }

    /// Waits for a place; `None` when the call was cancelled before there was one.
    pub(crate) fn take(&self, cancel: &CancelFlag) -> Option<Slot<'_>> {
        let mut places = self.lock();
        while places.free == 0 {
            if cancel.is_cancelled() {
                return None;
            }
            places.waiting += 1;
            (places, _) = self.freed.wait_timeout(places, LOOK).unwrap_or_else(PoisonError::into_inner);
            places.waiting -= 1;
        }
        places.free -= 1;
        Some(Slot(self))
    }

    fn lock(&self) -> MutexGuard<'_, Places> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        let mut places = self.0.lock();
        places.free += 1;
        let waiting = places.waiting > 0;
        drop(places);
        if waiting {
            self.0.freed.notify_one();
        }
    }
}
