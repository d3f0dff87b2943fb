//! Installed agents and the serials of their packages.

use crate::db::{Db, Table};
use crate::keys::Key;
use crate::{AgentRow, SerialRow, Store, StoreError};

impl Store {
    /// Writes an agent's row, new or changed.
    ///
    /// # Errors
    /// A name that cannot be a key, or [`StoreError::Io`].
    pub fn put_agent(&self, agent: &AgentRow) -> Result<(), StoreError> {
        let key = agent_key(&agent.name)?;
        self.db().transact("write an agent", |tx| tx.put_row(Table::Agents, &key, agent))
    }

    /// An agent by name.
    ///
    /// # Errors
    /// A name that cannot be a key, [`StoreError::Io`] or [`StoreError::Corrupt`].
    pub fn agent(&self, name: &str) -> Result<Option<AgentRow>, StoreError> {
        self.db().row(Table::Agents, &agent_key(name)?)
    }

    /// All agents by name.
    ///
    /// # Errors
    /// [`StoreError::Io`] or [`StoreError::Corrupt`].
    pub fn agents(&self) -> Result<Vec<AgentRow>, StoreError> {
        Db::rows(Table::Agents, self.db().scan(Table::Agents, &[], None))
    }

    /// Records an installation: the agent, and its serial unless a higher one is known.
    ///
    /// # Errors
    /// As [`Store::put_agent`].
    pub fn install(&self, agent: &AgentRow, serial: &SerialRow) -> Result<(), StoreError> {
        let agent_key = agent_key(&agent.name)?;
        let serial_key = serial_key(&serial.key_id, &serial.name)?;
        self.db().transact("record an installation", |tx| {
            tx.put_row(Table::Agents, &agent_key, agent)?;
            let known: Option<SerialRow> = tx.row(Table::Serials, &serial_key)?;
            if known.is_none_or(|known| known.serial < serial.serial) {
                tx.put_row(Table::Serials, &serial_key, serial)?;
            }
            Ok(())
        })
    }

    /// Removes an agent with its call count, its slots, and the cursors of the subscribers that are called like it
    /// or `NAME/…`. Its kv data, runs, serial and what it spent stay.
    ///
    /// A crash on the way may leave slots behind. They only mean that those slots do not run again.
    ///
    /// # Errors
    /// As [`Store::put_agent`].
    pub fn remove_agent(&self, name: &str) -> Result<(), StoreError> {
        let agent = agent_key(name)?;
        let mut cursors = self.db().keys(Table::Cursors, format!("{name}/").as_bytes(), usize::MAX)?;
        cursors.push(agent.clone());
        self.db().transact("remove an agent", |tx| {
            tx.remove(Table::Agents, &agent)?;
            tx.remove(Table::Calls, &agent)?;
            cursors.iter().try_for_each(|cursor| tx.remove(Table::Cursors, cursor).map(drop))
        })?;
        let slots = agent.prefix();
        self.db().remove_in_batches(
            "remove the slots of an agent",
            Table::Slots,
            slots.bytes(),
            |tx, slot| tx.remove(Table::Slots, slot).map(drop),
        )
    }

    /// [`Store::remove_agent`], and the data of a kv namespace and what it spent as well.
    ///
    /// # Errors
    /// As [`Store::put_agent`].
    pub fn purge(&self, name: &str, kv_namespace: &str) -> Result<(), StoreError> {
        self.remove_agent(name)?;
        self.forget_spending_of(name)?;
        self.kv_clear(kv_namespace)
    }

    /// The highest serial that was installed of `name` from the key `key_id`.
    ///
    /// # Errors
    /// As [`Store::agent`].
    pub fn highest_serial(&self, key_id: &str, name: &str) -> Result<Option<u64>, StoreError> {
        let row: Option<SerialRow> = self.db().row(Table::Serials, &serial_key(key_id, name)?)?;
        Ok(row.map(|row| row.serial))
    }
}

pub(crate) fn agent_key(name: &str) -> Result<Key, StoreError> {
    Key::name("the agent's name", name)
}

fn serial_key(key_id: &str, name: &str) -> Result<Key, StoreError> {
    Key::name("the key id", key_id)?.and_name("the agent's name", name)
}
