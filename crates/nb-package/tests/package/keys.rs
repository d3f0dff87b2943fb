//! Key files: private, never overwritten, and told apart from what is not one.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use nb_package::{KeyError, KeyId, PublicKey, SecretKey};
use tempfile::TempDir;

use crate::sample;

#[test]
fn a_secret_key_is_saved_for_its_owner_only_and_signs_the_same_afterwards() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("author.key");
    let key = sample::key();
    key.save(&path).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o600);
    let loaded = SecretKey::load(&path).unwrap();
    assert_eq!((loaded.id(), loaded.public()), (key.id(), key.public()));
    assert_eq!(sample::signed(&loaded), sample::signed(&key));
}

#[test]
fn a_key_file_is_never_overwritten() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("author.key");
    fs::write(&path, "precious").unwrap();
    assert!(matches!(sample::key().save(&path), Err(KeyError::Exists(_))));
    assert!(matches!(sample::key().public().save(&path), Err(KeyError::Exists(_))));
    assert_eq!(fs::read_to_string(&path).unwrap(), "precious");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "no temporary file is left");
}

#[test]
fn a_secret_key_that_others_can_read_is_refused_with_the_remedy() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("author.key");
    sample::key().save(&path).unwrap();
    for mode in [0o640, 0o604, 0o620, 0o644] {
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        let error = SecretKey::load(&path).unwrap_err();
        assert!(matches!(error, KeyError::Readable { .. }));
        assert!(error.to_string().contains(&format!("mode {mode:04o}")), "{error}");
        assert!(error.to_string().ends_with(&format!("chmod 600 {}", path.display())), "{error}");
    }
    fs::set_permissions(&path, Permissions::from_mode(0o400)).unwrap();
    assert!(SecretKey::load(&path).is_ok());
}

#[test]
fn what_is_not_a_secret_key_is_refused() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("author.key");
    let key = sample::key();
    key.save(&path).unwrap();
    let good = fs::read_to_string(&path).unwrap();
    let mut altered = good.clone();
    let in_the_seed = good.find('\n').unwrap() + 100;
    let other = if &good[in_the_seed..=in_the_seed] == "A" { "B" } else { "A" };
    altered.replace_range(in_the_seed..=in_the_seed, other);
    for bad in ["", "one line", &key.public().to_string(), &altered, &"x\n".repeat(9000)] {
        fs::write(&path, bad).unwrap();
        assert!(SecretKey::load(&path).is_err(), "{bad:.40}");
    }
    let missing = SecretKey::load(&dir.path().join("missing.key")).unwrap_err();
    assert!(missing.to_string().starts_with("cannot open "), "{missing}");
}

#[test]
fn a_public_key_reads_what_it_prints() {
    let public = sample::key().public().clone();
    let text = public.to_string();
    assert!(text.starts_with(&format!("untrusted comment: minisign public key {}\n", public.id())));
    assert_eq!(PublicKey::parse(&text).unwrap(), public);
    assert_eq!(
        PublicKey::parse(text.lines().nth(1).unwrap()).unwrap(),
        public,
        "the bare line, as people paste it"
    );
    for bad in
        ["", "untrusted comment: x\n", "untrusted comment: x\nAAAA\n", &"A".repeat(56), &text.repeat(2)]
    {
        assert!(PublicKey::parse(bad).is_err(), "{bad:?}");
    }
}

#[test]
fn a_key_id_is_sixteen_hex_digits() {
    let id = sample::key().id();
    assert_eq!(id.to_string().len(), 16);
    assert_eq!(id.to_string().to_lowercase().parse::<KeyId>().unwrap(), id);
    for bad in ["", "12", "+123456789012345", "zzzzzzzzzzzzzzzz", "00000000000000000"] {
        assert!(bad.parse::<KeyId>().is_err(), "{bad}");
    }
}

#[test]
fn no_debug_output_shows_a_secret_key() {
    let key = sample::key();
    assert_eq!(format!("{key:?}"), format!("SecretKey({})", key.id()));
}
