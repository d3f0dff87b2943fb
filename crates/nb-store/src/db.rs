//! The database: tables, transactions, and values longer than a page should hold.
//!
//! A value up to [`INLINE`] bytes stands in its row. A longer one is cut into parts in a table of their own and the
//! row holds a pointer. The database would otherwise write a page with such values to a file beside its log
//! (above a quarter of a segment), which `flush` does not sync and whose failure on a full disk leaves the log
//! waiting for ever; with parts, no page comes near that size.

use std::fmt::Display;
use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use serde::Serialize;
use serde::de::DeserializeOwned;
use sled::IVec;
use sled::transaction::{
    ConflictableTransactionError, ConflictableTransactionResult, TransactionError, Transactional,
    TransactionalTree,
};

use crate::StoreError;
use crate::keys::{Key, trailing_number};
use crate::lock::patiently;

/// Longest value in a row, in bytes. A leaf holds about 20 rows at most: 20 × (4 KiB + key) is well below the
/// 256 KiB at which a page leaves the log.
const INLINE: usize = 4096;

/// Length of a part, in bytes. The database looks at the size of its cache only once in 64 accesses to each of 256
/// shards, so it may hold 16,384 parts more than it was told. Reading 40 values of 1 MB grew the process by 50 MB with
/// parts of 4 KiB and by 20 MB with these; reading one takes 1.6 ms instead of 0.6.
const PART: usize = 1024;

/// Rows that one transaction removes at most.
pub(crate) const BATCH: usize = 500;

/// First byte of a row that points to parts. No JSON text begins with it.
const POINTER: u8 = 0;

macro_rules! tables {
    ($($variant:ident = $name:literal),* $(,)?) => {
        /// The tables.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Table { $($variant),* }

        impl Table {
            pub(crate) const ALL: &[Table] = &[$(Table::$variant),*];

            pub(crate) fn name(self) -> &'static str {
                match self { $(Table::$variant => $name),* }
            }
        }
    };
}

tables! {
    Meta = "meta",
    Parts = "parts",
    Agents = "agents",
    Serials = "serials",
    Kv = "kv",
    KvTotals = "kv_totals",
    Runs = "runs",
    RunsByAgent = "runs_by_agent",
    RunsOpen = "runs_open",
    RunEvents = "run_events",
    Slots = "slots",
    Deliveries = "deliveries",
    DeliveriesByTime = "deliveries_by_time",
    Events = "events",
    Cursors = "cursors",
    Inbox = "inbox",
    Calls = "calls",
    Spending = "spending",
}

pub(crate) type TxResult<T> = ConflictableTransactionResult<T, StoreError>;

impl From<StoreError> for ConflictableTransactionError<StoreError> {
    fn from(error: StoreError) -> Self {
        Self::Abort(error)
    }
}

pub(crate) struct Db {
    sled: sled::Db,
    /// In the order of [`Table::ALL`].
    trees: Vec<sled::Tree>,
    /// Held by each transaction, and by the committer while it flushes.
    ///
    /// A flush holds the shared side of the database's own lock until the disk has answered, and a transaction
    /// takes the exclusive side. A transaction that waited *there* would make every reader behind it wait as
    /// well; waiting here it stands in nobody's way.
    gate: Mutex<()>,
    next_part: AtomicU64,
    /// Counts writes, so that a commit with nothing new to flush is free.
    writes: AtomicU64,
    failure: OnceLock<StoreError>,
}

impl Db {
    /// Opens the database files in `dir`.
    pub(crate) fn open(dir: &Path) -> Result<Self, StoreError> {
        let config = sled::Config::new()
            .path(dir)
            // The default is 1 GiB. The tables that are read often (agents, ledger, kv totals) fit in this, and the
            // idle daemon has 40 MB for everything.
            .cache_capacity(8 << 20)
            // Twice the default: keeps pages of up to 256 KiB inside the log, see `keys::NAME_CAP`.
            .segment_size(1 << 20)
            // This thread is also the only one that cleans up old log segments; without it the file grows without
            // end. What nobody commits (a log line) reaches the disk within this time.
            .flush_every_ms(Some(500));
        // Its recovery asserts what it expects of the files, so damaged ones can end in a panic.
        let open = AssertUnwindSafe(|| patiently(|| config.open(), is_held));
        let opened = std::panic::catch_unwind(open)
            .map_err(|_| damaged(dir, "the database gave up while reading its log"))?;
        let sled = opened.map_err(|error| open_error(dir, error))?;
        let trees = Table::ALL
            .iter()
            .map(|table| sled.open_tree(table.name()).map_err(|error| open_error(dir, error)))
            .collect::<Result<Vec<_>, _>>()?;
        let db = Self {
            sled,
            trees,
            gate: Mutex::new(()),
            next_part: AtomicU64::new(0),
            writes: AtomicU64::new(0),
            failure: OnceLock::new(),
        };
        // A part's key begins with the id of its value. The id may be given again once the last value with parts
        // is gone: nothing refers to it by then.
        let last = db.last_key(Table::Parts)?.and_then(|key| key.first_chunk::<8>().copied());
        db.next_part.store(last.map_or(0, |id| u64::from_be_bytes(id) + 1), Ordering::Relaxed);
        Ok(db)
    }

