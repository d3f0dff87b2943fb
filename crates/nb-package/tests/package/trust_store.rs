//! The trust store on disk.

use std::fs;

use nb_package::{KeyError, TrustStore};

use crate::sample::{self, Trust};

#[test]
fn a_store_that_is_not_there_is_empty() {
    let trust = Trust::none();
    let store = TrustStore::open(&trust.dir.path().join("trust.d")).unwrap();
    assert!(store.list().is_empty());
}

#[test]
fn what_is_added_and_revoked_is_there_after_a_restart() {
    let (one, two) = (sample::key(), sample::key());
    let mut trust = Trust::none().with(&two, "zoe", &["repo-*"]).with(&one, "ann", &[]);
    trust.store.revoke(two.id()).unwrap();
    trust.store.revoke(two.id()).unwrap();
    for store in [&trust.store, &trust.reopened()] {
        let listed: Vec<_> =
            store.list().iter().map(|key| (key.id, key.label.as_str(), key.revoked)).collect();
        assert_eq!(listed, [(one.id(), "ann", false), (two.id(), "zoe", true)]);
        assert_eq!(store.find(two.id()).unwrap().globs, ["repo-*"]);
        assert!(store.is_revoked(two.id()) && !store.is_revoked(one.id()));
    }
    let revoked = fs::read_to_string(trust.dir.path().join("revoked")).unwrap();
    assert_eq!(revoked, format!("{}\n", two.id()));
}

#[test]
fn notes_in_the_list_of_revoked_keys_stay() {
    let mut trust = Trust::none();
    let path = trust.dir.path().join("revoked");
    fs::write(&path, "# lost laptop\n0123456789abcdef # in May").unwrap();
    trust.store = trust.reopened();
    let key = sample::key();
    trust.store.revoke(key.id()).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(text, format!("# lost laptop\n0123456789abcdef # in May\n{}\n", key.id()));
    assert!(trust.reopened().is_revoked("0123456789ABCDEF".parse().unwrap()));
}

#[test]
fn a_key_is_trusted_under_one_label_only() {
    let key = sample::key();
    let mut trust = Trust::of(&key);
    let again = trust.store.add(key.public(), "other", &[]).unwrap_err();
    assert!(matches!(&again, KeyError::Present { label, .. } if label == "author"), "{again}");
    let taken = trust.store.add(sample::key().public(), "author", &[]).unwrap_err();
    assert!(matches!(taken, KeyError::Exists(_)), "{taken}");
    fs::copy(trust.dir.path().join("author.pub"), trust.dir.path().join("copy.pub")).unwrap();
    assert!(matches!(TrustStore::open(trust.dir.path()), Err(KeyError::Present { .. })));
}

#[test]
fn a_revoked_key_cannot_be_added_by_accident() {
    let key = sample::key();
    let mut trust = Trust::none();
    trust.store.revoke(key.id()).unwrap();
    assert!(matches!(trust.store.add(key.public(), "author", &[]), Err(KeyError::Revoked(_))));
}

#[test]
fn limits_that_a_crash_left_do_not_limit_another_key() {
    let mut trust = Trust::none();
    let path = trust.dir.path().join("author.yaml");
    fs::write(&path, "for: [other]\n").unwrap();
    trust.store.add(sample::key().public(), "author", &[]).unwrap();
    assert!(!path.exists());
    assert!(trust.reopened().list()[0].globs.is_empty());
}

#[test]
fn labels_and_patterns_are_plain() {
    let mut trust = Trust::none();
    let key = sample::key();
    for label in ["", "../x", "a/b", ".hidden", "a b", &"x".repeat(65)] {
        assert!(matches!(trust.store.add(key.public(), label, &[]), Err(KeyError::Label(_))), "{label}");
    }
    for glob in ["", "Repo-*", "[ab]", "a/b"] {
        let globs = [glob.to_owned()];
        assert!(matches!(trust.store.add(key.public(), "author", &globs), Err(KeyError::Glob(_))), "{glob}");
    }
    assert_eq!(fs::read_dir(trust.dir.path()).unwrap().count(), 0);
}

#[test]
fn a_store_that_cannot_be_read_is_an_error_and_not_a_guess() {
    let key = sample::key();
    let cases = [
        ("bad.pub", "not a key", "bad.pub"),
        ("author.yaml", "", "sets no limit"),
        ("author.yaml", "for:\nnot_after: 2026-12-31\n", "author.yaml"),
        ("author.yaml", "not_after:\n", "author.yaml"),
        ("author.yaml", "for: []\n", "`for` is empty"),
        ("author.yaml", "for: [Repo]\n", "not a name pattern"),
        ("author.yaml", "four: [x]\n", "unknown field"),
        ("author.yaml", "not_after: tomorrow\n", "author.yaml"),
        ("revoked", "0123\n", "line 1"),
    ];
    for (name, text, sentence) in cases {
        let trust = Trust::of(&key);
        fs::write(trust.dir.path().join(name), text).unwrap();
        let error = TrustStore::open(trust.dir.path()).unwrap_err().to_string();
        assert!(error.contains(sentence), "{name} {text:?}: {error}");
    }
}
