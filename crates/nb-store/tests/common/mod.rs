//! A store in a throw-away folder, and rows to put in it.
// Each test file uses its own part of this.
#![allow(unused, missing_docs)]

use std::path::Path;

use chrono::{DateTime, TimeDelta, Utc};
use nb_store::{
    AgentRow, AgentState, DeliveryMark, EventRow, InboxRow, LedgerKey, RunKind, RunRow, RunStatus, SerialRow,
    SlotKey, Store,
};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A second of the test's clock.
pub fn at(second: i64) -> DateTime<Utc> {
    DateTime::UNIX_EPOCH + TimeDelta::seconds(1_700_000_000 + second)
}

pub fn open(dir: &Path) -> Store {
    Store::open(dir, at(0)).unwrap()
}

pub fn store() -> (TempDir, Store) {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    (dir, store)
}

pub fn agent(name: &str) -> AgentRow {
    AgentRow {
        name: name.to_owned(),
        version: "1.0.0".to_owned(),
        serial: 1,
        digest: "sha256:00".to_owned(),
        signer: Some("key-a".to_owned()),
        permissions_requested: vec!["kv.read".to_owned(), "kv.write".to_owned()],
        grants: vec!["kv.read".to_owned()],
        state: AgentState::Running,
        state_since: at(0),
        installed_at: at(0),
        dir: "/var/lib/agents/hello".to_owned(),
    }
}

pub fn serial(name: &str, serial: u64) -> SerialRow {
    SerialRow { key_id: "key-a".to_owned(), name: name.to_owned(), serial }
}

pub fn run(id: &str) -> RunRow {
    RunRow {
        id: id.to_owned(),
        kind: RunKind::Task,
        agent: "hello".to_owned(),
        digest: "sha256:00".to_owned(),
        task: Some("greet".to_owned()),
        tool: None,
        unsandboxed: false,
        parent: None,
        actor: json!({"trigger": "daily"}),
        input: json!({"name": "Ada"}),
        status: RunStatus::Created,
        outcome: None,
        error: None,
        output: None,
        depth: 0,
        created_at: at(0),
        started_at: None,
        finished_at: None,
    }
}

pub fn event(name: &str) -> EventRow {
    EventRow {
        seq: 0,
        id: format!("id of {name}"),
        name: name.to_owned(),
        data: json!({"level": 3}),
        source: "test".to_owned(),
        at: at(0),
        depth: 0,
    }
}

pub fn notification(title: &str) -> InboxRow {
    InboxRow {
        seq: 0,
        at: at(0),
        agent: "hello".to_owned(),
        run: None,
        title: title.to_owned(),
        body: "text".to_owned(),
        priority: "normal".to_owned(),
    }
}

pub fn slot(second: i64) -> SlotKey {
    SlotKey { agent: "hello".to_owned(), trigger: "daily".to_owned(), at: at(second) }
}

pub fn delivery(id: &str, second: i64) -> LedgerKey {
    let marks = vec![DeliveryMark { id: id.to_owned(), lasts: None }];
    LedgerKey::Delivery { path: "/hook/hello".to_owned(), marks, at: at(second) }
}

pub fn wake_up(seq: u64) -> LedgerKey {
    LedgerKey::Event { subscriber: "hello/alerts".to_owned(), seq }
}

pub fn started() -> Value {
    json!({"type": "started"})
}
