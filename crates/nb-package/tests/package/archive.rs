//! Archives that no honest tool would write, block by block.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use tar::Header;

/// An archive under construction.
#[derive(Default, Clone)]
pub struct Archive(Vec<u8>);

impl Archive {
    pub fn new() -> Self {
        Self::default()
    }

    /// One that already holds a manifest.
    pub fn with_manifest() -> Self {
        Self::new().file("manifest.yaml", crate::sample::MANIFEST)
    }

    pub fn file(self, path: &str, content: impl AsRef<[u8]>) -> Self {
        self.entry(path, b'0', content)
    }

    /// An entry of any type.
    pub fn entry(self, path: impl AsRef<[u8]>, kind: u8, content: impl AsRef<[u8]>) -> Self {
        self.tweaked(path, kind, content, |_| {})
    }

    /// An entry whose header is changed before its checksum is made.
    pub fn tweaked(
        mut self,
        path: impl AsRef<[u8]>,
        kind: u8,
        content: impl AsRef<[u8]>,
        tweak: impl FnOnce(&mut Header),
    ) -> Self {
        let content = content.as_ref();
        let mut header = Header::new_gnu();
        header.as_old_mut().name[..path.as_ref().len()].copy_from_slice(path.as_ref());
        header.as_old_mut().linkflag = [kind];
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        header.set_mtime(0);
        tweak(&mut header);
        header.set_cksum();
        self.0.extend_from_slice(header.as_bytes());
        self.0.extend_from_slice(content);
        self.0.resize(self.0.len().next_multiple_of(512), 0);
        self
    }

    /// A pax header with these records, each `(key, value)`.
    pub fn pax(self, kind: u8, records: &[(&str, &str)]) -> Self {
        let content: String = records.iter().map(|(key, value)| pax_record(key, value)).collect();
        self.entry("PaxHeaders/x", kind, content)
    }

    /// The tar bytes with the end mark.
    pub fn tar(mut self) -> Vec<u8> {
        self.0.extend_from_slice(&[0; 1024]);
        self.0
    }

    /// The package.
    pub fn nap(self) -> Vec<u8> {
        gzip(&self.tar())
    }

    /// The package without compression, for content that would be above the ratio.
    pub fn stored_nap(self) -> Vec<u8> {
        encode(&self.tar(), Compression::none())
    }
}

fn pax_record(key: &str, value: &str) -> String {
    let rest = format!(" {key}={value}\n");
    let length =
        (1..=rest.len() + 5).find(|length| length.to_string().len() + rest.len() == *length).unwrap();
    format!("{length}{rest}")
}

pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    encode(bytes, Compression::default())
}

fn encode(bytes: &[u8], compression: Compression) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), compression);
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub fn gunzip(bytes: &[u8]) -> Vec<u8> {
    let mut unpacked = Vec::new();
    GzDecoder::new(bytes).read_to_end(&mut unpacked).unwrap();
    unpacked
}

/// The content of one entry of a package, as any other tar reader sees it.
pub fn entry(package: &[u8], path: &str) -> String {
    let tar = gunzip(package);
    let mut archive = tar::Archive::new(tar.as_slice());
    let mut entry =
        archive.entries().unwrap().map(Result::unwrap).find(|e| e.path_bytes() == path.as_bytes()).unwrap();
    let mut text = String::new();
    entry.read_to_string(&mut text).unwrap();
    text
}
