//! The files of an agent, in memory.

use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, io};

/// The most that one agent may weigh, in bytes; a package has the same cap.
pub const MAX_TOTAL_BYTES: u64 = 64 << 20;
/// The most files that one agent may have; a package has the same cap.
pub const MAX_FILES: usize = 4096;

/// Why a folder could not be read.
#[derive(Debug, thiserror::Error)]
pub enum FilesError {
    /// The folder or a file in it cannot be read.
    #[error("cannot read {path}: {source}")]
    Io {
        /// The path that failed.
        path: String,
        /// The system's own error.
        source: io::Error,
    },
    /// A link, a device, a socket: nothing that a package may hold.
    #[error("{0} is neither a file nor a folder; links and devices do not go into a package")]
    NotAFile(String),
    /// A name that is not UTF-8.
    #[error("{0} has a name that is not UTF-8")]
    Name(String),
    /// More than the caps allow.
    #[error("{0} is too large for an agent: at most {MAX_FILES} files and 64 MiB in all")]
    TooLarge(String),
}

/// Relative paths with `/` between the parts, and their bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Files(BTreeMap<String, Vec<u8>>);

impl Files {
    /// Reads a folder. Names that start with a dot (`.git`, editor files) are left out; links and devices are refused.
    pub fn read_dir(dir: &Path) -> Result<Self, FilesError> {
        let mut files = Self::default();
        let mut total = 0;
        files.read_into(dir, "", &mut total)?;
        Ok(files)
    }

    fn read_into(&mut self, dir: &Path, prefix: &str, total: &mut u64) -> Result<(), FilesError> {
        let shown = dir.display().to_string();
        let failed = |source| FilesError::Io { path: shown.clone(), source };
        for entry in fs::read_dir(dir).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let path = entry.path();
            let shown = path.display().to_string();
            let failed = |source| FilesError::Io { path: shown.clone(), source };
            let name = entry.file_name().into_string().map_err(|_| FilesError::Name(shown.clone()))?;
            if name.starts_with('.') {
                continue;
            }
            let relative = format!("{prefix}{name}");
            let kind = entry.file_type().map_err(failed)?;
            if kind.is_dir() {
                self.read_into(&path, &format!("{relative}/"), total)?;
            } else if kind.is_file() {
                *total += entry.metadata().map_err(failed)?.len();
                if *total > MAX_TOTAL_BYTES || self.0.len() >= MAX_FILES {
                    return Err(FilesError::TooLarge(shown));
                }
                self.0.insert(relative, fs::read(&path).map_err(failed)?);
            } else {
                return Err(FilesError::NotAFile(shown));
            }
        }
        Ok(())
    }

    /// Adds or replaces a file.
    pub fn insert(&mut self, name: impl Into<String>, bytes: impl Into<Vec<u8>>) {
        self.0.insert(name.into(), bytes.into());
    }

    /// A file's bytes.
    pub fn get(&self, name: &str) -> Option<&[u8]> {
        self.0.get(name).map(Vec::as_slice)
    }

    /// All files in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> + Clone {
        self.0.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice()))
    }

    /// How many files there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// True when there is no file.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
