//! NAP-DIGESTS: what a package is, and the SHA-256 of each of its files.
//!
//! UTF-8 text; every line ends with one line feed, parts of a line stand one space apart:
//!
//! ```text
//! nap 1
//! name repo-watch
//! version 1.2.0
//! serial 1767225600
//! created 2026-01-01T00:00:00Z
//! 9f86d081…0f00a08 1204 0644 chains/report.yaml
//! 60303ae2…d752ac2 310 0644 manifest.yaml
//! ```
//!
//! - `nap 1` is the version of this format.
//! - `name` and `version` repeat the manifest; `version` is a semantic version.
//! - `serial` is a decimal number below 2^64. Later builds have higher ones.
//! - `created` is RFC 3339 in UTC with whole seconds.
//! - Then one line a file: SHA-256 as 64 lower-case hex digits, size in bytes, mode (always `0644`), and the path, which
//!   goes to the end of the line. Lines are sorted by the bytes of the path. NAP-DIGESTS and NAP-SIGNATURE themselves
//!   are not listed.
//!
//! There is exactly one way to write the same facts (no leading zeros, no other spaces), so one package has one digest.

use std::collections::BTreeMap;
use std::fmt;

use chrono::{DateTime, NaiveDateTime, SecondsFormat, Utc};
use nb_spec::Files;
use nb_spec::files::MAX_FILES;
use nb_spec::manifest::is_agent_name;
use semver::Version;
use sha2::{Digest, Sha256};

use crate::error::PackageError;
use crate::paths::{self, shown};

/// The entry's name.
pub const DIGESTS: &str = "NAP-DIGESTS";
/// The name of the entry with the signature of [`DIGESTS`].
pub const SIGNATURE: &str = "NAP-SIGNATURE";

/// One file's line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileDigest {
    /// SHA-256 of the content.
    pub sha256: [u8; 32],
    /// Size in bytes.
    pub size: u64,
}

impl FileDigest {
    /// The digest of a content.
    pub fn of(bytes: &[u8]) -> Self {
        Self { sha256: Sha256::digest(bytes).into(), size: bytes.len() as u64 }
    }
}

/// The content of NAP-DIGESTS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Digests {
    /// The agent's name.
    pub name: String,
    /// The agent's version.
    pub version: Version,
    /// Rises with each build.
    pub serial: u64,
    /// When the newest of its files was changed; whole seconds.
    pub created: DateTime<Utc>,
    /// Every file by its path.
    pub files: BTreeMap<String, FileDigest>,
}

impl Digests {
    /// Lists files.
    pub fn of(files: &Files, name: &str, version: &Version, serial: u64, created: DateTime<Utc>) -> Self {
        Self {
            name: name.to_owned(),
            version: version.clone(),
            serial,
            created,
            files: files.iter().map(|(path, bytes)| (path.to_owned(), FileDigest::of(bytes))).collect(),
        }
    }

    /// The digest of the package: SHA-256 of the text, as 64 lower-case hex digits.
    pub fn digest(&self) -> String {
        hex::encode(Sha256::digest(self.to_string()))
    }

