//! The event log of the bus, and how far each subscriber has read it.

use serde::{Deserialize, Serialize};

use crate::db::{Table, decode, encode, lock};
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

    /// The events after a place in the log, in their order, at most `limit`. A damaged one is left out and logged:
    /// it must not keep those after it from everybody.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn events(&self, after_seq: u64, limit: usize) -> Result<Vec<EventRow>, StoreError> {
        let after = Key::number(after_seq);
        let rows = self.db().scan(Table::Events, &[], Some(&after));
        let events = rows.map(|row| row.and_then(|(key, bytes)| decode(Table::Events, &key, &bytes)));
        events.filter_map(unless_damaged).take(limit).collect()
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

    /// Moves a subscriber's cursor forward and says whether it did: not when it stands there already or further on,
    /// and not when there is none, because the subscription is gone.
    ///
    /// # Errors
    /// As [`Store::cursor`].
    pub fn advance_cursor(&self, subscriber: &str, seq: u64) -> Result<bool, StoreError> {
        let key = cursor_key(subscriber)?;
        self.db().transact("move a cursor", |tx| {
            let cursor: Option<CursorRow> = tx.row(Table::Cursors, &key)?;
            if cursor.is_none_or(|cursor| seq <= cursor.seq) {
                return Ok(false);
            }
            tx.put_row(Table::Cursors, &key, &CursorRow { seq, run: None })?;
            Ok(true)
        })
    }

    /// Forgets the cursors of an agent's subscriptions (`AGENT/…`) but for those in `keep`.
    ///
    /// # Errors
    /// As [`Store::set_cursor`].
    pub fn keep_cursors(&self, agent: &str, keep: &[String]) -> Result<(), StoreError> {
        let mut gone = self.db().keys(Table::Cursors, format!("{agent}/").as_bytes(), usize::MAX)?;
        gone.retain(|key| !keep.iter().any(|id| id.as_bytes() == key.bytes()));
        if gone.is_empty() {
            return Ok(());
        }
        self.db().transact("forget cursors", |tx| {
            gone.iter().try_for_each(|key| tx.remove(Table::Cursors, key).map(drop))
        })
    }
}

/// The result, unless it is that of a damaged row, which is logged.
pub(crate) fn unless_damaged<T>(result: Result<T, StoreError>) -> Option<Result<T, StoreError>> {
    match result {
        Err(error @ StoreError::Corrupt { .. }) => {
            tracing::error!("a damaged row is left out: {error}");
            None
        }
        result => Some(result),
    }
}

pub(crate) fn cursor_key(subscriber: &str) -> Result<Key, StoreError> {
    Key::name("the subscriber's name", subscriber)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_event_keeps_no_other_from_its_readers() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path(), chrono::DateTime::UNIX_EPOCH).unwrap();
        for name in ["a", "b", "c"] {
            let event = EventRow {
                seq: 0,
                id: String::new(),
                name: name.to_owned(),
                data: serde_json::Value::Null,
                source: "test".to_owned(),
                at: chrono::DateTime::UNIX_EPOCH,
                depth: 0,
            };
            store.publish(&event).unwrap();
        }
        store.db().insert(Table::Events, &Key::number(2), b"{").unwrap();
        let names = |limit| store.events(0, limit).unwrap().into_iter().map(|event| event.name);
        assert!(names(2).eq(["a", "c"]), "the limit counts those that are read");
    }
}
