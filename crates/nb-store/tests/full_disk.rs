//! A full disk is an error and not the end: nothing hangs, nothing panics, nothing acknowledged is lost.
#![allow(clippy::expect_used, clippy::unwrap_used, missing_docs)]

mod common;

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::sync::mpsc::channel;
use std::time::Duration;

use common::*;
use nb_store::{LedgerKey, Store, StoreError};
use serde_json::json;

/// A small file system of its own, unmounted when it is dropped.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    /// None when this user may not mount.
    fn mount(megabytes: u32) -> Option<Self> {
        let dir = tempfile::tempdir().unwrap();
        let options = format!("size={megabytes}m");
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &options, "tmpfs"])
            .arg(dir.path())
            .output()
            .is_ok_and(|output| output.status.success());
        mounted.then(|| Self(dir))
    }

    fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let unmounted = Command::new("umount").arg("--lazy").arg(self.path()).status();
        assert!(
            unmounted.is_ok_and(|status| status.success()),
            "could not unmount {}",
            self.path().display()
        );
    }
}

fn fill(path: &Path) {
    let mut file = File::create(path).unwrap();
    while file.write_all(&[0; 4096]).is_ok() {}
}

/// Runs `work` in a thread and fails instead of hanging.
fn within_a_minute<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, done) = channel();
    std::thread::spawn(move || drop(sender.send(work())));
    done.recv_timeout(Duration::from_secs(60)).expect("the store hangs or has panicked")
}

/// Begins runs until the disk refuses. Returns what was acknowledged, and the refusal.
fn write_until_full(store: &Store, name: &str, size: usize) -> (Vec<String>, StoreError) {
    let mut acknowledged = Vec::new();
    loop {
        let run = run(&format!("run_{name}_{:06}", acknowledged.len()));
        let written = store
            .begin_run(&delivery(&run.id, 0), &run, &[json!({"text": "x".repeat(size)})])
            .and_then(|_| store.commit_blocking());
        match written {
            Ok(()) => acknowledged.push(run.id),
            Err(error) => return (acknowledged, error),
        }
    }
}

#[test]
fn a_full_disk_fails_the_store_and_reopening_finds_every_acknowledged_record() {
    let Some(disk) = SmallDisk::mount(16) else {
        eprintln!("skipped: mounting a small tmpfs needs root");
        return;
    };
    let dir = disk.path().join("store");
    let ballast = disk.path().join("ballast");
    let mut acknowledged: Vec<String> = Vec::new();
    // The moment at which the disk is full differs from round to round, and so does who meets it first.
    for (round, size) in [3000, 100, 60_000, 500_000, 3000].into_iter().enumerate() {
        let store = open(&dir);
        for id in &acknowledged {
            assert!(store.run(id).unwrap().is_some(), "{id} is lost");
            assert_eq!(store.run_events(id, 0, 10).unwrap().len(), 1);
        }
        let writers: Vec<_> = (0..3)
            .map(|thread| {
                let store = store.clone();
                std::thread::spawn(move || write_until_full(&store, &format!("{round}_{thread}"), size))
            })
            .collect();
        let before = store.last_event_seq();
        fill(&ballast);
        let outcomes =
            within_a_minute(move || writers.into_iter().map(|w| w.join().unwrap()).collect::<Vec<_>>());
        for (ids, error) in outcomes {
            acknowledged.extend(ids);
            let full = matches!(&error, StoreError::Io { kind: std::io::ErrorKind::StorageFull, .. });
            assert!(full, "{error:?}");
            assert!(error.to_string().ends_with("free some disk space, then restart the daemon"), "{error}");
        }
        assert!(store.is_failed());
        assert_eq!(store.last_event_seq(), before);

        // It does not recover by itself, which is why the daemon has to leave.
        std::fs::remove_file(&ballast).unwrap();
        let store = within_a_minute(move || {
            assert!(store.begin_run(&LedgerKey::None, &run("run_late"), &[]).is_err());
            assert!(store.commit_blocking().is_err());
            store
        });
        within_a_minute(move || drop(store));
    }
    assert!(!acknowledged.is_empty());
}

#[test]
fn opening_on_a_full_disk_is_refused_and_works_once_there_is_space() {
    let Some(disk) = SmallDisk::mount(8) else {
        eprintln!("skipped: mounting a small tmpfs needs root");
        return;
    };
    let dir = disk.path().join("store");
    let ballast = disk.path().join("ballast");
    fill(&ballast);
    assert_eq!(nb_store::free_bytes(disk.path()).unwrap(), 0);
    let refused = within_a_minute({
        let dir = dir.clone();
        move || Store::open(&dir, at(0)).map(drop).unwrap_err()
    });
    assert!(refused.to_string().contains("free some disk space"), "{refused}");

    std::fs::remove_file(&ballast).unwrap();
    open(&dir).put_agent(&agent("hello")).unwrap();
    assert_eq!(open(&dir).agents().unwrap().len(), 1);
}
