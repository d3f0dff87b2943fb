//! Opening, committing and watching the store.

use std::fs::{DirBuilder, File, Permissions};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::Path;
use std::sync::{Arc, Mutex};

use chrono::{DateTime, Utc};
use tokio::sync::watch;

use crate::StoreError;
use crate::budgets::spend_all_reserved;
use crate::commit::Committer;
use crate::db::{Db, Table};
use crate::lock::FolderLock;
use crate::runs::RunCounters;
use crate::schema;

/// The store. Clones share it; the last one to go flushes and closes it.
///
/// Reads and writes are short and synchronous. Reads never wait for the disk. A transaction waits for a flush that
/// is under way, up to a few milliseconds.
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

struct Inner {
    committer: Committer,
    db: Arc<Db>,
    changes: watch::Sender<u64>,
    run_counters: RunCounters,
    /// Highest sequence number of the event log. Held while an event is written, so that readers never see a
    /// number before the one below it.
    last_event: Mutex<u64>,
    last_inbox: Mutex<u64>,
    /// Dropped last: the folder is free when everything is closed.
    _lock: FolderLock,
}

impl Store {
    /// Opens the store in `dir`, which is created for its owner alone when it is missing.
    ///
    /// # Errors
    /// [`StoreError::Locked`] when a process has it open, [`StoreError::Newer`] when a newer program wrote it,
    /// [`StoreError::Io`] and [`StoreError::Corrupt`] when it cannot be read.
    pub fn open(dir: &Path, now: DateTime<Utc>) -> Result<Self, StoreError> {
        create_private(dir)?;
        let lock = FolderLock::take(dir)?;
        let db = Arc::new(Db::open(dir)?);
        schema::settle(&db, dir, now)?;
        spend_all_reserved(&db)?;
        let committer = Committer::start(db.clone(), dir)?;
        committer.commit_blocking()?;
        sync_folder(dir)?;
        let inner = Inner {
            changes: watch::Sender::new(0),
            run_counters: RunCounters::default(),
            last_event: Mutex::new(db.last_number(Table::Events)?),
            last_inbox: Mutex::new(db.last_number(Table::Inbox)?),
            committer,
            db,
            _lock: lock,
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Returns when everything that was written before the call is on the disk. Calls that wait at the same time
    /// share one flush.
    ///
    /// # Errors
    /// [`StoreError::Io`]: what was written since the last commit may be lost. The store is failed from then on.
    pub async fn commit(&self) -> Result<(), StoreError> {
        self.inner.committer.commit().await
    }

    /// [`Store::commit`] for a thread that may block.
    ///
    /// # Errors
    /// As [`Store::commit`].
    pub fn commit_blocking(&self) -> Result<(), StoreError> {
        self.inner.committer.commit_blocking()
    }

    /// Whether the store refuses writes for good. The daemon should leave then, to be started again: opening the
    /// store anew, once there is space, finds everything that was committed.
    #[must_use]
    pub fn is_failed(&self) -> bool {
        self.inner.db.failure().is_some()
    }

    /// How many flushes there have been. Fewer than commits: they share.
    #[must_use]
    pub fn flushes(&self) -> u64 {
        self.inner.committer.flushes()
    }

    /// A number that changes whenever a run or its record, or the event log, has changed. Observers wait on it and
    /// then read what is new; one that is slow misses nothing.
    ///
    /// What they read may not be committed yet: they [`Store::commit`] before they show it outside.
    #[must_use]
    pub fn watch(&self) -> watch::Receiver<u64> {
        self.inner.changes.subscribe()
    }

    pub(crate) fn changed(&self) {
        self.inner.changes.send_modify(|count| *count = count.wrapping_add(1));
    }

    pub(crate) fn db(&self) -> &Db {
        &self.inner.db
    }

    pub(crate) fn run_counters(&self) -> &RunCounters {
        &self.inner.run_counters
    }

    pub(crate) fn last_event(&self) -> &Mutex<u64> {
        &self.inner.last_event
    }

    pub(crate) fn last_inbox(&self) -> &Mutex<u64> {
        &self.inner.last_inbox
    }
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store").field("failed", &self.is_failed()).finish_non_exhaustive()
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if let Err(error) = self.committer.stop() {
            tracing::error!(%error, "what was written since the last commit may be lost");
        }
        if !self.db.can_close() {
            self.db.leak();
        }
    }
}

fn create_private(dir: &Path) -> Result<(), StoreError> {
    let cannot = |error| StoreError::io(format!("create the folder {}", dir.display()), &error);
    DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(cannot)?;
    std::fs::set_permissions(dir, Permissions::from_mode(0o700)).map_err(cannot)
}

/// Makes the names of new files durable; syncing a file does not sync the folder that it was created in.
fn sync_folder(dir: &Path) -> Result<(), StoreError> {
    let synced = File::open(dir).and_then(|dir| dir.sync_all());
    synced.map_err(|error| StoreError::io(format!("sync the folder {}", dir.display()), &error))?;
    let Some(parent) = dir.parent().filter(|parent| !parent.as_os_str().is_empty()) else { return Ok(()) };
    // The parent may belong to somebody else, and is not ours to insist on.
    if let Err(error) = File::open(parent).and_then(|dir| dir.sync_all()) {
        tracing::debug!(%error, parent = %parent.display(), "could not sync the parent folder");
    }
    Ok(())
}