    /// Copies every table into a new store in `dir`, also such as this version does not know.
    pub(crate) fn copy_to(&self, dir: &Path) -> Result<(), StoreError> {
        let doing = "copy the store";
        let copy = sled::Config::new()
            .path(dir)
            .segment_size(1 << 20)
            .open()
            .map_err(|error| self.failed(doing, error))?;
        for name in self.sled.tree_names() {
            let from = self.sled.open_tree(&name).map_err(|error| self.failed(doing, error))?;
            let to = copy.open_tree(&name).map_err(|error| self.failed(doing, error))?;
            for row in &from {
                let (key, value) = row.map_err(|error| self.failed(doing, error))?;
                to.insert(key, value).map_err(|error| self.failed(doing, error))?;
            }
        }
        copy.flush().map_err(|error| self.failed(doing, error))?;
        let synced = std::fs::File::open(dir.join("db")).and_then(|file| file.sync_all());
        synced.map_err(|error| StoreError::io(doing, &error))
    }

    /// Hands what was written to the operating system and waits for it. Not enough for a power cut, see
    /// `commit.rs`.
    pub(crate) fn flush(&self) -> Result<(), StoreError> {
        let _gate = lock(&self.gate);
        self.sled.flush().map(drop).map_err(|error| self.failed("write to the disk", error))
    }

    /// A write outside of any transaction: wakes a flush that waits for a write that has failed.
    pub(crate) fn nudge(&self) -> Result<(), StoreError> {
        self.insert(Table::Meta, &Key::name("row", "nudge")?, b"null")
    }

    pub(crate) fn write_count(&self) -> u64 {
        self.writes.load(Ordering::Acquire)
    }

    /// Why the database refuses writes for good, if it does.
    pub(crate) fn failure(&self) -> Option<StoreError> {
        if let Err(error) = self.sled.context.global_error() {
            return Some(self.failed("write to the disk", error));
        }
        self.failure.get().cloned()
    }

    /// Remembers an error after which nothing may be acknowledged any more.
    pub(crate) fn fail(&self, error: StoreError) -> StoreError {
        self.failure.get_or_init(|| {
            tracing::error!(%error, "the store has failed and must be opened anew");
            error.clone()
        });
        error
    }

    /// Whether dropping the database ends. Its destructor returns at once after an error it knows of and flushes
    /// otherwise, which must not be tried after a failed sync (it panics on the next failure).
    pub(crate) fn can_close(&self) -> bool {
        self.sled.context.global_error().is_err() || self.failure.get().is_none()
    }

    /// Keeps the files open for ever, for a database that cannot be closed.
    pub(crate) fn leak(&self) {
        std::mem::forget(self.sled.clone());
    }

