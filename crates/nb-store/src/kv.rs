//! The key-value data of tools, in namespaces.

use serde_json::Value;

use crate::db::{Table, Tx, TxResult, decode, encode};
use crate::keys::{Key, check_text};
use crate::{Store, StoreError};

/// Longest kv key, in bytes.
pub const KEY_CAP: usize = 512;
/// Largest kv value as JSON, in bytes.
pub const VALUE_CAP: u64 = 1 << 20;
/// What the keys and values of one namespace may occupy together, in bytes.
pub const NAMESPACE_CAP: u64 = 64 << 20;

/// A checked namespace and key.
struct Entry<'a> {
    namespace: &'a str,
    key: &'a str,
    row: Key,
    total: Key,
}

impl<'a> Entry<'a> {
    fn new(namespace: &'a str, key: &'a str) -> Result<Self, StoreError> {
        let total = Key::name("the namespace", namespace)?;
        let row = total.clone().and_text("the key", key, KEY_CAP)?;
        Ok(Self { namespace, key, row, total })
    }

    /// The value as JSON, if it is not too large.
    fn encode(&self, value: &Value) -> Result<Vec<u8>, StoreError> {
        let bytes = encode(value)?;
        let size = bytes.len() as u64;
        if size > VALUE_CAP {
            let (namespace, key) = (self.namespace.to_owned(), self.key.to_owned());
            return Err(StoreError::ValueTooLarge { namespace, key, size, cap: VALUE_CAP });
        }
        Ok(bytes)
    }

    fn get(&self, tx: &Tx<'_>) -> TxResult<Option<Value>> {
        tx.row(Table::Kv, &self.row)
    }

    fn put(&self, tx: &Tx<'_>, value: &[u8]) -> TxResult<()> {
        let key_size = self.key.len() as u64;
        let old = tx.get(Table::Kv, &self.row)?.map_or(0, |old| key_size + old.len() as u64);
        let total: u64 = tx.row(Table::KvTotals, &self.total)?.unwrap_or(0);
        let size = total.saturating_sub(old) + key_size + value.len() as u64;
        // Shrinking is allowed at any size, so that a namespace can always be brought back below the limit.
        if size > NAMESPACE_CAP && size > total {
            let (namespace, key) = (self.namespace.to_owned(), self.key.to_owned());
            return Err(StoreError::NamespaceFull { namespace, key, size, cap: NAMESPACE_CAP }.into());
        }
        tx.put(Table::Kv, &self.row, value)?;
        tx.put_row(Table::KvTotals, &self.total, &size)
    }

    fn delete(&self, tx: &Tx<'_>) -> TxResult<bool> {
        delete_row(tx, &self.row, &self.total, self.key.len())
    }
}

/// Removes a row and takes it off the total of its namespace.
fn delete_row(tx: &Tx<'_>, row: &Key, total: &Key, key_len: usize) -> TxResult<bool> {
    let Some(old) = tx.get(Table::Kv, row)? else { return Ok(false) };
    tx.remove(Table::Kv, row)?;
    let size: u64 = tx.row(Table::KvTotals, total)?.unwrap_or(0);
    match size.saturating_sub((key_len + old.len()) as u64) {
        0 => tx.remove(Table::KvTotals, total).map(drop)?,
        size => tx.put_row(Table::KvTotals, total, &size)?,
    }
    Ok(true)
}

impl Store {
    /// A value.
    ///
    /// # Errors
    /// A namespace or key that is empty, too long or contains NUL, [`StoreError::Io`] or [`StoreError::Corrupt`].
    /// This holds for all methods of kv.
    pub fn kv_get(&self, namespace: &str, key: &str) -> Result<Option<Value>, StoreError> {
        self.db().row(Table::Kv, &Entry::new(namespace, key)?.row)
    }

    /// Writes a value.
    ///
    /// # Errors
    /// [`StoreError::ValueTooLarge`] or [`StoreError::NamespaceFull`]; nothing is written then.
    pub fn kv_set(&self, namespace: &str, key: &str, value: &Value) -> Result<(), StoreError> {
        let entry = Entry::new(namespace, key)?;
        let bytes = entry.encode(value)?;
        self.db().transact("write a kv value", |tx| entry.put(tx, &bytes))
    }

