//! The trust store: which keys may sign packages here, for which names, and when.
//!
//! A folder of plain files that a person can read and edit:
//!
//! - `LABEL.pub`: a minisign public key file. It is trusted because it is here.
//! - `LABEL.yaml`, optional: limits of the key beside it. Each line is optional; an unknown key is an error.
//!
//!   ```yaml
//!   for: ["repo-*", hello]     # names it may sign: `*` is any text, `?` one character
//!   not_before: 2026-01-01     # first day, UTC
//!   not_after: 2026-12-31      # last day, UTC
//!   ```
//!
//! - `revoked`, optional: one key id a line; `#` starts a comment. It counts also for keys that are not here.
//!
//! A file that cannot be read as what it has to be makes the whole store unusable: trust is never guessed.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use chrono::{DateTime, NaiveDate, Utc};
use serde::{Deserialize, Deserializer, Serialize};

use crate::disk;
use crate::error::{KeyError, SignatureError};
use crate::key_id::KeyId;
use crate::keys::PublicKey;
use crate::name_glob;
use crate::paths::shown;

/// The file with the ids of revoked keys.
const REVOKED: &str = "revoked";

/// A key of the trust store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustedKey {
    /// The key's id.
    pub id: KeyId,
    /// The file's name without `.pub`.
    pub label: String,
    /// The key.
    pub key: PublicKey,
    /// The patterns of the names it may sign; empty means any name.
    pub globs: Vec<String>,
    /// The first day on which it is trusted, in UTC.
    pub not_before: Option<NaiveDate>,
    /// The last day on which it is trusted, in UTC.
    pub not_after: Option<NaiveDate>,
    /// Whether it was revoked: then it is trusted for nothing.
    pub revoked: bool,
}

/// The content of `LABEL.yaml`.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Limits {
    #[serde(rename = "for", default, deserialize_with = "not_null", skip_serializing_if = "Option::is_none")]
    names: Option<Vec<String>>,
    #[serde(default, deserialize_with = "not_null", skip_serializing_if = "Option::is_none")]
    not_before: Option<NaiveDate>,
    #[serde(default, deserialize_with = "not_null", skip_serializing_if = "Option::is_none")]
    not_after: Option<NaiveDate>,
}

/// `for:` with nothing behind it is a mistake, not the absence of a limit.
fn not_null<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// The trusted and the revoked keys, as they were when the store was opened or last changed through it.
#[derive(Debug, Clone)]
pub struct TrustStore {
    dir: PathBuf,
    keys: Vec<TrustedKey>,
    revoked: BTreeSet<KeyId>,
}

impl TrustStore {
    /// Reads the store. A folder that is not there is an empty store.
    pub fn open(dir: &Path) -> Result<Self, KeyError> {
        let revoked = read_revoked(&dir.join(REVOKED))?;
        let mut store = Self { dir: dir.to_owned(), keys: Vec::new(), revoked };
        let entries = match fs::read_dir(dir) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(store),
            Err(error) => return Err(KeyError::io("read", dir)(error)),
        };
        for entry in entries {
            let path = entry.map_err(KeyError::io("read", dir))?.path();
            let hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
            if !hidden && path.extension().is_some_and(|extension| extension == "pub") {
                store.insert(read_key(&path)?)?;
            }
        }
        store.keys.sort_by(|one, other| one.label.cmp(&other.label));
        Ok(store)
    }

    /// Trusts a key for the names that one of `globs` matches; for any name when there is none.
    pub fn add(&mut self, key: &PublicKey, label: &str, globs: &[String]) -> Result<(), KeyError> {
        if !is_label(label) {
            return Err(KeyError::Label(shown(label.as_bytes())));
        }
        check_globs(globs)?;
        if self.is_revoked(key.id()) {
            return Err(KeyError::Revoked(key.id()));
        }
        let names = (!globs.is_empty()).then(|| globs.to_vec());
        let trusted = trusted_key(key.clone(), label, Limits { names, ..Limits::default() });
        self.refuse_known(trusted.id)?;
        let (key_path, limits_path) = (self.file(label, "pub"), self.file(label, "yaml"));
        if key_path.exists() {
            return Err(KeyError::Exists(key_path));
        }
        fs::create_dir_all(&self.dir).map_err(KeyError::io("create", &self.dir))?;
        // The limits first: a crash in between leaves limits without a key, never a key without its limits.
        self.write_limits(&limits_path, globs)?;
        key.save(&key_path)?;
        self.insert(trusted)?;
        self.keys.sort_by(|one, other| one.label.cmp(&other.label));
        Ok(())
    }

    fn write_limits(&self, path: &Path, globs: &[String]) -> Result<(), KeyError> {
        if globs.is_empty() {
            return match fs::remove_file(path) {
                Err(error) if error.kind() != ErrorKind::NotFound => Err(KeyError::io("remove", path)(error)),
                _ => Ok(()),
            };
        }
        let limits = Limits { names: Some(globs.to_vec()), ..Limits::default() };
        let text = serde_yaml::to_string(&limits).map_err(|error| unreadable(path, error.to_string()))?;
        disk::replace(path, text.as_bytes(), 0o644).map_err(KeyError::io("write", path))
    }

    /// Revokes a key, known or not. Doing it twice changes nothing.
    pub fn revoke(&mut self, key_id: KeyId) -> Result<(), KeyError> {
        if !self.is_revoked(key_id) {
            let path = self.dir.join(REVOKED);
            fs::create_dir_all(&self.dir).map_err(KeyError::io("create", &self.dir))?;
            let mut text =
                disk::read_if_present(&path).map_err(KeyError::io("read", &path))?.unwrap_or_default();
            if !text.is_empty() && !text.ends_with('\n') {
                text.push('\n');
            }
            text.push_str(&format!("{key_id}\n"));
            disk::replace(&path, text.as_bytes(), 0o644).map_err(KeyError::io("write", &path))?;
            self.revoked.insert(key_id);
        }
        for key in self.keys.iter_mut().filter(|key| key.id == key_id) {
            key.revoked = true;
        }
        Ok(())
    }

    /// All keys by label, the revoked ones too.
    pub fn list(&self) -> &[TrustedKey] {
        &self.keys
    }

    /// The key of that id, revoked or not.
    pub fn find(&self, key_id: KeyId) -> Option<&TrustedKey> {
        self.keys.iter().find(|key| key.id == key_id)
    }

    /// Whether a key was revoked.
    pub fn is_revoked(&self, key_id: KeyId) -> bool {
        self.revoked.contains(&key_id)
    }

    fn insert(&mut self, mut key: TrustedKey) -> Result<(), KeyError> {
        self.refuse_known(key.id)?;
        key.revoked = self.is_revoked(key.id);
        self.keys.push(key);
        Ok(())
    }

    /// An id names one key only, else it would depend on the order of files which one counts.
    fn refuse_known(&self, key_id: KeyId) -> Result<(), KeyError> {
        match self.find(key_id) {
            Some(known) => Err(KeyError::Present { key_id, label: known.label.clone() }),
            None => Ok(()),
        }
    }

    fn file(&self, label: &str, extension: &str) -> PathBuf {
        self.dir.join(format!("{label}.{extension}"))
    }
}

