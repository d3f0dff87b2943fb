//! What is on disk.

use std::path::Path;

use nb_store::Store;
use tempfile::TempDir;

use super::at;

/// What a daemon would find if this one ended now: a copy of the folder, opened.
pub fn after_a_crash<T>(dir: &Path, look: impl FnOnce(&Store) -> T) -> T {
    let copy = copy_of(dir);
    look(&Store::open(copy.path(), at("00:00:00")).unwrap())
}

/// A copy of a folder as it is now.
pub fn copy_of(dir: &Path) -> TempDir {
    let copy = tempfile::tempdir().unwrap();
    copy_folder(dir, copy.path());
    copy
}

fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_folder(&entry.path(), &to);
        } else {
            std::fs::copy(entry.path(), to).unwrap();
        }
    }
}
