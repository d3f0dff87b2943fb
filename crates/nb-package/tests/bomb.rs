//! A decompression bomb is stopped while it unpacks. Alone in this file, because it measures the whole process.
#![allow(clippy::unwrap_used, reason = "a helper of a test that cannot go on says so where it stands")]

use std::fs;
use std::io::{self, Read, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use nb_package::{PackageError, open};
use tar::Header;

const GIB: u64 = 1 << 30;

/// Half of what an honest package may unpack to. The bombs here would unpack to 60 MiB and more.
const BOUND_KIB: u64 = 32 << 10;

fn header(path: &str, size: u64) -> Header {
    let mut header = Header::new_gnu();
    header.set_path(path).unwrap();
    header.set_size(size);
    header.set_mode(0o644);
    header.set_cksum();
    header
}

fn gzip(parts: impl FnOnce(&mut GzEncoder<Vec<u8>>) -> io::Result<()>) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(header("manifest.yaml", 27).as_bytes()).unwrap();
    let mut block = [0; 512];
    block[..27].copy_from_slice(b"name: hello\nversion: 1.2.0\n");
    encoder.write_all(&block).unwrap();
    parts(&mut encoder).unwrap();
    encoder.finish().unwrap()
}

fn zeros(encoder: &mut GzEncoder<Vec<u8>>, count: u64) -> io::Result<()> {
    io::copy(&mut io::repeat(0).take(count), encoder).map(drop)
}

/// The most memory that this process ever held, in KiB.
fn peak_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn a_bomb_stops_while_it_unpacks_and_memory_stays_bounded() {
    let in_a_file = gzip(|encoder| {
        encoder.write_all(header("big.bin", 60 << 20).as_bytes())?;
        zeros(encoder, 60 << 20)
    });
    let after_the_end = gzip(|encoder| zeros(encoder, GIB));
    let in_folders = gzip(|encoder| {
        let mut folder = header("a/", 0);
        folder.set_entry_type(tar::EntryType::Directory);
        folder.set_cksum();
        (0..200_000).try_for_each(|_| encoder.write_all(folder.as_bytes()))
    });
    let announced = gzip(|encoder| {
        encoder.write_all(header("big.bin", 8 * GIB - 1).as_bytes())?;
        zeros(encoder, 4 << 20)
    });
    let in_binary = gzip(|encoder| {
        encoder.write_all(header("big.bin", u64::MAX).as_bytes())?;
        zeros(encoder, 4 << 20)
    });

    let before = peak_kib();
    match open(&in_a_file) {
        Err(PackageError::Bomb { packed, unpacked }) => {
            assert!(unpacked < 2 << 20, "stopped after {unpacked} bytes out of {packed}");
        }
        other => panic!("{other:?}"),
    }
    let trailing = open(&after_the_end);
    assert!(
        matches!(trailing, Err(PackageError::Bomb { .. } | PackageError::TrailingData(_))),
        "{trailing:?}"
    );
    let folders = open(&in_folders);
    assert!(matches!(folders, Err(PackageError::Bomb { .. } | PackageError::TooManyEntries)), "{folders:?}");
    for package in [announced, in_binary] {
        let error = open(&package).unwrap_err();
        assert!(matches!(error, PackageError::TooLarge { .. }), "{error}");
        assert!(error.to_string().contains("`big.bin`") && error.to_string().contains("64 MiB"), "{error}");
    }
    let grown = peak_kib() - before;
    assert!(grown < BOUND_KIB, "memory grew by {grown} KiB");
}