impl TrustedKey {
    /// Whether the key may sign an agent of that name at that time.
    pub(crate) fn check(&self, name: &str, now: DateTime<Utc>) -> Result<(), SignatureError> {
        let (label, key_id) = (self.label.clone(), self.id);
        if !self.globs.is_empty() && !self.globs.iter().any(|glob| name_glob::matches(glob, name)) {
            let (name, globs) = (name.to_owned(), self.globs.join(", "));
            return Err(SignatureError::NotForThisName { label, key_id, name, globs });
        }
        let today = now.date_naive();
        if self.not_before.is_some_and(|first| today < first)
            || self.not_after.is_some_and(|last| today > last)
        {
            return Err(SignatureError::NotValidNow {
                label,
                key_id,
                period: self.period(),
                today: today.to_string(),
            });
        }
        Ok(())
    }

    fn period(&self) -> String {
        let first = self.not_before.map(|day| format!("from {day}"));
        let last = self.not_after.map(|day| format!("until {day}"));
        first.into_iter().chain(last).collect::<Vec<_>>().join(" ")
    }
}

fn read_key(path: &Path) -> Result<TrustedKey, KeyError> {
    let key = PublicKey::load(path)?;
    let label = path.file_stem().and_then(|stem| stem.to_str()).filter(|label| is_label(label));
    let label = label.ok_or_else(|| KeyError::Label(path.display().to_string()))?;
    let limits_path = path.with_extension("yaml");
    let limits = match disk::read_if_present(&limits_path).map_err(KeyError::io("read", &limits_path))? {
        Some(text) => read_limits(&text).map_err(|reason| unreadable(&limits_path, reason))?,
        None => Limits::default(),
    };
    Ok(trusted_key(key, label, limits))
}

fn read_limits(text: &str) -> Result<Limits, String> {
    let limits: Limits = serde_yaml::from_str(text).map_err(|error| error.to_string())?;
    // Most likely someone is about to write a limit, or has lost one.
    if limits.names.is_none() && limits.not_before.is_none() && limits.not_after.is_none() {
        return Err("it sets no limit; write one, or delete the file to trust the key without".to_owned());
    }
    match &limits.names {
        Some(names) if names.is_empty() => {
            return Err("`for` is empty: name a pattern, or leave it out".to_owned());
        }
        Some(names) => check_globs(names).map_err(|error| error.to_string())?,
        None => {}
    }
    Ok(limits)
}

fn trusted_key(key: PublicKey, label: &str, limits: Limits) -> TrustedKey {
    TrustedKey {
        id: key.id(),
        label: label.to_owned(),
        key,
        globs: limits.names.unwrap_or_default(),
        not_before: limits.not_before,
        not_after: limits.not_after,
        revoked: false,
    }
}

fn read_revoked(path: &Path) -> Result<BTreeSet<KeyId>, KeyError> {
    let text = disk::read_if_present(path).map_err(KeyError::io("read", path))?.unwrap_or_default();
    let ids = text.lines().enumerate().filter_map(|(index, line)| {
        let id = line.split('#').next().unwrap_or_default().trim();
        let parsed = || id.parse().map_err(|error| unreadable(path, format!("line {}: {error}", index + 1)));
        (!id.is_empty()).then(parsed)
    });
    ids.collect()
}

fn check_globs(globs: &[String]) -> Result<(), KeyError> {
    match globs.iter().find(|glob| !name_glob::is_valid(glob)) {
        Some(bad) => Err(KeyError::Glob(shown(bad.as_bytes()))),
        None => Ok(()),
    }
}

/// Plain enough to be a file's name everywhere, and never hidden.
fn is_label(label: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    (1..=64).contains(&label.len())
        && label.chars().all(plain)
        && label.starts_with(|c: char| c.is_ascii_alphanumeric())
}

fn unreadable(path: &Path, reason: String) -> KeyError {
    KeyError::Store { path: path.to_owned(), reason }
}