    /// Removes a value; says whether there was one.
    ///
    /// # Errors
    /// As [`Store::kv_get`].
    pub fn kv_delete(&self, namespace: &str, key: &str) -> Result<bool, StoreError> {
        let entry = Entry::new(namespace, key)?;
        self.db().transact("remove a kv value", |tx| entry.delete(tx))
    }

    /// The values whose keys begin with `prefix` and come after `after`, by key, at most `limit`.
    ///
    /// # Errors
    /// As [`Store::kv_get`].
    pub fn kv_list(
        &self,
        namespace: &str,
        prefix: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<(String, Value)>, StoreError> {
        if !prefix.is_empty() {
            check_text("the prefix", prefix, KEY_CAP)?;
        }
        let name = Key::name("the namespace", namespace)?;
        // One that comes before all of them leaves nothing out.
        let after = after.filter(|after| *after >= prefix && !after.is_empty());
        let after =
            after.map(|after| name.clone().and_text("the key to go on after", after, KEY_CAP)).transpose()?;
        let below = name.prefix();
        let start = [below.bytes(), prefix.as_bytes()].concat();
        let rows = self.db().scan(Table::Kv, &start, after.as_ref());
        rows.take(limit)
            .map(|row| {
                let (row, bytes) = row?;
                let key = row.get(below.bytes().len()..).unwrap_or_default();
                Ok((String::from_utf8_lossy(key).into_owned(), decode(Table::Kv, &row, &bytes)?))
            })
            .collect()
    }

    /// Adds `by` to a whole number, atomically, and returns the sum. A missing value counts as 0.
    ///
    /// # Errors
    /// [`StoreError::NotAnInteger`] or [`StoreError::Overflow`]; the value stays as it was.
    pub fn kv_increment(&self, namespace: &str, key: &str, by: i64) -> Result<i64, StoreError> {
        let entry = Entry::new(namespace, key)?;
        self.db().transact("increment a kv value", |tx| {
            let value = match entry.get(tx)? {
                None => 0,
                Some(value) => value.as_i64().ok_or_else(|| StoreError::NotAnInteger {
                    namespace: namespace.to_owned(),
                    key: key.to_owned(),
                })?,
            };
            let sum = value.checked_add(by).ok_or_else(|| StoreError::Overflow {
                namespace: namespace.to_owned(),
                key: key.to_owned(),
                value,
                by,
            })?;
            entry.put(tx, &encode(&sum)?)?;
            Ok(sum)
        })
    }

    /// Replaces a value, atomically, if it is `expected` (none: if there is none); says whether it did. `new` of
    /// none removes it.
    ///
    /// # Errors
    /// As [`Store::kv_set`].
    pub fn kv_compare_and_set(
        &self,
        namespace: &str,
        key: &str,
        expected: Option<&Value>,
        new: Option<&Value>,
    ) -> Result<bool, StoreError> {
        let entry = Entry::new(namespace, key)?;
        let bytes = new.map(|value| entry.encode(value)).transpose()?;
        self.db().transact("write a kv value", |tx| {
            if entry.get(tx)?.as_ref() != expected {
                return Ok(false);
            }
            match &bytes {
                Some(bytes) => entry.put(tx, bytes)?,
                None => entry.delete(tx).map(drop)?,
            }
            Ok(true)
        })
    }

    /// Removes everything in a namespace.
    pub(crate) fn kv_clear(&self, namespace: &str) -> Result<(), StoreError> {
        let total = Key::name("the namespace", namespace)?;
        let below = total.clone().prefix();
        self.db().remove_in_batches("remove the data of an agent", Table::Kv, below.bytes(), |tx, row| {
            let key_len = row.bytes().len().saturating_sub(below.bytes().len());
            delete_row(tx, row, &total, key_len).map(drop)
        })
    }
}