    /// Reads the text. Whatever is not written in the one way that is right is refused with its line.
    pub fn parse(bytes: &[u8]) -> Result<Self, PackageError> {
        let text = match std::str::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => {
                let before = bytes.get(..error.valid_up_to()).unwrap_or_default();
                let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
                return Err(syntax(line, "is not UTF-8"));
            }
        };
        let mut lines = text.split_inclusive('\n').enumerate().map(|(index, line)| (index + 1, line));
        let mut header = |keyword: &str| match lines.next() {
            Some((line, text)) => match text.strip_suffix('\n').and_then(|text| text.split_once(' ')) {
                Some((found, value)) if found == keyword => Ok((line, value)),
                _ => Err(syntax(line, format!("must be `{keyword}` and a value"))),
            },
            None => Err(syntax(1, format!("ends before `{keyword}`"))),
        };
        let (line, format) = header("nap")?;
        if format != "1" {
            let format = shown(format.as_bytes());
            return Err(syntax(line, format!("has format {format}; this version reads format 1")));
        }
        let (line, name) = header("name")?;
        if !is_agent_name(name) {
            return Err(syntax(
                line,
                "has no agent's name (lower-case letters, digits, `-`, `_`; at most 64)",
            ));
        }
        let (line, version) = header("version")?;
        let version =
            Version::parse(version).map_err(|_| syntax(line, "has no semantic version such as 1.2.0"))?;
        let (line, serial) = header("serial")?;
        let serial = number(serial).ok_or_else(|| syntax(line, "has no number"))?;
        let (line, created) = header("created")?;
        let created = NaiveDateTime::parse_from_str(created, "%Y-%m-%dT%H:%M:%SZ")
            .map_err(|_| syntax(line, "has no time such as 2026-01-01T00:00:00Z"))?
            .and_utc();
        let mut files: BTreeMap<String, FileDigest> = BTreeMap::new();
        for (line, text) in lines {
            if files.len() == MAX_FILES {
                return Err(syntax(line, format!("is one more than the {MAX_FILES} files that are allowed")));
            }
            let Some((path, file)) = file_line(text) else {
                return Err(syntax(
                    line,
                    "must be a SHA-256, a size, `0644` and a path, and end with a line feed",
                ));
            };
            let path = paths::check(path.as_bytes())?;
            if files.last_key_value().is_some_and(|(last, _)| last.as_str() >= path) {
                return Err(syntax(line, "is out of order, or a path stands twice"));
            }
            files.insert(path.to_owned(), file);
        }
        let digests = Self { name: name.to_owned(), version, serial, created, files };
        // What is left are other spellings of the same values: upper-case digits, leading zeros, `./` before a path.
        let right = digests.to_string();
        if right == text {
            return Ok(digests);
        }
        let same = right.lines().zip(text.lines()).take_while(|(right, found)| right == found).count();
        Err(syntax(same + 1, "is not written in the one way that is right"))
    }

    /// Compares the list with the files: all of them, nothing else, unaltered.
    pub fn check(&self, files: &Files) -> Result<(), PackageError> {
        for (path, bytes) in files.iter() {
            let entry = shown(path.as_bytes());
            let Some(listed) = self.files.get(path) else { return Err(PackageError::NotListed(entry)) };
            let actual = FileDigest::of(bytes);
            if listed.size != actual.size {
                return Err(PackageError::SizeMismatch { entry, listed: listed.size, actual: actual.size });
            }
            if listed.sha256 != actual.sha256 {
                return Err(PackageError::Altered(entry));
            }
        }
        match self.files.keys().find(|path| files.get(path).is_none()) {
            Some(missing) => Err(PackageError::Missing(shown(missing.as_bytes()))),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Digests {
    /// The text of NAP-DIGESTS.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let created = self.created.to_rfc3339_opts(SecondsFormat::Secs, true);
        write!(f, "nap 1\nname {}\nversion {}\n", self.name, self.version)?;
        write!(f, "serial {}\ncreated {created}\n", self.serial)?;
        for (path, file) in &self.files {
            writeln!(f, "{} {} 0644 {path}", hex::encode(file.sha256), file.size)?;
        }
        Ok(())
    }
}

fn file_line(text: &str) -> Option<(&str, FileDigest)> {
    let mut parts = text.strip_suffix('\n')?.splitn(4, ' ');
    let digits = parts.next()?;
    let size = number(parts.next()?)?;
    let mode = parts.next()?;
    let path = parts.next()?;
    let mut sha256 = [0; 32];
    hex::decode_to_slice(digits, &mut sha256).ok()?;
    (mode == "0644").then_some((path, FileDigest { sha256, size }))
}

fn number(text: &str) -> Option<u64> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| plain)
}

fn syntax(line: usize, reason: impl Into<String>) -> PackageError {
    PackageError::DigestsSyntax { line, reason: reason.into() }
}
