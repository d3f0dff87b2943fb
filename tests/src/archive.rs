//! Packages that no honest tool would write, entry by entry.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use tar::Header;

/// An archive under construction.
#[derive(Debug, Default, Clone)]
pub struct Archive(Vec<u8>);

impl Archive {
    /// An empty one.
    pub fn new() -> Self {
        Self::default()
    }

    /// The entries of a package, without its end, so that more can follow.
    pub fn of(package: &[u8]) -> Self {
        read(package).into_iter().fold(Self::new(), |archive, (path, content)| archive.file(&path, content))
    }

    /// A file.
    pub fn file(self, path: &str, content: impl AsRef<[u8]>) -> Self {
        self.entry(path, b'0', "", content)
    }

    /// A symbolic link.
    pub fn symlink(self, path: &str, target: &str) -> Self {
        self.entry(path, b'2', target, "")
    }

    fn entry(mut self, path: &str, kind: u8, target: &str, content: impl AsRef<[u8]>) -> Self {
        let content = content.as_ref();
        let mut header = Header::new_gnu();
        let old = header.as_old_mut();
        // Field by field: the library refuses such paths itself.
        old.name[..path.len()].copy_from_slice(path.as_bytes());
        old.linkname[..target.len()].copy_from_slice(target.as_bytes());
        old.linkflag = [kind];
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        header.set_mtime(0);
        header.set_cksum();
        self.0.extend_from_slice(header.as_bytes());
        self.0.extend_from_slice(content);
        self.0.resize(self.0.len().next_multiple_of(512), 0);
        self
    }

    /// The package.
    pub fn nap(mut self) -> Vec<u8> {
        self.0.extend_from_slice(&[0; 1024]);
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(&self.0).unwrap();
        encoder.finish().unwrap()
    }
}

/// Paths and contents of a package, as any other tar reader sees them.
pub fn read(package: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut archive = tar::Archive::new(GzDecoder::new(package));
    let entries = archive.entries().unwrap();
    let file = |entry: std::io::Result<tar::Entry<'_, _>>| {
        let mut entry = entry.unwrap();
        let path = String::from_utf8(entry.path_bytes().into_owned()).unwrap();
        let mut content = Vec::new();
        entry.read_to_end(&mut content).unwrap();
        (path, content)
    };
    entries.map(file).collect()
}

/// A package whose file at `path` has another content. What was signed stays as it was.
pub fn altered(package: &[u8], path: &str, content: &str) -> Vec<u8> {
    let files = read(package);
    assert!(files.iter().any(|(found, _)| found == path), "the package has no {path}");
    let change =
        |(found, old): (String, Vec<u8>)| if found == path { (found, content.into()) } else { (found, old) };
    let files = files.into_iter().map(change);
    files.fold(Archive::new(), |archive, (path, content)| archive.file(&path, content)).nap()
}
