//! The schema version: what the tables mean.

use std::path::Path;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::StoreError;
use crate::db::{Db, Table, corrupt};
use crate::keys::Key;

/// The version that this program writes.
pub const SCHEMA_VERSION: u64 = STEPS.len() as u64 + 1;

/// Each step brings a store from the version that is its place in the list, counted from 1, to the next.
/// Version 1 is the first, so the list is empty.
const STEPS: &[Step] = &[];

/// Must be safe to repeat: a crash in the middle repeats it at the next start.
type Step = fn(&Db) -> Result<(), StoreError>;

#[derive(Debug, Serialize, Deserialize)]
struct SchemaRow {
    version: u64,
    since: DateTime<Utc>,
}

/// Writes the version into a new store, refuses a newer one, and brings an older one up to date.
pub(crate) fn settle(db: &Db, dir: &Path, now: DateTime<Utc>) -> Result<(), StoreError> {
    upgrade(db, dir, now, STEPS)
}

fn upgrade(db: &Db, dir: &Path, now: DateTime<Utc>, steps: &[Step]) -> Result<(), StoreError> {
    let supported = steps.len() as u64 + 1;
    let key = Key::name("row", "schema")?;
    let Some(row) = db.row::<SchemaRow>(Table::Meta, &key)? else {
        return write(db, &key, supported, now);
    };
    if row.version > supported {
        return Err(StoreError::Newer { found: row.version, supported });
    }
    if row.version == supported {
        return Ok(());
    }
    let done = row.version.checked_sub(1).and_then(|done| usize::try_from(done).ok());
    let Some(missing) = done.and_then(|done| steps.get(done..)) else {
        return Err(corrupt(Table::Meta, key.bytes(), "there never was a schema version 0"));
    };
    let backup = dir.join(format!("backup-v{}-{}", row.version, now.format("%Y%m%dT%H%M%SZ")));
    db.copy_to(&backup)?;
    tracing::info!(from = row.version, to = supported, backup = %backup.display(), "migrating the store");
    for step in missing {
        step(db)?;
    }
    write(db, &key, supported, now)
}

fn write(db: &Db, key: &Key, version: u64, now: DateTime<Utc>) -> Result<(), StoreError> {
    db.transact("write the schema version", |tx| {
        tx.put_row(Table::Meta, key, &SchemaRow { version, since: now })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agent() -> Key {
        Key::name("agent", "hello").unwrap()
    }

    /// A stand-in for a change of the tables' meaning.
    fn rename(db: &Db) -> Result<(), StoreError> {
        db.insert(Table::Agents, &agent(), b"\"new\"")
    }

    #[test]
    fn an_older_store_is_backed_up_and_then_migrated() {
        let dir = tempfile::tempdir().unwrap();
        let db = Db::open(dir.path()).unwrap();
        let now = DateTime::from_timestamp(1_700_000_000, 0).unwrap();
        upgrade(&db, dir.path(), now, &[]).unwrap();
        db.insert(Table::Agents, &agent(), b"\"old\"").unwrap();

        upgrade(&db, dir.path(), now, &[rename]).unwrap();

        assert_eq!(db.row::<String>(Table::Agents, &agent()).unwrap().unwrap(), "new");
        let backup = Db::open(&dir.path().join("backup-v1-20231114T221320Z")).unwrap();
        assert_eq!(backup.row::<String>(Table::Agents, &agent()).unwrap().unwrap(), "old");
        let newer = upgrade(&db, dir.path(), now, &[]).unwrap_err();
        assert_eq!(newer, StoreError::Newer { found: 2, supported: 1 });
    }
}
