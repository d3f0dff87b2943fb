//! Building: deterministic, complete, and never something that does not open.

use std::fs::{self, File};
use std::time::{Duration, UNIX_EPOCH};

use nb_package::{BuildOptions, PackageError, build, newest_mtime, open};
use nb_spec::Files;
use nb_spec::agent::Strictness;
use tempfile::TempDir;

use crate::archive::{entry, gunzip};
use crate::sample;

fn refused(path: &str) -> PackageError {
    let mut files = sample::files();
    files.insert(path, "x");
    build(&files, BuildOptions::default()).unwrap_err()
}

#[test]
fn the_same_files_give_the_same_bytes_signed_or_not() {
    let key = sample::key();
    assert_eq!(sample::unsigned(), sample::unsigned());
    assert_eq!(sample::signed(&key), sample::signed(&key));
    assert_ne!(sample::signed(&key), sample::unsigned());
}

#[test]
fn nothing_of_the_building_machine_is_in_a_package() {
    let package = sample::signed(&sample::key());
    assert_eq!(package[4..10], [0, 0, 0, 0, 2, 255], "gzip: time, level, operating system");
    let tar = gunzip(&package);
    let mut archive = tar::Archive::new(tar.as_slice());
    let mut paths = Vec::new();
    for entry in archive.entries().unwrap() {
        let entry = entry.unwrap();
        let header = entry.header();
        assert_eq!(header.mtime().unwrap() + header.uid().unwrap() + header.gid().unwrap(), 0);
        assert_eq!(header.mode().unwrap(), 0o644);
        assert_eq!((header.username().unwrap(), header.groupname().unwrap()), (Some(""), Some("")));
        paths.push(entry.path().unwrap().display().to_string());
    }
    assert_eq!(paths, ["NAP-DIGESTS", "NAP-SIGNATURE", "manifest.yaml", "texts/greeting.txt"]);
}

#[test]
fn the_digests_are_what_the_documentation_says() {
    let text = entry(&sample::unsigned(), "NAP-DIGESTS");
    let expected = "nap 1\nname hello\nversion 1.2.0\nserial 1767225600\ncreated 2026-01-01T00:00:00Z\n\
        MANIFEST 27 0644 manifest.yaml\nGREETING 14 0644 texts/greeting.txt\n";
    let sha256 = |bytes: &str| {
        use sha2::Digest;
        hex::encode(sha2::Sha256::digest(bytes))
    };
    let expected = expected
        .replace("MANIFEST", &sha256(sample::MANIFEST))
        .replace("GREETING", &sha256("Good morning.\n"));
    assert_eq!(text, expected);
    let built = sample::build_with(&sample::files(), None);
    assert_eq!(built.digest, sha256(&text));
    assert_eq!(open(&built.bytes).unwrap().digest(), built.digest);
    assert_eq!((built.serial, built.signed_by), (sample::MODIFIED, None));
}

#[test]
fn a_folder_comes_back_as_it_was() {
    let dir = TempDir::new().unwrap();
    let long = format!("{}/{}", "d".repeat(90), "f".repeat(90));
    fs::create_dir_all(dir.path().join("d".repeat(90))).unwrap();
    fs::write(dir.path().join("manifest.yaml"), sample::MANIFEST).unwrap();
    fs::write(dir.path().join(&long), [0, 1, 255]).unwrap();
    fs::write(dir.path().join("größe.txt"), "").unwrap();
    fs::write(dir.path().join(".hidden"), "left out").unwrap();
    let files = Files::read_dir(dir.path()).unwrap();
    let package = open(&sample::build_with(&files, None).bytes).unwrap();
    assert_eq!(package.files, files);
    assert_eq!(package.files.len(), 3);
    assert_eq!(package.agent(Strictness::Install).unwrap().manifest.name, "hello");
}

#[test]
fn the_serial_rises_when_a_file_is_changed() {
    let dir = TempDir::new().unwrap();
    fs::create_dir(dir.path().join("sub")).unwrap();
    let touch = |name: &str, seconds: u64| {
        let file = File::create(dir.path().join(name)).unwrap();
        file.set_modified(UNIX_EPOCH + Duration::from_secs(seconds)).unwrap();
    };
    assert_eq!(newest_mtime(dir.path()).unwrap(), 0, "there is no file yet");
    touch("manifest.yaml", 1000);
    touch("sub/a.lua", 2000);
    assert_eq!(newest_mtime(dir.path()).unwrap(), 2000);
    touch(".swap", 9000);
    assert_eq!(newest_mtime(dir.path()).unwrap(), 2000, "hidden files are not in the package");
    touch("manifest.yaml", 3000);
    assert_eq!(newest_mtime(dir.path()).unwrap(), 3000);
    let missing = newest_mtime(&dir.path().join("missing")).unwrap_err();
    assert!(missing.to_string().starts_with("cannot read "), "{missing}");
}

#[test]
fn an_agent_that_does_not_load_is_not_built() {
    let mut files = sample::files();
    files.insert("manifest.yaml", "name: hello\nversion: 1.0.0\nno_such_key: 1\n");
    let error = build(&files, BuildOptions::default()).unwrap_err();
    assert!(matches!(error, PackageError::Agent(_)));
    assert!(error.to_string().contains("no_such_key"), "{error}");
}

#[test]
fn what_would_not_open_is_not_built() {
    assert!(matches!(refused("NAP-DIGESTS"), PackageError::Reserved(_)));
    assert!(matches!(refused("nap-signature"), PackageError::Reserved(_)));
    assert!(matches!(refused("a\\b"), PackageError::PathCharacter { .. }));
    assert!(matches!(refused("a\nb"), PackageError::PathCharacter { .. }));
    assert!(matches!(refused(&"x".repeat(256)), PackageError::PathTooLong { .. }));
    assert!(matches!(refused("TEXTS/b"), PackageError::CaseConflict { .. }));
    let mut filler = sample::files();
    filler.insert("filler.bin", vec![0; 4 << 20]);
    assert!(matches!(build(&filler, BuildOptions::default()), Err(PackageError::Bomb { .. })));
    let options = BuildOptions { modified: u64::MAX, ..BuildOptions::default() };
    assert!(matches!(build(&sample::files(), options), Err(PackageError::Modified(_))));
}
