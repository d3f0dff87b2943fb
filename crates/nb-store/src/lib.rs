//! The embedded store: everything the daemon must still know after `kill -9`.
//!
//! Agents and the serials of their packages, the key-value data of tools, runs and their records, the ledger
//! of what was started by which schedule slot, delivery or event, the event log, the inbox. This crate is the
//! only place that knows the database (sled 0.34); every value is JSON, and keys sort in the order in which
//! they are listed.
//!
//! # Layout
//! - [`Store`] (`store.rs`): opening, [`Store::commit`], watching; the tables add their methods to it.
//! - `rows.rs`: what a row of each table holds.
//! - `error.rs`: [`StoreError`].
//! - `agents.rs`, `kv.rs`, `ledger.rs`, `runs.rs`, `slots.rs`, `deliveries.rs`, `events.rs`, `inbox.rs`,
//!   `calls.rs`, `budgets.rs`: one table, or a few that belong together, each.
//! - `retention.rs`: forgets what is old.
//! - `db.rs`: the database: tables, transactions, and values longer than a page should hold.
//! - `keys.rs`: how keys are written so that they sort.
//! - `commit.rs`: group commit.
//! - `lock.rs`, `schema.rs`, `space.rs`: one process per folder, the schema version, free disk space.
//!
//! # Invariants
//! - A write is visible at once and durable after the next [`Store::commit`]. Nobody outside is told "done"
//!   before that commit has returned.
//! - What must hold together is written in one transaction: a ledger row and the run it starts, a kv value and
//!   the total of its namespace, an agent and its highest serial, what a model's message cost and its record.
//! - A ledger key starts at most one run. Sequence numbers rise and are never given to two records on disk.
//! - After an I/O error the open store stays failed ([`Store::is_failed`]): the database keeps refusing writes
//!   even when space is free again. Opening it anew finds every committed record.
#![forbid(unsafe_code)]

mod agents;
mod budgets;
mod calls;
mod commit;
mod db;
mod deliveries;
mod error;
mod events;
mod inbox;
mod keys;
mod kv;
mod ledger;
mod lock;
mod retention;
mod rows;
mod runs;
mod schema;
mod slots;
mod space;
mod store;

pub use budgets::{Budget, Reserved, Settlement, Spending, SpendingRow};
pub use error::StoreError;
pub use kv::{KEY_CAP, NAMESPACE_CAP, VALUE_CAP};
pub use ledger::{Begun, DeliveryMark, LedgerKey, SlotKey};
pub use rows::{
    AgentRow, AgentState, DeliveryRow, EventRow, InboxRow, RunKind, RunRow, RunStatus, SerialRow, SlotRow,
};
pub use runs::RunFilter;
pub use schema::SCHEMA_VERSION;
pub use space::free_bytes;
pub use store::Store;
