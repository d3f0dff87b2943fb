//! A small agent, a key that signs it, and a store that trusts that key.

use chrono::{DateTime, Utc};
use nb_package::{BuildOptions, Built, SecretKey, TrustStore, build};
use nb_spec::Files;
use tempfile::TempDir;

pub const MANIFEST: &str = "name: hello\nversion: 1.2.0\n";
pub const MODIFIED: u64 = 1_767_225_600;

pub fn files() -> Files {
    let mut files = Files::default();
    files.insert("manifest.yaml", MANIFEST);
    files.insert("texts/greeting.txt", "Good morning.\n");
    files
}

pub fn build_with(files: &Files, key: Option<&SecretKey>) -> Built {
    build(files, BuildOptions { modified: MODIFIED, serial: None, key }).unwrap()
}

pub fn signed(key: &SecretKey) -> Vec<u8> {
    build_with(&files(), Some(key)).bytes
}

pub fn unsigned() -> Vec<u8> {
    build_with(&files(), None).bytes
}

pub fn now() -> DateTime<Utc> {
    "2026-06-15T12:00:00Z".parse().unwrap()
}

pub fn key() -> SecretKey {
    SecretKey::generate().unwrap()
}

/// A trust store in a folder that is removed with it.
pub struct Trust {
    pub dir: TempDir,
    pub store: TrustStore,
}

impl Trust {
    pub fn none() -> Self {
        let dir = TempDir::new().unwrap();
        let store = TrustStore::open(dir.path()).unwrap();
        Self { dir, store }
    }

    pub fn of(key: &SecretKey) -> Self {
        Self::none().with(key, "author", &[])
    }

    pub fn with(mut self, key: &SecretKey, label: &str, globs: &[&str]) -> Self {
        let globs: Vec<String> = globs.iter().map(ToString::to_string).collect();
        self.store.add(key.public(), label, &globs).unwrap();
        self
    }

    pub fn reopened(&self) -> TrustStore {
        TrustStore::open(self.dir.path()).unwrap()
    }
}
