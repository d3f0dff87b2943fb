//! A package to a folder: written aside, made durable, then moved into place with one rename.
//!
//! `PACKAGES/NAME/DIGEST/` holds the agent's files and NAP-DIGESTS, whose SHA-256 is the folder's name, so an installed
//! package can be checked against itself at any time.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::digests::{DIGESTS, Digests, FileDigest};
use crate::disk;
use crate::error::PackageError;
use crate::open::Package;

/// What the folders of packages begin with that are not yet in place.
const STAGING_PREFIX: &str = ".staging-";

/// A package on disk, not yet in place. Dropped without [`Staged::publish`], its files are removed.
#[derive(Debug)]
pub struct Staged {
    dir: TempDir,
    packages_dir: PathBuf,
    digests: Digests,
}

/// Writes a package's files to a folder of its own in `packages_dir` and makes them durable. On an error, such as a
/// full disk, nothing is left behind.
pub fn stage(package: &Package, packages_dir: &Path) -> Result<Staged, PackageError> {
    fs::create_dir_all(packages_dir).map_err(PackageError::io("create", packages_dir))?;
    let dir = tempfile::Builder::new()
        .prefix(STAGING_PREFIX)
        .tempdir_in(packages_dir)
        .map_err(PackageError::io("create a folder in", packages_dir))?;
    let digests = package.list();
    write(dir.path(), DIGESTS, digests.to_string().as_bytes())?;
    for (path, bytes) in package.files.iter() {
        write(dir.path(), path, bytes)?;
    }
    sync_folders(dir.path())?;
    Ok(Staged { dir, packages_dir: packages_dir.to_owned(), digests })
}

impl Staged {
    /// Where the files are now.
    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Moves the files to `PACKAGES/NAME/DIGEST` and returns that path. When the same package is there already, that
    /// one stays and is returned; when it was changed since, it is an error.
    pub fn publish(self) -> Result<PathBuf, PackageError> {
        let parent = self.packages_dir.join(&self.digests.name);
        match fs::create_dir(&parent) {
            Ok(()) => {
                disk::sync_dir(&self.packages_dir).map_err(PackageError::io("sync", &self.packages_dir))?
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(PackageError::io("create", &parent)(error)),
        }
        let target = parent.join(self.digests.digest());
        match fs::rename(self.dir.path(), &target) {
            // The folder has left its temporary name, so there is nothing to remove any more.
            Ok(()) => drop(self.dir.keep()),
            Err(error) if matches!(error.kind(), ErrorKind::DirectoryNotEmpty | ErrorKind::AlreadyExists) => {
                if !holds(&target, &self.digests)? {
                    return Err(PackageError::Occupied(target));
                }
            }
            Err(error) => return Err(PackageError::io("publish to", &target)(error)),
        }
        // The second holds the entry of the first, which this call or one that crashed may have made.
        for dir in [&parent, &self.packages_dir] {
            disk::sync_dir(dir).map_err(PackageError::io("sync", dir))?;
        }
        Ok(target)
    }
}

/// Removes what a crash left while staging, and returns how many folders that were. Nothing may be staging meanwhile.
pub fn clean_staging(packages_dir: &Path) -> Result<usize, PackageError> {
    let failed = |error| PackageError::io("read", packages_dir)(error);
    let entries = match fs::read_dir(packages_dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(0),
        Err(error) => return Err(failed(error)),
    };
    let mut removed = 0;
    for entry in entries {
        let entry = entry.map_err(failed)?;
        if entry.file_name().as_encoded_bytes().starts_with(STAGING_PREFIX.as_bytes()) {
            fs::remove_dir_all(entry.path()).map_err(PackageError::io("remove", &entry.path()))?;
            removed += 1;
        }
    }
    Ok(removed)
}

fn write(dir: &Path, relative: &str, bytes: &[u8]) -> Result<(), PackageError> {
    let path = dir.join(relative);
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(PackageError::io("create", parent))?;
    }
    let write = || {
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o644).open(&path)?;
        file.write_all(bytes)?;
        file.sync_all()
    };
    write().map_err(PackageError::io("write", &path))
}

/// A file is durable when its folder is too, and that one's folder, up to `dir`.
fn sync_folders(dir: &Path) -> Result<(), PackageError> {
    for entry in fs::read_dir(dir).map_err(PackageError::io("read", dir))? {
        let entry = entry.map_err(PackageError::io("read", dir))?;
        if entry.file_type().map_err(PackageError::io("read", dir))?.is_dir() {
            sync_folders(&entry.path())?;
        }
    }
    disk::sync_dir(dir).map_err(PackageError::io("sync", dir))
}

/// Whether a folder holds exactly what the digests list.
fn holds(dir: &Path, digests: &Digests) -> Result<bool, PackageError> {
    let mut expected = digests.files.clone();
    expected.insert(DIGESTS.to_owned(), FileDigest::of(digests.to_string().as_bytes()));
    Ok(takes_out(dir, "", &mut expected)? && expected.is_empty())
}

/// Takes each file of the folder out of `expected`; false as soon as one is not in it.
fn takes_out(
    dir: &Path,
    prefix: &str,
    expected: &mut BTreeMap<String, FileDigest>,
) -> Result<bool, PackageError> {
    for entry in fs::read_dir(dir).map_err(PackageError::io("read", dir))? {
        let entry = entry.map_err(PackageError::io("read", dir))?;
        let path = entry.path();
        let Ok(name) = entry.file_name().into_string() else { return Ok(false) };
        let relative = format!("{prefix}{name}");
        let kind = entry.file_type().map_err(PackageError::io("read", &path))?;
        let same = if kind.is_dir() {
            takes_out(&path, &format!("{relative}/"), expected)?
        } else if kind.is_file() {
            let bytes = fs::read(&path).map_err(PackageError::io("read", &path))?;
            expected.remove(&relative) == Some(FileDigest::of(&bytes))
        } else {
            false
        };
        if !same {
            return Ok(false);
        }
    }
    Ok(true)
}
