//! Staging: a crash, a full disk or a second install leave the old state or the new one.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use nb_package::{Package, PackageError, clean_staging, open, stage};
use tempfile::TempDir;

use crate::archive::Archive;
use crate::sample;

fn package() -> Package {
    open(&sample::unsigned()).unwrap()
}

fn entries(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_published_package_has_its_files_under_its_name_and_digest() {
    let dir = TempDir::new().unwrap();
    let packages = dir.path().join("packages");
    let package = package();
    let place = stage(&package, &packages).unwrap().publish().unwrap();
    assert_eq!(place, packages.join("hello").join(package.digest()));
    assert_eq!(entries(&packages), ["hello"], "nothing is left aside");
    assert_eq!(entries(&place), ["NAP-DIGESTS", "manifest.yaml", "texts"]);
    assert_eq!(fs::read_to_string(place.join("texts/greeting.txt")).unwrap(), "Good morning.\n");
    assert_eq!(fs::read_to_string(place.join("NAP-DIGESTS")).unwrap(), package.digests.unwrap().to_string());
}

#[test]
fn a_plain_package_is_published_under_the_digest_of_its_files() {
    let dir = TempDir::new().unwrap();
    let package = open(&Archive::with_manifest().nap()).unwrap();
    let place = stage(&package, dir.path()).unwrap().publish().unwrap();
    let text = fs::read(place.join("NAP-DIGESTS")).unwrap();
    let digests = nb_package::Digests::parse(&text).unwrap();
    assert_eq!((digests.serial, digests.digest()), (0, package.digest()));
}

#[test]
fn publishing_twice_is_publishing_once() {
    let dir = TempDir::new().unwrap();
    let first = stage(&package(), dir.path()).unwrap();
    let second = stage(&package(), dir.path()).unwrap();
    let place = first.publish().unwrap();
    assert_eq!(second.publish().unwrap(), place);
    assert_eq!(entries(dir.path()), ["hello"]);
    assert_eq!(entries(&dir.path().join("hello")).len(), 1);
}

#[test]
fn a_published_package_that_was_changed_is_not_taken_for_the_same() {
    let changes: [fn(&Path); 3] = [
        |place| fs::write(place.join("texts/greeting.txt"), "Good evening.\n").unwrap(),
        |place| fs::write(place.join("texts/extra.txt"), "x").unwrap(),
        |place| fs::remove_file(place.join("manifest.yaml")).unwrap(),
    ];
    for change in changes {
        let dir = TempDir::new().unwrap();
        let place = stage(&package(), dir.path()).unwrap().publish().unwrap();
        change(&place);
        let error = stage(&package(), dir.path()).unwrap().publish().unwrap_err();
        assert!(matches!(error, PackageError::Occupied(_)), "{error}");
        assert!(error.to_string().contains("uninstall the agent"));
        assert_eq!(entries(dir.path()), ["hello"]);
    }
}

#[test]
fn what_is_staged_and_not_published_is_removed() {
    let dir = TempDir::new().unwrap();
    let staged = stage(&package(), dir.path()).unwrap();
    assert!(staged.path().join("manifest.yaml").exists());
    drop(staged);
    assert_eq!(entries(dir.path()), [""; 0]);
}

#[test]
fn what_a_crash_left_is_cleaned_and_what_was_published_stays() {
    let dir = TempDir::new().unwrap();
    let place = stage(&package(), dir.path()).unwrap().publish().unwrap();
    // A crash runs no destructor.
    std::mem::forget(stage(&package(), dir.path()).unwrap());
    assert_eq!(entries(dir.path()).len(), 2);
    assert_eq!(clean_staging(dir.path()).unwrap(), 1);
    assert_eq!(entries(dir.path()), ["hello"]);
    assert!(place.join("manifest.yaml").exists());
    assert_eq!(clean_staging(dir.path()).unwrap(), 0);
    assert_eq!(clean_staging(&dir.path().join("missing")).unwrap(), 0);
}

#[test]
fn a_full_disk_is_a_clean_error_and_leaves_nothing() {
    let Some(disk) = SmallDisk::mount() else {
        eprintln!("skipped: mounting a small tmpfs needs root and the right to mount");
        return;
    };
    let archive = (0..24).fold(Archive::with_manifest(), |archive, index| {
        archive.file(&format!("data/{index:02}.bin"), vec![index; 64 << 10])
    });
    let package = open(&archive.stored_nap()).unwrap();
    let error = stage(&package, &disk.0).unwrap_err();
    assert!(matches!(error, PackageError::Io { .. }));
    let sentence = error.to_string();
    assert!(
        sentence.starts_with("cannot write ") && sentence.contains("No space left on device"),
        "{sentence}"
    );
    assert_eq!(entries(&disk.0), [""; 0]);
    assert!(stage(&self::package(), &disk.0).unwrap().publish().is_ok(), "there is room again");
}

/// A file system of 1 MiB, unmounted when dropped.
struct SmallDisk(PathBuf, TempDir);

impl SmallDisk {
    fn mount() -> Option<Self> {
        let dir = TempDir::new().unwrap();
        let place = dir.path().to_owned();
        let mount =
            Command::new("mount").args(["-t", "tmpfs", "-o", "size=1m", "tmpfs"]).arg(&place).output();
        mount.is_ok_and(|output| output.status.success()).then_some(Self(place, dir))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let unmounted = Command::new("umount").arg(self.1.path()).status();
        assert!(unmounted.is_ok_and(|status| status.success()) || std::thread::panicking());
    }
}
