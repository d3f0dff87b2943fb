//! Notifications that a person should read.

use crate::db::{Db, Table, encode, lock};
use crate::keys::Key;
use crate::{InboxRow, Store, StoreError};

impl Store {
    /// Writes a notification and returns its place. The `seq` of `row` is not looked at.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn put_inbox(&self, row: &InboxRow) -> Result<u64, StoreError> {
        let mut last = lock(self.last_inbox());
        let row = InboxRow { seq: *last + 1, ..row.clone() };
        self.db().insert(Table::Inbox, &Key::number(row.seq), &encode(&row)?)?;
        *last = row.seq;
        Ok(row.seq)
    }

    /// The notifications, newest first, at most `limit`.
    ///
    /// # Errors
    /// [`StoreError::Io`] or [`StoreError::Corrupt`].
    pub fn inbox(&self, limit: usize) -> Result<Vec<InboxRow>, StoreError> {
        Db::rows(Table::Inbox, self.db().scan_back(Table::Inbox, &[], None).take(limit))
    }

    /// How many notifications there are.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn count_inbox(&self) -> Result<usize, StoreError> {
        self.db().count(Table::Inbox)
    }
}
