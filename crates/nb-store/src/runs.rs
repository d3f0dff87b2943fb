//! Runs and their append-only records.

use std::collections::HashMap;
use std::sync::Mutex;

use serde_json::Value;

use crate::db::{Db, Table, Tx, TxResult, decode, encode, lock};
use crate::keys::{Key, trailing_number};
use crate::{EventRow, RunRow, Store, StoreError};

/// Which runs to list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunFilter {
    /// Only those of this agent.
    pub agent: Option<String>,
    /// At most so many; 0 lists none.
    pub limit: usize,
    /// Only those that began before the run of this id, to turn the pages.
    pub before: Option<String>,
}

/// How many runs have their counter in memory. More start over: a counter is read again from the record.
const COUNTERS: usize = 10_000;

/// The last sequence number of runs whose record grew lately. Locked while an event is written, so that readers never
/// see a number before the one below it.
pub(crate) type RunCounters = Mutex<HashMap<String, u64>>;

impl Store {
    /// Appends an event to the record of a run and returns its number: 1, 2, … without gaps.
    ///
    /// # Errors
    /// [`StoreError::UnknownRun`] or [`StoreError::Io`].
    pub fn append(&self, run_id: &str, event: &Value) -> Result<u64, StoreError> {
        let event = encode(event)?;
        self.append_by(run_id, |key| self.db().insert(Table::RunEvents, key, &event)).map(|(seq, ())| seq)
    }

    /// Appends an event that `write` writes, at the key that it is given; gives the event's number.
    pub(crate) fn append_by<A>(
        &self,
        run_id: &str,
        write: impl FnOnce(&Key) -> Result<A, StoreError>,
    ) -> Result<(u64, A), StoreError> {
        let mut counters = lock(self.run_counters());
        let last = match counters.get(run_id) {
            Some(last) => *last,
            None => self.last_run_event(run_id)?,
        };
        let seq = last + 1;
        let written = write(&event_key(run_id, seq)?)?;
        if counters.len() >= COUNTERS {
            counters.clear();
        }
        counters.insert(run_id.to_owned(), seq);
        drop(counters);
        self.changed();
        Ok((seq, written))
    }

    /// Replaces the row of a run.
    ///
    /// # Errors
    /// [`StoreError::UnknownRun`] or [`StoreError::Io`].
    pub fn update_run(&self, run: &RunRow) -> Result<(), StoreError> {
        let key = run_key(&run.id)?;
        self.db().transact("write a run", |tx| {
            if tx.get(Table::Runs, &key)?.is_none() {
                return Err(StoreError::UnknownRun(run.id.clone()).into());
            }
            put_run(tx, run)
        })?;
        self.changed();
        Ok(())
    }

    /// Ends a run in one transaction: the last event of its record, its row, and the event that tells the bus.
    ///
    /// # Errors
    /// [`StoreError::UnknownRun`] or [`StoreError::Io`].
    pub fn finish_run(&self, run: &RunRow, finished: &Value, event: &EventRow) -> Result<(), StoreError> {
        let key = run_key(&run.id)?;
        let finished = encode(finished)?;
        let mut counters = lock(self.run_counters());
        let mut last_event = lock(self.last_event());
        let seq = match counters.get(&run.id) {
            Some(last) => *last,
            None => self.last_run_event(&run.id)?,
        } + 1;
        let finished_key = event_key(&run.id, seq)?;
        let event = EventRow { seq: *last_event + 1, ..event.clone() };
        let event_key = Key::number(event.seq);
        self.db().transact("end a run", |tx| {
            if tx.get(Table::Runs, &key)?.is_none() {
                return Err(StoreError::UnknownRun(run.id.clone()).into());
            }
            tx.put(Table::RunEvents, &finished_key, &finished)?;
            tx.put_row(Table::Events, &event_key, &event)?;
            put_run(tx, run)
        })?;
        *last_event = event.seq;
        counters.remove(&run.id);
        drop((last_event, counters));
        self.changed();
        Ok(())
    }

    /// A run.
    ///
    /// # Errors
    /// An id that cannot be a key, [`StoreError::Io`] or [`StoreError::Corrupt`].
    pub fn run(&self, run_id: &str) -> Result<Option<RunRow>, StoreError> {
        self.db().row(Table::Runs, &run_key(run_id)?)
    }

