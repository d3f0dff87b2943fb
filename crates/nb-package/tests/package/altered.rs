//! Whatever byte of a package is changed: no panic, and never a signature on something else.

use nb_package::{Package, open};

use crate::archive::{gunzip, gzip};
use crate::sample::{self, Trust, now};

const FLIPS: [u8; 3] = [0x01, 0x20, 0xff];

fn assert_same_or_refused(bytes: &[u8], original: &Package, trust: &Trust, place: usize) {
    let Ok(package) = open(bytes) else { return };
    if package.verify(&trust.store, now()).is_ok() {
        assert_eq!(package.files, original.files, "byte {place}");
        assert_eq!(package.digest(), original.digest(), "byte {place}");
        assert_eq!(
            (package.name(), package.version()),
            (original.name(), original.version()),
            "byte {place}"
        );
        assert_eq!(package.serial(), original.serial(), "byte {place}");
    }
}

#[test]
fn no_flipped_byte_of_a_package_changes_what_verifies() {
    let key = sample::key();
    let trust = Trust::of(&key);
    let bytes = sample::signed(&key);
    let original = open(&bytes).unwrap();
    for place in 0..bytes.len() {
        for flip in FLIPS {
            let mut altered = bytes.clone();
            altered[place] ^= flip;
            assert_same_or_refused(&altered, &original, &trust, place);
        }
    }
}

#[test]
fn no_flipped_byte_under_the_compression_changes_what_verifies() {
    let key = sample::key();
    let trust = Trust::of(&key);
    let bytes = sample::signed(&key);
    let original = open(&bytes).unwrap();
    let tar = gunzip(&bytes);
    for place in 0..tar.len() {
        for flip in FLIPS {
            let mut altered = tar.clone();
            altered[place] ^= flip;
            // A forger mends the checksums of the headers.
            for header in headers(&tar) {
                let block = &mut altered[header..header + 512];
                let mut mended = tar::Header::new_old();
                mended.as_mut_bytes().copy_from_slice(block);
                mended.set_cksum();
                block.copy_from_slice(mended.as_bytes());
            }
            assert_same_or_refused(&gzip(&altered), &original, &trust, place);
        }
    }
}

/// Where the headers of an archive begin.
pub fn headers(tar: &[u8]) -> Vec<usize> {
    let mut archive = tar::Archive::new(tar);
    let entries = archive.entries().unwrap().raw(true);
    entries.map(|entry| usize::try_from(entry.unwrap().raw_header_position()).unwrap()).collect()
}
