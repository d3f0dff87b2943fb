//! The `minisign` program and this crate agree, both ways. Skipped with a message where it is not installed.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use nb_package::{KeyError, PublicKey, SecretKey, open};
use tempfile::TempDir;

use crate::archive::{Archive, entry};
use crate::sample::{self, Trust, now};

/// Runs minisign in a folder with `input` on stdin. None where it is not installed.
fn minisign(dir: &Path, arguments: &str, input: &str) -> Option<Output> {
    let mut command = Command::new("minisign");
    command.args(arguments.split(' ')).current_dir(dir);
    let Ok(mut child) = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()
    else {
        eprintln!("skipped: minisign is not installed");
        return None;
    };
    // It may be done before it has read its input.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    Some(child.wait_with_output().unwrap())
}

#[test]
fn minisign_verifies_what_is_signed_here() {
    let dir = TempDir::new().unwrap();
    let key = sample::key();
    let package = sample::signed(&key);
    let digests = entry(&package, "NAP-DIGESTS");
    fs::write(dir.path().join("NAP-DIGESTS"), &digests).unwrap();
    fs::write(dir.path().join("NAP-SIGNATURE"), entry(&package, "NAP-SIGNATURE")).unwrap();
    key.public().save(&dir.path().join("key.pub")).unwrap();
    let verify = || minisign(dir.path(), "-H -Vm NAP-DIGESTS -x NAP-SIGNATURE -p key.pub", "");
    let Some(output) = verify() else { return };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("Trusted comment: nap hello 1.2.0 serial 1767225600"), "{said}");
    fs::write(dir.path().join("NAP-DIGESTS"), digests.replace("hello", "jello")).unwrap();
    assert!(!verify().unwrap().status.success());
}

#[test]
fn what_minisign_signs_with_a_key_from_here_verifies_here() {
    let dir = TempDir::new().unwrap();
    let key = sample::key();
    key.save(&dir.path().join("key")).unwrap();
    let digests = entry(&sample::unsigned(), "NAP-DIGESTS");
    fs::write(dir.path().join("NAP-DIGESTS"), &digests).unwrap();
    let with_comment = |comment: &str| {
        let mut command = Command::new("minisign");
        command.args(["-S", "-s", "key", "-m", "NAP-DIGESTS", "-x", "NAP-SIGNATURE", "-t", comment]);
        let Ok(output) = command.current_dir(dir.path()).output() else {
            eprintln!("skipped: minisign is not installed");
            return None;
        };
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let package = Archive::with_manifest()
            .file("texts/greeting.txt", "Good morning.\n")
            .file("NAP-DIGESTS", &digests)
            .file("NAP-SIGNATURE", fs::read(dir.path().join("NAP-SIGNATURE")).unwrap());
        Some(open(&package.nap()).unwrap().verify(&Trust::of(&key).store, now()))
    };
    let Some(right) = with_comment("nap hello 1.2.0 serial 1767225600") else { return };
    assert_eq!(right.unwrap().key_id, key.id());
    let sentence = with_comment("nap hello 1.2.0 serial 9").unwrap().unwrap_err().to_string();
    assert!(sentence.contains("signature was made for `nap hello 1.2.0 serial 9`"), "{sentence}");
}

#[test]
fn keys_that_minisign_makes_sign_here() {
    let dir = TempDir::new().unwrap();
    let Some(output) = minisign(dir.path(), "-G -W -p key.pub -s key", "") else { return };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let key = SecretKey::load(&dir.path().join("key")).unwrap();
    let public = PublicKey::load(&dir.path().join("key.pub")).unwrap();
    assert_eq!(&public, key.public());
    let text = fs::read_to_string(dir.path().join("key.pub")).unwrap();
    assert!(text.contains(&format!("public key {}\n", key.id())), "{text}");
    assert!(open(&sample::signed(&key)).unwrap().verify(&Trust::of(&key).store, now()).is_ok());
}

#[test]
fn a_key_under_a_password_is_refused_with_a_remedy_that_works() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("key");
    let Some(output) = minisign(dir.path(), "-G -p key.pub -s key", "secret\nsecret\n") else { return };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let error = SecretKey::load(&path).unwrap_err();
    assert!(matches!(error, KeyError::Protected(_)), "{error}");
    assert!(error.to_string().ends_with(&format!("minisign -C -W -s {}", path.display())), "{error}");
    assert!(minisign(dir.path(), "-C -W -s key", "secret\n").unwrap().status.success());
    assert!(SecretKey::load(&path).is_ok());
}