    /// Runs, newest first.
    ///
    /// # Errors
    /// As [`Store::run`].
    pub fn runs(&self, filter: &RunFilter) -> Result<Vec<RunRow>, StoreError> {
        let before = filter.before.as_deref();
        let Some(agent) = &filter.agent else {
            let before = before.map(run_key).transpose()?;
            let rows = self.db().scan_back(Table::Runs, &[], before.as_ref());
            return Db::rows(Table::Runs, rows.take(filter.limit));
        };
        let agent_key = Key::name("the agent's name", agent)?;
        let before = before.map(|run| by_agent_key(agent, run)).transpose()?;
        let prefix = agent_key.prefix();
        let rows = self.db().scan_back(Table::RunsByAgent, prefix.bytes(), before.as_ref());
        self.listed(rows.take(filter.limit).map(|row| row.map(|(key, _)| key)), prefix.bytes().len())
    }

    /// Runs without a final status, oldest first: after a crash, what was interrupted.
    ///
    /// # Errors
    /// [`StoreError::Io`] or [`StoreError::Corrupt`].
    pub fn unfinished(&self) -> Result<Vec<RunRow>, StoreError> {
        let rows = self.db().scan(Table::RunsOpen, &[], None);
        self.listed(rows.map(|row| row.map(|(key, _)| key)), 0)
    }

    /// How many runs have no final status.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn count_unfinished(&self) -> Result<usize, StoreError> {
        self.db().count(Table::RunsOpen)
    }

    /// The record of a run after an event, in order, at most `limit`.
    ///
    /// # Errors
    /// As [`Store::run`].
    pub fn run_events(
        &self,
        run_id: &str,
        after_seq: u64,
        limit: usize,
    ) -> Result<Vec<(u64, Value)>, StoreError> {
        let prefix = run_key(run_id)?.prefix();
        let after = event_key(run_id, after_seq)?;
        let rows = self.db().scan(Table::RunEvents, prefix.bytes(), Some(&after));
        rows.take(limit)
            .map(|row| {
                let (key, bytes) = row?;
                let seq = trailing_number(&key).unwrap_or_default();
                Ok((seq, decode(Table::RunEvents, &key, &bytes)?))
            })
            .collect()
    }

    /// The runs that an index names, in its order; their ids begin at `skip` in its keys.
    fn listed(
        &self,
        keys: impl Iterator<Item = Result<sled::IVec, StoreError>>,
        skip: usize,
    ) -> Result<Vec<RunRow>, StoreError> {
        let row = |key: sled::IVec| {
            self.db().row(Table::Runs, &Key::stored(key.get(skip..).unwrap_or_default())).transpose()
        };
        keys.filter_map(|key| key.map_or_else(|error| Some(Err(error)), row)).collect()
    }

    fn last_run_event(&self, run_id: &str) -> Result<u64, StoreError> {
        let key = run_key(run_id)?;
        if self.db().get(Table::Runs, &key)?.is_none() {
            return Err(StoreError::UnknownRun(run_id.to_owned()));
        }
        let last = self.db().scan_back(Table::RunEvents, key.prefix().bytes(), None).next().transpose()?;
        Ok(last.and_then(|(key, _)| trailing_number(&key)).unwrap_or(0))
    }
}

/// Writes a run and keeps its indexes true.
pub(crate) fn put_run(tx: &Tx<'_>, run: &RunRow) -> TxResult<()> {
    let key = run_key(&run.id)?;
    tx.put_row(Table::Runs, &key, run)?;
    tx.put(Table::RunsByAgent, &by_agent_key(&run.agent, &run.id)?, b"null")?;
    if run.status.is_final() {
        tx.remove(Table::RunsOpen, &key).map(drop)
    } else {
        tx.put(Table::RunsOpen, &key, b"null")
    }
}

pub(crate) fn run_key(run_id: &str) -> Result<Key, StoreError> {
    Key::name("the run id", run_id)
}

pub(crate) fn event_key(run_id: &str, seq: u64) -> Result<Key, StoreError> {
    Ok(run_key(run_id)?.and_number(seq))
}

pub(crate) fn by_agent_key(agent: &str, run_id: &str) -> Result<Key, StoreError> {
    Key::name("the agent's name", agent)?.and_name("the run id", run_id)
}
