//! The event log of the bus, and how far each subscriber has read it.

use serde::{Deserialize, Serialize};

use crate::db::{Db, Table, encode, lock};
use crate::keys::Key;
use crate::{EventRow, Store, StoreError};

/// How far a subscriber has read.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct CursorRow {
    pub(crate) seq: u64,
    /// The run that the event at `seq` started.
    pub(crate) run: Option<String>,
}

impl Store {
    /// Appends an event and returns its place in the log. The `seq` of `event` is not looked at.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn publish(&self, event: &EventRow) -> Result<u64, StoreError> {
        let mut last = lock(self.last_event());
        let event = EventRow { seq: *last + 1, ..event.clone() };
        self.db().insert(Table::Events, &Key::number(event.seq), &encode(&event)?)?;
        *last = event.seq;
        drop(last);
        self.changed();
        Ok(event.seq)
    }

    /// The events after a place in the log, in their order, at most `limit`.
    ///
    /// # Errors
    /// [`StoreError::Io`] or [`StoreError::Corrupt`].
    pub fn events(&self, after_seq: u64, limit: usize) -> Result<Vec<EventRow>, StoreError> {
        let after = Key::number(after_seq);
        Db::rows(Table::Events, self.db().scan(Table::Events, &[], Some(&after)).take(limit))
    }

    /// The place of the last event; 0 when there is none.
    #[must_use]
    pub fn last_event_seq(&self) -> u64 {
        *lock(self.last_event())
    }

    /// The last event that a subscriber has dealt with.
    ///
    /// # Errors
    /// A name that cannot be a key, [`StoreError::Io`] or [`StoreError::Corrupt`].
    pub fn cursor(&self, subscriber: &str) -> Result<Option<u64>, StoreError> {
        let row: Option<CursorRow> = self.db().row(Table::Cursors, &cursor_key(subscriber)?)?;
        Ok(row.map(|row| row.seq))
    }

    /// Moves a subscriber's cursor, forward or back.
    ///
    /// # Errors
    /// A name that cannot be a key, or [`StoreError::Io`].
    pub fn set_cursor(&self, subscriber: &str, seq: u64) -> Result<(), StoreError> {
        let row = encode(&CursorRow { seq, run: None })?;
        self.db().insert(Table::Cursors, &cursor_key(subscriber)?, &row)
    }
}

pub(crate) fn cursor_key(subscriber: &str) -> Result<Key, StoreError> {
    Key::name("the subscriber's name", subscriber)
}
