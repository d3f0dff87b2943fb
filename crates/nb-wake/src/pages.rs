//! The event log in pages, for many readers.

use std::sync::{Arc, Mutex, PoisonError};

use nb_store::{EventRow, Store, StoreError};

/// So many events are read at once.
const PAGE: usize = 256;
/// A reader that fell behind reads so many for itself: it may hold them for as long as it takes to deal with them.
const BEHIND: usize = 32;

/// Keeps the newest page, so that readers who keep up share one reading of the log.
pub(crate) struct Pages {
    store: Store,
    newest: Mutex<Arc<Vec<EventRow>>>,
}

impl Pages {
    pub(crate) fn new(store: Store) -> Self {
        Self { store, newest: Mutex::default() }
    }

    /// A page with the first event after a place in the log, perhaps with some before it; empty when there is none.
    pub(crate) fn after(&self, seq: u64) -> Result<Arc<Vec<EventRow>>, StoreError> {
        let mut newest = self.newest.lock().unwrap_or_else(PoisonError::into_inner);
        let is_behind = newest.first().is_some_and(|first| seq + 1 < first.seq);
        if is_behind {
            drop(newest);
            return self.store.events(seq, BEHIND).map(Arc::new);
        }
        if newest.last().is_none_or(|last| last.seq <= seq) {
            let page = self.store.events(seq, PAGE)?;
            if page.is_empty() {
                return Ok(Arc::default());
            }
            *newest = Arc::new(page);
        }
        Ok(Arc::clone(&newest))
    }
}
