//! Folders of packages that no agent uses: a crash between two steps of an install or an uninstall leaves one.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Removes every `PACKAGES/NAME/DIGEST` that is not `used`, and names that are empty then. What cannot be removed is
/// only a waste of space, so it is told and stays.
pub fn remove(packages: &Path, used: &BTreeSet<PathBuf>) {
    for name in folders(packages) {
        for digest in folders(&name).into_iter().filter(|digest| !used.contains(digest)) {
            match fs::remove_dir_all(&digest) {
                Ok(()) => tracing::info!("removed {}, which no agent uses", digest.display()),
                Err(error) => tracing::warn!("{} is not removed: {error}", digest.display()),
            }
        }
        if folders(&name).is_empty()
            && let Err(error) = fs::remove_dir(&name)
        {
            tracing::warn!("{} is not removed: {error}", name.display());
        }
    }
}

fn folders(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let is_dir = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
    entries.filter(is_dir).map(|entry| entry.path()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_used_stays() {
        let packages = std::env::temp_dir().join(format!("nanobotd-leftovers-{}", std::process::id()));
        let (used, unused) = (packages.join("hello/aa"), packages.join("hello/bb"));
        for dir in [&used, &unused, &packages.join("gone/cc")] {
            fs::create_dir_all(dir).unwrap();
            fs::write(dir.join("file"), "x").unwrap();
        }
        remove(&packages, &BTreeSet::from([used.clone()]));
        assert!(used.join("file").exists() && !unused.exists() && !packages.join("gone").exists());
        fs::remove_dir_all(packages).unwrap();
    }
}
