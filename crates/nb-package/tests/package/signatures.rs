//! Who may sign what: each way not to be trusted has its own sentence.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chrono::{DateTime, Utc};
use nb_package::{BuildOptions, Package, SecretKey, SignatureError, Signer, build, open};

use crate::archive::{Archive, entry};
use crate::sample::{self, Trust, now};

fn verify(package: &[u8], trust: &Trust) -> Result<Signer, SignatureError> {
    opened(package).verify(&trust.store, now())
}

fn opened(package: &[u8]) -> Package {
    open(package).unwrap()
}

type Change<'a> = &'a dyn Fn(&str) -> Vec<u8>;

/// The signed sample with another NAP-SIGNATURE.
fn with_signature(key: &SecretKey, change: impl Fn(&str) -> Vec<u8>) -> Vec<u8> {
    let package = sample::signed(key);
    Archive::with_manifest()
        .file("texts/greeting.txt", "Good morning.\n")
        .file("NAP-DIGESTS", entry(&package, "NAP-DIGESTS"))
        .file("NAP-SIGNATURE", change(&entry(&package, "NAP-SIGNATURE")))
        .nap()
}

#[test]
fn a_package_of_a_trusted_key_verifies() {
    let key = sample::key();
    let signer = verify(&sample::signed(&key), &Trust::of(&key)).unwrap();
    assert_eq!(signer, Signer { key_id: key.id(), label: "author".to_owned() });
}

#[test]
fn an_unsigned_package_is_not_trusted() {
    let trust = Trust::of(&sample::key());
    for package in [sample::unsigned(), Archive::with_manifest().nap()] {
        let error = verify(&package, &trust).unwrap_err();
        assert_eq!(error, SignatureError::Unsigned { name: "hello".to_owned() });
        assert!(error.to_string().contains("not signed") && error.to_string().contains("--allow-unsigned"));
    }
}

#[test]
fn a_strangers_key_is_not_trusted() {
    let stranger = sample::key();
    let error = verify(&sample::signed(&stranger), &Trust::of(&sample::key())).unwrap_err();
    assert_eq!(error, SignatureError::UnknownKey { key_id: stranger.id() });
    let expected = format!(
        "signed by a key that is not trusted here: {}; trust it with nbctl key trust FILE",
        stranger.id()
    );
    assert_eq!(error.to_string(), expected);
}

#[test]
fn a_key_inside_a_package_is_not_trusted_for_being_there() {
    let stranger = sample::key();
    let mut files = sample::files();
    files.insert("author.pub", stranger.public().to_string());
    files.insert("trust.d/author.pub", stranger.public().to_string());
    let package = sample::build_with(&files, Some(&stranger)).bytes;
    let error = verify(&package, &Trust::none()).unwrap_err();
    assert!(matches!(error, SignatureError::UnknownKey { .. }));
}

#[test]
fn a_signature_of_another_content_is_not_trusted() {
    let key = sample::key();
    let trust = Trust::of(&key);
    let mut files = sample::files();
    files.insert("texts/greeting.txt", "Good evening.\n");
    let other = entry(&sample::build_with(&files, Some(&key)).bytes, "NAP-SIGNATURE");
    let error = verify(&with_signature(&key, |_| other.clone().into_bytes()), &trust).unwrap_err();
    assert_eq!(error, SignatureError::Altered { label: "author".to_owned(), key_id: key.id() });
    assert!(error.to_string().contains("does not match the content"));
}

#[test]
fn a_signature_under_the_id_of_a_trusted_key_is_not_one_of_that_key() {
    let (trusted, forger) = (sample::key(), sample::key());
    let trust = Trust::of(&trusted);
    let second_line = |text: &str| STANDARD.decode(text.lines().nth(1).unwrap()).unwrap();
    let genuine = second_line(&entry(&sample::signed(&trusted), "NAP-SIGNATURE"));
    let package = with_signature(&forger, |forged| {
        // Two bytes of algorithm, eight of key id, then the signature.
        let disguised = [&genuine[..10], &second_line(forged)[10..]].concat();
        forged.replacen(forged.lines().nth(1).unwrap(), &STANDARD.encode(disguised), 1).into_bytes()
    });
    assert_eq!(verify(&sample::signed(&trusted), &trust).unwrap().key_id, trusted.id());
    assert!(matches!(verify(&package, &trust), Err(SignatureError::Altered { .. })));
}