    /// Several reads and writes that happen as one. Other transactions wait; nothing that `body` writes is seen
    /// when it fails.
    pub(crate) fn transact<A>(
        &self,
        doing: &'static str,
        body: impl Fn(&Tx<'_>) -> TxResult<A>,
    ) -> Result<A, StoreError> {
        let _gate = lock(&self.gate);
        let done = self.trees.as_slice().transaction(|trees| body(&Tx { db: self, trees }));
        self.writes.fetch_add(1, Ordering::Release);
        done.map_err(|error| match error {
            TransactionError::Abort(error) => error,
            TransactionError::Storage(error) => self.failed(doing, error),
        })
    }

    /// Writes one row that is not there yet, or whose present value is short. Short values do without a
    /// transaction, so many of them share one write to the disk.
    pub(crate) fn insert(&self, table: Table, key: &Key, value: &[u8]) -> Result<(), StoreError> {
        if value.len() > INLINE {
            return self.transact("write a row", |tx| tx.put(table, key, value));
        }
        self.tree(table)
            .insert(key.bytes(), value)
            .map_err(|error| self.failed(format!("write to {}", table.name()), error))?;
        self.writes.fetch_add(1, Ordering::Release);
        Ok(())
    }

    /// Replaces a short row if it still holds `old`; says whether it did.
    pub(crate) fn replace(
        &self,
        table: Table,
        key: &Key,
        old: Option<&[u8]>,
        new: &[u8],
    ) -> Result<bool, StoreError> {
        let swapped = self
            .tree(table)
            .compare_and_swap(key.bytes(), old, Some(new))
            .map_err(|error| self.failed(format!("write to {}", table.name()), error))?;
        self.writes.fetch_add(1, Ordering::Release);
        Ok(swapped.is_ok())
    }

    pub(crate) fn get(&self, table: Table, key: &Key) -> Result<Option<IVec>, StoreError> {
        self.get_bytes(table, key.bytes())
    }

    /// A row as the type that its table holds.
    pub(crate) fn row<T: DeserializeOwned>(&self, table: Table, key: &Key) -> Result<Option<T>, StoreError> {
        self.get(table, key)?.map(|bytes| decode(table, key.bytes(), &bytes)).transpose()
    }

    /// The rows whose keys begin with `prefix` and come after `after`, in the order of keys.
    pub(crate) fn scan(
        &self,
        table: Table,
        prefix: &[u8],
        after: Option<&Key>,
    ) -> impl Iterator<Item = Result<(IVec, IVec), StoreError>> {
        let start = after.map_or_else(|| prefix.to_vec(), |key| next(key.bytes()));
        let prefix = prefix.to_vec();
        let rows = self.tree(table).range(start..);
        let rows = rows.take_while(move |row| row.as_ref().map_or(true, |(key, _)| key.starts_with(&prefix)));
        self.resolve(table, rows)
    }

    /// The rows whose keys begin with `prefix` and come before `before`, last first.
    pub(crate) fn scan_back(
        &self,
        table: Table,
        prefix: &[u8],
        before: Option<&Key>,
    ) -> impl Iterator<Item = Result<(IVec, IVec), StoreError>> {
        let rows = match before.map(|key| key.bytes().to_vec()).or_else(|| successor(prefix)) {
            Some(end) => self.tree(table).range(..end),
            None => self.tree(table).range::<&[u8], _>(..),
        };
        let prefix = prefix.to_vec();
        let rows =
            rows.rev().take_while(move |row| row.as_ref().map_or(true, |(key, _)| key.starts_with(&prefix)));
        self.resolve(table, rows)
    }

    /// The rows of a scan as the type that the table holds.
    pub(crate) fn rows<T: DeserializeOwned>(
        table: Table,
        rows: impl Iterator<Item = Result<(IVec, IVec), StoreError>>,
    ) -> Result<Vec<T>, StoreError> {
        rows.map(|row| row.and_then(|(key, bytes)| decode(table, &key, &bytes))).collect()
    }

    /// The first keys that begin with `prefix`, at most `limit`.
    pub(crate) fn keys(&self, table: Table, prefix: &[u8], limit: usize) -> Result<Vec<Key>, StoreError> {
        let rows = self.scan(table, prefix, None).take(limit);
        rows.map(|row| row.map(|(key, _)| Key::stored(&key))).collect()
    }

    /// All keys of a table in their order, without a look at the values.
    pub(crate) fn all_keys(&self, table: Table) -> impl Iterator<Item = Result<Key, StoreError>> {
        let keys = self.tree(table).iter().keys();
        keys.map(move |key| {
            key.map(|key| Key::stored(&key))
                .map_err(|error| self.failed(format!("read {}", table.name()), error))
        })
    }

    /// How many rows a table has.
    pub(crate) fn count(&self, table: Table) -> Result<usize, StoreError> {
        self.all_keys(table).try_fold(0, |count, key| key.map(|_| count + 1))
    }

    /// Removes rows in their order, in transactions that are short enough for others to get between them, and says
    /// how many there were.
    pub(crate) fn remove_rows(
        &self,
        doing: &'static str,
        mut rows: impl Iterator<Item = Result<(Table, Key), StoreError>>,
    ) -> Result<usize, StoreError> {
        let mut removed = 0;
        loop {
            let batch = rows.by_ref().take(BATCH).collect::<Result<Vec<_>, _>>()?;
            if batch.is_empty() {
                return Ok(removed);
            }
            self.transact(doing, |tx| {
                batch.iter().try_for_each(|(table, key)| tx.remove(*table, key).map(drop))
            })?;
            removed += batch.len();
        }
    }

    /// Removes all rows whose keys begin with `prefix`, in transactions that are short enough for others to get
    /// between them. `remove` must remove the row of the key that it is given.
    pub(crate) fn remove_in_batches(
        &self,
        doing: &'static str,
        table: Table,
        prefix: &[u8],
        remove: impl Fn(&Tx<'_>, &Key) -> TxResult<()>,
    ) -> Result<(), StoreError> {
        loop {
            let batch = self.keys(table, prefix, BATCH)?;
            if batch.is_empty() {
                return Ok(());
            }
            self.transact(doing, |tx| batch.iter().try_for_each(|key| remove(tx, key)))?;
        }
    }

    /// The number that ends the last key of a table: the highest sequence number in it.
    pub(crate) fn last_number(&self, table: Table) -> Result<u64, StoreError> {
        Ok(self.last_key(table)?.as_deref().and_then(trailing_number).unwrap_or(0))
    }

    fn last_key(&self, table: Table) -> Result<Option<IVec>, StoreError> {
        let last = self.tree(table).last();
        Ok(last.map_err(|error| self.failed(format!("read {}", table.name()), error))?.map(|(key, _)| key))
    }

    fn tree(&self, table: Table) -> &sled::Tree {
        &self.trees[table as usize]
    }

    fn get_bytes(&self, table: Table, key: &[u8]) -> Result<Option<IVec>, StoreError> {
        loop {
            let row = self.tree(table).get(key);
            let row = row.map_err(|error| self.failed(format!("read {}", table.name()), error))?;
            let Some(row) = row else { return Ok(None) };
            match self.assemble(table, key, row.clone()) {
                // A part that is missing because the row was replaced between the two reads is no damage. The id
                // of a value is not given twice while the store is open, so an unchanged row is.
                Err(error @ StoreError::Corrupt { .. }) => {
                    let now = self.tree(table).get(key);
                    if now.map_err(|error| self.failed(format!("read {}", table.name()), error))? == Some(row)
                    {
                        return Err(error);
                    }
                }
                done => return done.map(Some),
            }
        }
    }

    fn assemble(&self, table: Table, key: &[u8], row: IVec) -> Result<IVec, StoreError> {
        if row.first() != Some(&POINTER) {
            return Ok(row);
        }
        let (id, count) = pointer(table, key, &row)?;
        let mut value = Vec::with_capacity(count as usize * PART);
        for index in 0..count {
            let part = self.tree(Table::Parts).get(part_key(id, index));
            match part.map_err(|error| self.failed("read a long value", error))? {
                Some(part) => value.extend_from_slice(&part),
                None => return Err(corrupt(table, key, "a part of its value is missing")),
            }
        }
        Ok(value.into())
    }

    fn resolve(
        &self,
        table: Table,
        rows: impl Iterator<Item = sled::Result<(IVec, IVec)>>,
    ) -> impl Iterator<Item = Result<(IVec, IVec), StoreError>> {
        rows.filter_map(move |row| match row {
            Ok((key, value)) if value.first() == Some(&POINTER) => {
                let value = self.get_bytes(table, &key);
                value.transpose().map(|value| value.map(|value| (key, value)))
            }
            Ok(row) => Some(Ok(row)),
            Err(error) => Some(Err(self.failed(format!("read {}", table.name()), error))),
        })
    }

    fn failed(&self, doing: impl Into<String>, error: sled::Error) -> StoreError {
        self.fail(StoreError::io(doing, &error.into()))
    }
}

/// The view of a transaction: reads what it has written.
pub(crate) struct Tx<'a> {
    db: &'a Db,
    trees: &'a [TransactionalTree],
}

impl Tx<'_> {
    pub(crate) fn get(&self, table: Table, key: &Key) -> TxResult<Option<IVec>> {
        let Some(row) = self.tree(table).get(key.bytes())? else { return Ok(None) };
        if row.first() != Some(&POINTER) {
            return Ok(Some(row));
        }
        let (id, count) = pointer(table, key.bytes(), &row)?;
        let mut value = Vec::with_capacity(count as usize * PART);
        for index in 0..count {
            match self.tree(Table::Parts).get(part_key(id, index))? {
                Some(part) => value.extend_from_slice(&part),
                None => return Err(corrupt(table, key.bytes(), "a part of its value is missing").into()),
            }
        }
        Ok(Some(value.into()))
    }

