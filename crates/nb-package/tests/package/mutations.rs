//! Random input never panics.

use nb_package::{Digests, KeyId, PublicKey, open};
use proptest::prelude::*;

use crate::altered::headers;
use crate::archive::{Archive, entry, gunzip, gzip};
use crate::sample::{self, Trust, now};

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
        prop_assert!(open(&bytes).is_err());
        let _ = open(&gzip(&bytes));
        let _ = open(&[&[0x1f, 0x8b, 8], bytes.as_slice()].concat());
        let _ = Digests::parse(&bytes);
        let text = String::from_utf8_lossy(&bytes);
        let _ = PublicKey::parse(&text);
        let _ = text.parse::<KeyId>();
    }

    #[test]
    fn a_mutated_package_never_panics_and_never_verifies_as_something_else(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        mend in any::<bool>(),
    ) {
        let key = sample::key();
        let trust = Trust::of(&key);
        let bytes = sample::signed(&key);
        let original = open(&bytes).unwrap();
        let tar = gunzip(&bytes);
        let mut altered = tar.clone();
        for (place, value) in changes {
            altered[place.index(tar.len())] = value;
        }
        if mend {
            for header in headers(&tar) {
                let block = &mut altered[header..header + 512];
                let mut mended = tar::Header::new_old();
                mended.as_mut_bytes().copy_from_slice(block);
                mended.set_cksum();
                block.copy_from_slice(mended.as_bytes());
            }
        }
        if let Ok(package) = open(&gzip(&altered)) && package.verify(&trust.store, now()).is_ok() {
            prop_assert_eq!(package.files, original.files);
        }
    }

    #[test]
    fn random_entries_never_panic(
        entries in proptest::collection::vec(
            ("[a-zA-Z0-9./\\\\ -]{0,40}", prop::sample::select(b"0\x005LxgKS12".to_vec()), "(12 path=a/b\n|[ -~\n]{0,30})"),
            0..8,
        ),
    ) {
        let archive = entries.iter().fold(Archive::with_manifest(), |archive, (path, kind, content)| {
            archive.entry(path, *kind, content)
        });
        if let Ok(package) = open(&archive.nap()) {
            for (path, _) in package.files.iter() {
                prop_assert!(!path.starts_with('/') && !path.split('/').any(|part| matches!(part, "" | "." | "..")));
            }
        }
    }

    #[test]
    fn a_random_signature_never_panics_and_never_verifies(
        lines in proptest::collection::vec("[A-Za-z0-9+/= ]{88}|[A-Za-z0-9+/= ]{100}|trusted comment: x|.{0,20}", 4),
    ) {
        let key = sample::key();
        let package = sample::signed(&key);
        let archive = Archive::with_manifest()
            .file("texts/greeting.txt", "Good morning.\n")
            .file("NAP-DIGESTS", entry(&package, "NAP-DIGESTS"))
            .file("NAP-SIGNATURE", lines.join("\n"));
        prop_assert!(open(&archive.nap()).unwrap().verify(&Trust::of(&key).store, now()).is_err());
    }
}
