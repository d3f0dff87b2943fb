//! Opening, closing and committing.
#![allow(clippy::expect_used, clippy::unwrap_used, missing_docs)]

mod common;

use std::os::unix::fs::PermissionsExt;

use common::*;
use nb_store::{LedgerKey, SCHEMA_VERSION, Store, StoreError};
use serde_json::json;

#[test]
fn the_folder_is_created_for_its_owner_alone() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().join("lib").join("store");
    let store = open(&dir);
    assert_eq!(std::fs::metadata(&dir).unwrap().permissions().mode() & 0o777, 0o700);
    assert!(!store.is_failed());
    assert!(nb_store::free_bytes(&dir).unwrap() > 0);
}

#[test]
fn a_second_opening_is_refused_and_names_the_process() {
    let (dir, store) = store();
    let refused = Store::open(dir.path(), at(0)).unwrap_err();
    let expected = StoreError::Locked { dir: dir.path().to_owned(), pid: Some(std::process::id()) };
    assert_eq!(refused, expected);
    assert!(refused.to_string().contains(&format!("by process {}: stop", std::process::id())), "{refused}");
    store.put_agent(&agent("hello")).unwrap();
    drop(store);
    assert_eq!(open(dir.path()).agents().unwrap().len(), 1);
}

#[test]
fn a_store_can_be_reopened_many_times_at_once_after_it_was_dropped() {
    let dir = tempfile::tempdir().unwrap();
    for n in 1..=50 {
        let store = open(dir.path());
        assert_eq!(store.kv_increment("hello", "n", 1).unwrap(), n);
        store.begin_run(&LedgerKey::None, &run(&format!("run_{n}")), &[started()]).unwrap();
    }
}

#[test]
fn a_newer_schema_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    drop(open(dir.path()));
    let raw = sled::Config::new().path(dir.path()).segment_size(1 << 20).open().unwrap();
    let row = json!({"version": SCHEMA_VERSION + 1, "since": at(0)});
    raw.open_tree("meta").unwrap().insert("schema", row.to_string().as_bytes()).unwrap();
    drop(raw);

    let refused = Store::open(dir.path(), at(0)).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the store has schema version 2 and this program supports versions up to 1: update the program, or \
         restore a backup"
    );
}

#[test]
fn a_folder_that_cannot_be_created_is_an_error_that_names_it() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    std::fs::write(&file, "").unwrap();
    let refused = Store::open(&file.join("store"), at(0)).unwrap_err();
    assert!(
        refused.to_string().starts_with(&format!("cannot create the folder {}", file.display())),
        "{refused}"
    );
}

#[test]
fn commits_that_wait_together_share_flushes() {
    let (_dir, store) = store();
    let before = store.flushes();
    std::thread::scope(|scope| {
        for thread in 0..16 {
            let store = &store;
            scope.spawn(move || {
                for n in 0..20 {
                    store.publish(&event(&format!("{thread}.{n}"))).unwrap();
                    store.commit_blocking().unwrap();
                }
            });
        }
    });
    let flushes = store.flushes() - before;
    assert!((1..=160).contains(&flushes), "320 commits took {flushes} flushes");
    assert_eq!(store.last_event_seq(), 320);
}

#[test]
fn a_commit_with_nothing_to_write_costs_no_flush() {
    let (_dir, store) = store();
    let before = store.flushes();
    store.commit_blocking().unwrap();
    assert_eq!(store.flushes(), before);
    store.publish(&event("a")).unwrap();
    store.commit_blocking().unwrap();
    store.commit_blocking().unwrap();
    assert_eq!(store.flushes(), before + 1);
}

#[tokio::test]
async fn tasks_commit_as_threads_do() {
    let (_dir, store) = store();
    let before = store.flushes();
    let mut tasks = tokio::task::JoinSet::new();
    for n in 0..100 {
        let store = store.clone();
        tasks.spawn(async move {
            store.publish(&event(&n.to_string())).unwrap();
            store.commit().await
        });
    }
    assert!(tasks.join_all().await.into_iter().all(|committed| committed.is_ok()));
    assert!(store.flushes() - before < 50, "{} flushes", store.flushes() - before);
}
