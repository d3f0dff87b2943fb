//! What can go wrong in the store.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// An error of the store. It can be cloned because one failed flush answers many waiting commits.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum StoreError {
    /// Another process has the folder open.
    #[error("the store in {} is in use{}: stop that daemon first, or choose another folder", dir.display(), by_process(*pid))]
    Locked {
        /// The folder of the store.
        dir: PathBuf,
        /// The process that holds it, when it could be read.
        pid: Option<u32>,
    },
    /// The store was written by a newer program.
    #[error(
        "the store has schema version {found} and this program supports versions up to {supported}: update the program, or restore a backup"
    )]
    Newer {
        /// The version in the store.
        found: u64,
        /// The newest version that this program understands.
        supported: u64,
    },
    /// The disk or the database refused.
    #[error("cannot {doing}: {reason}{}", hint(*kind))]
    Io {
        /// What was being done, as the rest of a sentence ("write a run").
        doing: String,
        /// The kind of the system's error; `StorageFull` when the disk is full.
        kind: io::ErrorKind,
        /// The system's own words.
        reason: String,
    },
    /// A stored row cannot be read back.
    #[error("the row {key} of table {table} is damaged: {reason}; restore the store from a backup")]
    Corrupt {
        /// The table.
        table: &'static str,
        /// The key, unprintable bytes escaped.
        key: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A name or key is empty or too long.
    #[error("{what} has {length} bytes; it must have 1 to {cap}")]
    KeyLength {
        /// Which part of the key.
        what: &'static str,
        /// Its length in bytes.
        length: usize,
        /// The longest that is allowed, in bytes.
        cap: usize,
    },
    /// A name or key contains a NUL byte, which separates the parts of a stored key.
    #[error("{what} contains a NUL byte: remove it")]
    KeyNul {
        /// Which part of the key.
        what: &'static str,
    },
    /// A kv value is too large.
    #[error(
        "the value of {key:?} in {namespace:?} has {size} bytes as JSON; the limit for a value is {cap} bytes"
    )]
    ValueTooLarge {
        /// The namespace.
        namespace: String,
        /// The key.
        key: String,
        /// Length of the value as JSON, in bytes.
        size: u64,
        /// The limit, in bytes.
        cap: u64,
    },
    /// A kv namespace would grow past its limit.
    #[error(
        "writing {key:?} would grow the data of {namespace:?} to {size} bytes; the limit for a namespace is {cap} bytes: delete keys first"
    )]
    NamespaceFull {
        /// The namespace.
        namespace: String,
        /// The key that was to be written.
        key: String,
        /// What keys and values would occupy, in bytes.
        size: u64,
        /// The limit, in bytes.
        cap: u64,
    },
    /// A kv value that is no whole number was to be incremented.
    #[error(
        "the value of {key:?} in {namespace:?} is not a whole number within 64 bits, so it cannot be incremented"
    )]
    NotAnInteger {
        /// The namespace.
        namespace: String,
        /// The key.
        key: String,
    },
    /// An increment would leave the range of a signed 64-bit number.
    #[error("{value} + {by} does not fit in 64 bits, so {key:?} in {namespace:?} was left as it is")]
    Overflow {
        /// The namespace.
        namespace: String,
        /// The key.
        key: String,
        /// The stored number.
        value: i64,
        /// The increment.
        by: i64,
    },
    /// No such run.
    #[error("there is no run {0}")]
    UnknownRun(String),
    /// A run was begun under an id that is taken.
    #[error("a run {0} exists already: begin each run under a new id")]
    RunExists(String),
}

impl StoreError {
    /// An I/O error with what was being done, as the rest of a sentence after "cannot".
    pub(crate) fn io(doing: impl Into<String>, error: &io::Error) -> Self {
        Self::Io { doing: doing.into(), kind: error.kind(), reason: error.to_string() }
    }
}

fn by_process(pid: Option<u32>) -> String {
    pid.map(|pid| format!(" by process {pid}")).unwrap_or_default()
}

fn hint(kind: io::ErrorKind) -> &'static str {
    match kind {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "; free some disk space, then restart the daemon"
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "; the daemon's user must be able to write there"
        }
        _ => "",
    }
}
