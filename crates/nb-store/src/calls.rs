//! How often an agent called, per hour.

use std::collections::BTreeMap;

use crate::agents::agent_key;
use crate::db::{Table, decode, encode};
use crate::{Store, StoreError};

impl Store {
    /// Counts one call and returns how many there were in that hour, with this one. `hour` counts from 1970.
    ///
    /// Only the hours beside `hour` are kept: the count survives a clock that is set back and forth around the full
    /// hour, and a clock that was far off leaves nothing behind.
    ///
    /// # Errors
    /// A name that cannot be a key, [`StoreError::Io`] or [`StoreError::Corrupt`].
    pub fn count_call(&self, agent: &str, hour: i64) -> Result<u64, StoreError> {
        let key = agent_key(agent)?;
        loop {
            let old = self.db().get(Table::Calls, &key)?;
            let mut hours: BTreeMap<i64, u64> = match &old {
                Some(bytes) => decode(Table::Calls, key.bytes(), bytes)?,
                None => BTreeMap::new(),
            };
            hours.retain(|known, _| known.abs_diff(hour) <= 1);
            let count = hours.entry(hour).or_default();
            *count = count.saturating_add(1);
            let count = *count;
            if self.db().replace(Table::Calls, &key, old.as_deref(), &encode(&hours)?)? {
                return Ok(count);
            }
        }
    }
}