#[test]
fn a_trusted_comment_that_was_changed_is_not_trusted() {
    let key = sample::key();
    let package =
        with_signature(&key, |text| text.replacen("serial 1767225600", "serial 9999999999", 1).into_bytes());
    assert!(matches!(verify(&package, &Trust::of(&key)), Err(SignatureError::Altered { .. })));
}

#[test]
fn a_revoked_key_is_not_trusted_even_when_it_is_unknown() {
    let key = sample::key();
    for mut trust in [Trust::of(&key), Trust::none()] {
        trust.store.revoke(key.id()).unwrap();
        let error = verify(&sample::signed(&key), &trust).unwrap_err();
        assert_eq!(error, SignatureError::Revoked { key_id: key.id() });
        assert!(error.to_string().contains("was revoked"));
    }
}

#[test]
fn a_key_signs_only_the_names_it_is_trusted_for() {
    let key = sample::key();
    let package = sample::signed(&key);
    assert!(verify(&package, &Trust::none().with(&key, "a", &["repo-*", "hel?o"])).is_ok());
    let error = verify(&package, &Trust::none().with(&key, "ci", &["repo-*", "hell"])).unwrap_err();
    assert!(matches!(error, SignatureError::NotForThisName { .. }));
    let sentence = error.to_string();
    assert!(
        sentence.contains("ci") && sentence.contains("repo-*, hell") && sentence.contains("not for hello")
    );
}

#[test]
fn a_key_signs_only_in_its_days() {
    let key = sample::key();
    let trust = Trust::of(&key);
    std::fs::write(trust.dir.path().join("author.yaml"), "not_before: 2026-02-01\nnot_after: 2026-03-31\n")
        .unwrap();
    let store = trust.reopened();
    let package = opened(&sample::signed(&key));
    let at = |time: &str| package.verify(&store, time.parse::<DateTime<Utc>>().unwrap());
    assert!(at("2026-02-01T00:00:00Z").is_ok());
    assert!(at("2026-03-31T23:59:59Z").is_ok());
    assert!(matches!(at("2026-01-31T23:59:59Z"), Err(SignatureError::NotValidNow { .. })));
    let sentence = at("2026-04-01T00:00:00Z").unwrap_err().to_string();
    assert!(sentence.contains("from 2026-02-01 until 2026-03-31, and today is 2026-04-01"), "{sentence}");
}

#[test]
fn a_malformed_signature_is_told_apart() {
    let key = sample::key();
    let trust = Trust::of(&key);
    let line = |text: &str, index: usize, new: &str| {
        let mut lines: Vec<&str> = text.lines().collect();
        lines[index] = new;
        (lines.join("\n") + "\n").into_bytes()
    };
    let blanks = format!("    {}==", "A".repeat(82));
    let changes: [Change<'_>; 11] = [
        &|_| Vec::new(),
        &|_| vec![0xff; 300],
        &|text| text.repeat(100).into_bytes(),
        &|text| format!("{text}one more line\n").into_bytes(),
        &|text| text.lines().take(3).collect::<Vec<_>>().join("\n").into_bytes(),
        &|text| line(text, 0, "no comment"),
        &|text| line(text, 1, "RUQ="),
        &|text| line(text, 2, "no trusted comment"),
        &|text| line(text, 3, "AAAA"),
        // Decodes to fewer bytes than its length says once the blanks are trimmed.
        &|text| line(text, 3, &blanks),
        // Another algorithm.
        &|text| text.replacen("\nRU", "\nAA", 1).into_bytes(),
    ];
    for (index, change) in changes.into_iter().enumerate() {
        let error = verify(&with_signature(&key, change), &trust).unwrap_err();
        assert!(matches!(error, SignatureError::Malformed(_)), "change {index}: {error:?}");
        assert!(error.to_string().contains("not a minisign signature"));
    }
}

#[test]
fn the_caller_gets_what_a_check_for_downgrades_needs() {
    let key = sample::key();
    let trust = Trust::of(&key);
    let serials = [None, Some(7)].map(|serial| {
        let options = BuildOptions { modified: sample::MODIFIED, serial, key: Some(&key) };
        let package = opened(&build(&sample::files(), options).unwrap().bytes);
        let signer = package.verify(&trust.store, now()).unwrap();
        (signer.key_id, package.name().to_owned(), package.serial())
    });
    assert_eq!(serials, [(key.id(), "hello".to_owned(), 1_767_225_600), (key.id(), "hello".to_owned(), 7)]);
}