    pub(crate) fn row<T: DeserializeOwned>(&self, table: Table, key: &Key) -> TxResult<Option<T>> {
        match self.get(table, key)? {
            Some(bytes) => Ok(Some(decode(table, key.bytes(), &bytes)?)),
            None => Ok(None),
        }
    }

    pub(crate) fn put(&self, table: Table, key: &Key, value: &[u8]) -> TxResult<()> {
        if value.len() <= INLINE {
            let old = self.tree(table).insert(key.bytes(), value)?;
            return self.forget_parts(table, key, old);
        }
        let id = self.db.next_part.fetch_add(1, Ordering::Relaxed);
        let mut count = 0u32;
        for part in value.chunks(PART) {
            self.tree(Table::Parts).insert(&part_key(id, count), part)?;
            count += 1;
        }
        let mut row = vec![POINTER];
        row.extend_from_slice(&id.to_be_bytes());
        row.extend_from_slice(&count.to_be_bytes());
        let old = self.tree(table).insert(key.bytes(), row)?;
        self.forget_parts(table, key, old)
    }

    pub(crate) fn put_row(&self, table: Table, key: &Key, row: &impl Serialize) -> TxResult<()> {
        self.put(table, key, &encode(row)?)
    }

    /// Removes a row; says whether there was one.
    pub(crate) fn remove(&self, table: Table, key: &Key) -> TxResult<bool> {
        let old = self.tree(table).remove(key.bytes())?;
        let existed = old.is_some();
        self.forget_parts(table, key, old)?;
        Ok(existed)
    }

