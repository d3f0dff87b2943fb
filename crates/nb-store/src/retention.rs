//! Forgets what is old, in transactions that are short enough for others to get between them.
//!
//! A crash on the way leaves the rest for the next time.

use std::cell::Cell;

use chrono::{DateTime, Utc};
use serde::Deserialize;

use crate::db::{Table, decode};
use crate::events::{CursorRow, unless_damaged};
use crate::keys::{Key, split_time, trailing_number};
use crate::runs::{by_agent_key, run_key};
use crate::{AgentState, RunStatus, Store, StoreError};

/// What of a run decides whether it is forgotten; its input and output may be long.
#[derive(Deserialize)]
struct RunEnd {
    id: String,
    agent: String,
    status: RunStatus,
    created_at: DateTime<Utc>,
    finished_at: Option<DateTime<Utc>>,
}

impl RunEnd {
    fn is_before(&self, at: DateTime<Utc>) -> bool {
        self.status.is_final() && self.finished_at.unwrap_or(self.created_at) < at
    }
}

/// When an event or a notification was written.
#[derive(Deserialize)]
struct Written {
    at: DateTime<Utc>,
}

impl Store {
    /// Forgets the runs that ended before `at` with their records, and returns how many there were. What they were
    /// started for stays in the ledger: it does not start again.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn forget_runs_before(&self, at: DateTime<Utc>) -> Result<usize, StoreError> {
        let forgotten = Cell::new(0);
        let rows = self.db().scan(Table::Runs, &[], None);
        let runs = rows
            .map(|row| row.and_then(|(key, bytes)| decode::<RunEnd>(Table::Runs, &key, &bytes)))
            .filter_map(unless_damaged)
            // In the order of creation, and a run ends after that.
            .take_while(|run| run.as_ref().map_or(true, |run| run.created_at < at))
            .filter(|run| run.as_ref().map_or(true, |run| run.is_before(at)));
        let rows = runs.flat_map(|run| match run.and_then(|run| self.rows_of_run(&run)) {
            Ok(rows) => {
                forgotten.set(forgotten.get() + 1);
                rows.into_iter().map(Ok).collect()
            }
            Err(error) => vec![Err(error)],
        });
        self.db().remove_rows("forget old runs", rows)?;
        Ok(forgotten.get())
    }

    /// The row of the run comes last: as long as there is something of it, it is found again.
    fn rows_of_run(&self, run: &RunEnd) -> Result<Vec<(Table, Key)>, StoreError> {
        let key = run_key(&run.id)?;
        let record = self.db().keys(Table::RunEvents, key.clone().prefix().bytes(), usize::MAX)?;
        let mut rows: Vec<_> = record.into_iter().map(|key| (Table::RunEvents, key)).collect();
        rows.push((Table::RunsByAgent, by_agent_key(&run.agent, &run.id)?));
        rows.push((Table::Runs, key));
        Ok(rows)
    }

    /// Forgets the events that were published before `at`, and returns how many there were. Those that a running
    /// agent has not read yet stay, and so does the newest: the numbers go on after it.
    ///
    /// # Errors
    /// [`StoreError::Io`], or [`StoreError::Corrupt`] for a cursor.
    pub fn forget_events_before(&self, at: DateTime<Utc>) -> Result<usize, StoreError> {
        let newest = self.last_event_seq().saturating_sub(1);
        let last = self.lowest_cursor()?.map_or(newest, |cursor| cursor.min(newest));
        self.forget_written("forget old events", Table::Events, at, last)
    }

    /// The cursors of stopped agents do not count: they move on when the agent is started.
    fn lowest_cursor(&self) -> Result<Option<u64>, StoreError> {
        let mut lowest = None;
        for row in self.db().scan(Table::Cursors, &[], None) {
            let (key, bytes) = row?;
            let cursor: CursorRow = decode(Table::Cursors, &key, &bytes)?;
            let name = String::from_utf8_lossy(&key);
            let agent = self.agent(name.split_once('/').map_or(&*name, |(agent, _)| agent))?;
            if agent.is_none_or(|agent| agent.state == AgentState::Running) {
                lowest = Some(lowest.map_or(cursor.seq, |lowest: u64| lowest.min(cursor.seq)));
            }
        }
        Ok(lowest)
    }

    /// Forgets the slots that were scheduled before `at`, and returns how many there were. The last one of each
    /// trigger stays: it says which slots are decided.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn forget_slots_before(&self, at: DateTime<Utc>) -> Result<usize, StoreError> {
        let end = Key::time(at);
        let mut keys = self.db().all_keys(Table::Slots).peekable();
        let old = std::iter::from_fn(|| {
            loop {
                let key = match keys.next()? {
                    Ok(key) => key,
                    Err(error) => return Some(Err(error)),
                };
                let next = keys.peek().and_then(|next| next.as_ref().ok());
                let next = next.and_then(|next| split_time(next.bytes()));
                let Some((trigger, time)) = split_time(key.bytes()) else { continue };
                if time < end.bytes() && next.is_some_and(|(next, _)| next == trigger) {
                    return Some(Ok((Table::Slots, key)));
                }
            }
        });
        self.db().remove_rows("forget old slots", old)
    }

    /// Forgets the notifications that were written before `at`, and returns how many there were.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn forget_inbox_before(&self, at: DateTime<Utc>) -> Result<usize, StoreError> {
        self.forget_written("forget old notifications", Table::Inbox, at, u64::MAX)
    }

    /// All rows are looked at: after a clock was set back, older ones stand after younger ones.
    fn forget_written(
        &self,
        doing: &'static str,
        table: Table,
        at: DateTime<Utc>,
        last: u64,
    ) -> Result<usize, StoreError> {
        let rows = self.db().scan(table, &[], None);
        let upto = rows.take_while(|row| {
            row.as_ref().map_or(true, |(key, _)| trailing_number(key).is_some_and(|seq| seq <= last))
        });
        let old = upto
            .map(|row| {
                let (key, bytes) = row?;
                let written: Written = decode(table, &key, &bytes)?;
                Ok((written.at, (table, Key::stored(&key))))
            })
            .filter_map(unless_damaged)
            .filter(|row| row.as_ref().map_or(true, |(written, _)| *written < at))
            .map(|row| row.map(|(_, row)| row));
        self.db().remove_rows(doing, old)
    }
}
