//! Which paths a package may hold. The same rules hold for building and for opening.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use crate::error::PackageError;

/// The longest path, in bytes. 255 is what one name may have on the usual file systems, so a path never exceeds what
/// a tool along the way can take.
pub const MAX_PATH_BYTES: usize = 255;

/// The most folders above a file. It bounds what a list of all folders may weigh (4096 entries × 16 × 255 bytes).
pub const MAX_DEPTH: usize = 16;

/// Takes a path as an archive has it; one leading `./` is dropped because `tar` writes it.
pub(crate) fn check(raw: &[u8]) -> Result<&str, PackageError> {
    let raw = raw.strip_prefix(b"./").unwrap_or(raw);
    let entry = || shown(raw);
    if raw.len() > MAX_PATH_BYTES {
        return Err(PackageError::PathTooLong { entry: entry(), length: raw.len() });
    }
    let path = std::str::from_utf8(raw).map_err(|_| PackageError::PathNotUtf8(entry()))?;
    let forbidden = path.chars().find_map(|character| match character {
        '\0' => Some("a NUL"),
        '\\' => Some("a backslash"),
        other if other.is_control() => Some("a control character"),
        _ => None,
    });
    if let Some(character) = forbidden {
        return Err(PackageError::PathCharacter { entry: entry(), character });
    }
    if path.starts_with('/') {
        return Err(PackageError::AbsolutePath(entry()));
    }
    if path.split('/').any(|part| part == "..") {
        return Err(PackageError::ParentPath(entry()));
    }
    if path.split('/').any(|part| part.is_empty() || part == ".") {
        return Err(PackageError::PathNotPlain(entry()));
    }
    if path.split('/').count() > MAX_DEPTH + 1 {
        return Err(PackageError::PathTooDeep(entry()));
    }
    Ok(path)
}

/// A path from outside, fit to be printed: escaped, and shortened to what a person can read.
pub(crate) fn shown(raw: &[u8]) -> String {
    const MOST: usize = 120;
    let mut text: String = String::from_utf8_lossy(raw).escape_debug().take(MOST + 1).collect();
    if text.chars().count() > MOST {
        text.pop();
        text.push('…');
    }
    text
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    File,
    Folder,
}

/// All paths so far. Finds duplicates, names that differ only by case, and files that are folders.
#[derive(Debug, Default)]
pub(crate) struct Tree(BTreeMap<String, (String, Kind)>);

impl Tree {
    pub(crate) fn add_file(&mut self, path: &str) -> Result<(), PackageError> {
        self.add_parents(path)?;
        self.add(path, Kind::File)
    }

    pub(crate) fn add_folder(&mut self, path: &str) -> Result<(), PackageError> {
        self.add_parents(path)?;
        self.add(path, Kind::Folder)
    }

    fn add_parents(&mut self, path: &str) -> Result<(), PackageError> {
        path.match_indices('/')
            .try_for_each(|(end, _)| self.add(path.get(..end).unwrap_or(path), Kind::Folder))
    }

    fn add(&mut self, path: &str, kind: Kind) -> Result<(), PackageError> {
        match self.0.entry(folded(path)) {
            Entry::Vacant(vacant) => {
                vacant.insert((path.to_owned(), kind));
                Ok(())
            }
            Entry::Occupied(occupied) => {
                let (first, first_kind) = occupied.get();
                if first != path {
                    let (first, second) = (shown(first.as_bytes()), shown(path.as_bytes()));
                    Err(PackageError::CaseConflict { first, second })
                } else if *first_kind != kind {
                    Err(PackageError::FileAndFolder(shown(path.as_bytes())))
                } else if kind == Kind::File {
                    Err(PackageError::Duplicate(shown(path.as_bytes())))
                } else {
                    Ok(())
                }
            }
        }
    }
}

/// Up and down again: that also unites letters with several lower-case forms, such as `ſ` and `s`.
fn folded(path: &str) -> String {
    path.to_uppercase().to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_paths_pass() {
        for path in ["manifest.yaml", "chains/a.yaml", "tools/größe.lua", "a..b/...", ".hidden"] {
            assert_eq!(check(path.as_bytes()).unwrap(), path);
        }
        assert_eq!(check(b"./manifest.yaml").unwrap(), "manifest.yaml");
        assert!(check("x".repeat(MAX_PATH_BYTES).as_bytes()).is_ok());
    }

    #[test]
    fn a_path_from_outside_cannot_write_to_the_terminal() {
        assert_eq!(shown(b"a\x1b[31m\n\xff"), "a\\u{1b}[31m\\n\u{fffd}");
        assert_eq!(shown(&[b'x'; 500]).chars().count(), 121);
    }

    #[test]
    fn folders_may_come_twice_and_files_may_not() {
        let mut tree = Tree::default();
        tree.add_folder("a").unwrap();
        tree.add_folder("a").unwrap();
        tree.add_file("a/b").unwrap();
        assert!(matches!(tree.add_file("a/b"), Err(PackageError::Duplicate(_))));
        assert!(matches!(tree.add_file("A/c"), Err(PackageError::CaseConflict { .. })));
        assert!(matches!(tree.add_file("a/b/c"), Err(PackageError::FileAndFolder(_))));
        assert!(matches!(tree.add_file("a"), Err(PackageError::FileAndFolder(_))));
        tree.add_file("stra\u{df}e").unwrap();
        assert!(matches!(tree.add_file("STRASSE"), Err(PackageError::CaseConflict { .. })));
    }
}
