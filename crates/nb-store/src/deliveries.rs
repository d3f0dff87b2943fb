//! Webhook deliveries that were accepted, by their marks.

use chrono::{DateTime, Utc};

use crate::db::{BATCH, Table};
use crate::keys::{ID_CAP, Key};
use crate::{DeliveryRow, Store, StoreError};

impl Store {
    /// The last delivery with a mark, if one was accepted and not forgotten since.
    ///
    /// # Errors
    /// A path or id that cannot be a key, [`StoreError::Io`] or [`StoreError::Corrupt`].
    pub fn delivery(&self, path: &str, id: &str) -> Result<Option<DeliveryRow>, StoreError> {
        self.db().row(Table::Deliveries, &delivery_key(path, id)?)
    }

    /// Forgets the marks of deliveries that came before `at` and returns how many there were. A repeat of one of them would
    /// start a run again.
    ///
    /// # Errors
    /// [`StoreError::Io`] or [`StoreError::Corrupt`].
    pub fn forget_deliveries_before(&self, at: DateTime<Utc>) -> Result<usize, StoreError> {
        let end = Key::time(at);
        let mut forgotten = 0;
        loop {
            let mut batch = self.db().keys(Table::DeliveriesByTime, &[], BATCH)?;
            batch.retain(|key| key.bytes() < end.bytes());
            if batch.is_empty() {
                return Ok(forgotten);
            }
            self.db().transact("forget old deliveries", |tx| {
                for by_time in &batch {
                    // The rest of the key, after the time and a NUL, is the key of the delivery.
                    let delivery = Key::stored(by_time.bytes().get(9..).unwrap_or_default());
                    tx.remove(Table::Deliveries, &delivery)?;
                    tx.remove(Table::DeliveriesByTime, by_time)?;
                }
                Ok(())
            })?;
            forgotten += batch.len();
        }
    }
}

pub(crate) fn delivery_key(path: &str, id: &str) -> Result<Key, StoreError> {
    Key::name("the webhook's path", path)?.and_text("the delivery id", id, ID_CAP)
}

/// The same deliveries in the order in which they came.
pub(crate) fn by_time_key(at: DateTime<Utc>, path: &str, id: &str) -> Result<Key, StoreError> {
    Key::time(at).and_name("the webhook's path", path)?.and_text("the delivery id", id, ID_CAP)
}
