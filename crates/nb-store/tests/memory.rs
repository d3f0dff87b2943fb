//! The daemon idles within 40 MB; the store must leave room for the rest of it.
#![allow(clippy::expect_used, clippy::unwrap_used, missing_docs)]

mod common;

use std::path::Path;
use std::process::Command;

use common::*;
use serde_json::json;

/// Where the measured process finds a store; unset in an ordinary run of the tests.
const DIR: &str = "NB_STORE_MEMORY_DIR";
const VALUES: usize = 40;

/// Resident memory of this process, in KiB.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// Not a test of its own: the process that is measured, with nothing else in it.
#[test]
fn the_process_that_is_measured() {
    let Ok(dir) = std::env::var(DIR) else { return };
    let before = resident();
    let store = open(Path::new(&dir));
    let opened = resident() - before;
    assert!(opened < 8 << 10, "opening took {opened} KiB");
    for n in 0..VALUES {
        assert!(store.kv_get("hello", &n.to_string()).unwrap().is_some());
    }
    // 23 to 26 MB were measured, and 54 with parts of 4 KiB, which is what this limit tells apart.
    let read = resident() - before;
    assert!(read < 32 << 10, "reading {VALUES} values of 1 MB took {read} KiB");
}

#[test]
fn a_full_store_takes_little_memory_when_it_is_opened_and_read() {
    let (dir, store) = store();
    for n in 0..VALUES {
        store.kv_set("hello", &n.to_string(), &json!("x".repeat(1_000_000))).unwrap();
    }
    for n in 0..10_000 {
        store.publish(&event(&n.to_string())).unwrap();
    }
    drop(store);
    let measured = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "the_process_that_is_measured"])
        .env(DIR, dir.path())
        .output()
        .unwrap();
    assert!(measured.status.success(), "{}", String::from_utf8_lossy(&measured.stdout));
}