    fn forget_parts(&self, table: Table, key: &Key, old: Option<IVec>) -> TxResult<()> {
        if let Some(old) = old.filter(|old| old.first() == Some(&POINTER)) {
            let (id, count) = pointer(table, key.bytes(), &old)?;
            for index in 0..count {
                self.tree(Table::Parts).remove(&part_key(id, index))?;
            }
        }
        Ok(())
    }

    fn tree(&self, table: Table) -> &TransactionalTree {
        &self.trees[table as usize]
    }
}

/// Locks, also after a thread that held the lock panicked: what it guards is never left half-changed.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn encode(row: &impl Serialize) -> Result<Vec<u8>, StoreError> {
    serde_json::to_vec(row).map_err(|error| StoreError::io("write a row as JSON", &error.into()))
}

pub(crate) fn decode<T: DeserializeOwned>(table: Table, key: &[u8], bytes: &[u8]) -> Result<T, StoreError> {
    serde_json::from_slice(bytes).map_err(|error| corrupt(table, key, error))
}

pub(crate) fn corrupt(table: Table, key: &[u8], reason: impl Display) -> StoreError {
    let key = key.escape_ascii().to_string();
    StoreError::Corrupt { table: table.name(), key, reason: reason.to_string() }
}

fn pointer(table: Table, key: &[u8], row: &[u8]) -> Result<(u64, u32), StoreError> {
    let id = row.get(1..9).and_then(|bytes| bytes.try_into().ok()).map(u64::from_be_bytes);
    let count = row.get(9..13).and_then(|bytes| bytes.try_into().ok()).map(u32::from_be_bytes);
    id.zip(count).ok_or_else(|| corrupt(table, key, "its pointer to a long value is cut off"))
}

fn part_key(id: u64, index: u32) -> [u8; 12] {
    let mut key = [0; 12];
    key[..8].copy_from_slice(&id.to_be_bytes());
    key[8..].copy_from_slice(&index.to_be_bytes());
    key
}

/// The smallest key after `key`.
fn next(key: &[u8]) -> Vec<u8> {
    let mut next = key.to_vec();
    next.push(0);
    next
}

/// The smallest key after all that begin with `prefix`; none when there is no such key.
fn successor(prefix: &[u8]) -> Option<Vec<u8>> {
    let end = prefix.iter().rposition(|byte| *byte != u8::MAX)?;
    let mut successor = prefix.get(..=end)?.to_vec();
    *successor.last_mut()? += 1;
    Some(successor)
}

/// Whether another process has the database's own file locked. It says so in words only.
fn is_held(error: &sled::Error) -> bool {
    matches!(error, sled::Error::Io(error) if error.to_string().starts_with("could not acquire lock"))
}

fn open_error(dir: &Path, error: sled::Error) -> StoreError {
    match error {
        error if is_held(&error) => StoreError::Locked { dir: dir.to_owned(), pid: None },
        sled::Error::Corruption { .. } => damaged(dir, "its log does not match its checksums"),
        error => StoreError::io(format!("open the store in {}", dir.display()), &error.into()),
    }
}

fn damaged(dir: &Path, reason: &str) -> StoreError {
    StoreError::Corrupt { table: "log", key: dir.display().to_string(), reason: reason.to_owned() }
}
