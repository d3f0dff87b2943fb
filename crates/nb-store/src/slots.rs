//! The slots of schedules that were decided.

use crate::db::{Db, Table};
use crate::keys::Key;
use crate::{SlotRow, Store, StoreError};

impl Store {
    /// The decided slot of a trigger with the latest scheduled time.
    ///
    /// # Errors
    /// A name that cannot be a key, [`StoreError::Io`] or [`StoreError::Corrupt`].
    pub fn last_slot(&self, agent: &str, trigger: &str) -> Result<Option<SlotRow>, StoreError> {
        Ok(self.slots(agent, trigger, 1)?.pop())
    }

    /// The decided slots of a trigger, newest first, at most `limit`.
    ///
    /// # Errors
    /// As [`Store::last_slot`].
    pub fn slots(&self, agent: &str, trigger: &str, limit: usize) -> Result<Vec<SlotRow>, StoreError> {
        let below = slot_key(agent, trigger)?.prefix();
        Db::rows(Table::Slots, self.db().scan_back(Table::Slots, below.bytes(), None).take(limit))
    }
}

/// The key of all slots of a trigger; a slot adds its time.
pub(crate) fn slot_key(agent: &str, trigger: &str) -> Result<Key, StoreError> {
    Key::name("the agent's name", agent)?.and_name("the trigger's name", trigger)
}
