//! Everything that a package may not be. Each refusal is told apart, and its sentence names the entry or the cap.

use nb_package::{PackageError, open};

use crate::archive::{Archive, entry, gzip};
use crate::sample;

macro_rules! assert_refused {
    ($package:expr, $variant:pat, $($part:expr),+ $(,)?) => {{
        let error = open(&$package).unwrap_err();
        assert!(matches!(error, $variant), "{error:?}");
        let sentence = error.to_string();
        $(assert!(sentence.contains($part), "{sentence:?} does not say {:?}", $part);)+
    }};
}

/// A package whose NAP-DIGESTS is changed by `change`.
fn with_digests(change: impl Fn(&str) -> String) -> Vec<u8> {
    let digests = entry(&sample::unsigned(), "NAP-DIGESTS");
    Archive::with_manifest()
        .file("texts/greeting.txt", "Good morning.\n")
        .file("NAP-DIGESTS", change(&digests))
        .nap()
}

#[test]
fn a_plain_archive_opens_as_unsigned() {
    let package =
        open(&Archive::with_manifest().file("./chains/a.yaml", "x").entry("./", b'5', "").nap()).unwrap();
    assert_eq!(
        (package.name(), package.version().to_string().as_str(), package.serial()),
        ("hello", "1.2.0", 0)
    );
    assert!(package.digests.is_none() && !package.is_signed());
    assert_eq!(package.files.get("chains/a.yaml"), Some(b"x".as_slice()));
}

#[test]
fn what_is_not_gzip_is_refused() {
    assert_refused!([], PackageError::NotGzip, "not gzip");
    assert_refused!(*b"PK\x03\x04 a zip file", PackageError::NotGzip, "not gzip");
    assert_refused!(Archive::with_manifest().tar(), PackageError::NotGzip, "not gzip");
}

#[test]
fn what_is_not_tar_is_refused() {
    assert_refused!(gzip(&[b'x'; 2048]), PackageError::NotTar, "not a tar archive");
}

#[test]
fn a_package_that_is_cut_off_anywhere_is_refused() {
    let package = sample::unsigned();
    for length in 3..package.len() {
        let error = open(&package[..length]).unwrap_err();
        assert!(matches!(error, PackageError::Truncated), "{length}: {error:?}");
    }
    let tar = Archive::with_manifest().tar();
    for length in (0..tar.len()).step_by(256) {
        let error = open(&gzip(&tar[..length])).unwrap_err();
        assert!(matches!(error, PackageError::Truncated), "{length}: {error:?}");
    }
}

#[test]
fn a_wrong_checksum_is_refused() {
    let mut package = sample::unsigned();
    let crc = package.len() - 8;
    package[crc] ^= 1;
    assert_refused!(package, PackageError::Damaged(_), "damaged");
    let mut tar = Archive::with_manifest().file("a", "").tar();
    tar[1024 + 3] = b'x';
    assert_refused!(gzip(&tar), PackageError::Damaged(_), "checksum");
    let odd =
        Archive::with_manifest().tweaked("a", b'0', "", |header| header.as_old_mut().size = *b"9z9999999999");
    assert_refused!(odd.nap(), PackageError::Damaged(_), "size of `a`");
    assert_refused!(
        Archive::with_manifest().entry("a/", b'5', "x").nap(),
        PackageError::Damaged(_),
        "folder `a/`"
    );
    let mut tar = Archive::with_manifest().tar();
    let half = tar.len() - 512;
    tar[half] = 1;
    assert_refused!(gzip(&tar), PackageError::Damaged(_), "one end mark");
}

#[test]
fn something_after_the_end_is_refused() {
    let garbage = [sample::unsigned(), b"x".to_vec()].concat();
    assert_refused!(garbage, PackageError::TrailingData(_), "after the gzip stream");
    let second_member = [sample::unsigned(), gzip(b"more")].concat();
    assert_refused!(second_member, PackageError::TrailingData(_), "after the gzip stream");
    let mut tar = Archive::with_manifest().tar();
    tar.extend(Archive::new().file("hidden", "x").tar());
    assert_refused!(gzip(&tar), PackageError::TrailingData(_), "after the end of the archive");
    let mut padded = Archive::with_manifest().tar();
    padded.resize(10 << 10, 0);
    assert!(open(&gzip(&padded)).is_ok(), "tar fills up to 10 KiB with zeros");
}

#[test]
fn too_many_entries_are_refused() {
    let files =
        (0..4096).fold(Archive::with_manifest(), |archive, index| archive.file(&format!("{index}"), "x"));
    assert_refused!(files.stored_nap(), PackageError::TooManyEntries, "4096");
    let headers =
        (0..4096).fold(Archive::with_manifest(), |archive, _| archive.pax(b'g', &[("comment", "x")]));
    assert_refused!(headers.stored_nap(), PackageError::TooManyEntries, "4096");
}

#[test]
fn more_bytes_than_the_cap_are_refused_at_any_ratio() {
    let mebibyte = vec![b'x'; 1 << 20];
    let archive = (0..65)
        .fold(Archive::with_manifest(), |archive, index| archive.file(&format!("{index:02}.bin"), &mebibyte));
    assert_refused!(archive.stored_nap(), PackageError::TooLarge { .. }, "`63.bin`", "64 MiB");
}

#[test]
fn a_path_that_is_too_long_is_refused_wherever_it_is_written() {
    let long = "x".repeat(256);
    let gnu = Archive::with_manifest().entry("././@LongLink", b'L', format!("{long}\0")).file("short", "");
    assert_refused!(gnu.nap(), PackageError::PathTooLong { .. }, "256 bytes", "255");
    let pax = Archive::with_manifest().pax(b'x', &[("path", &long)]).file("short", "");
    assert_refused!(pax.nap(), PackageError::PathTooLong { .. }, "256 bytes", "255");
    let fits =
        Archive::with_manifest().entry("././@LongLink", b'L', format!("{}\0", &long[1..])).file("short", "");
    assert!(open(&fits.nap()).unwrap().files.get(&long[1..]).is_some());
    let deep = format!("{}f", "d/".repeat(17));
    assert_refused!(
        Archive::with_manifest().file(&deep, "").nap(),
        PackageError::PathTooDeep(_),
        "16 folders"
    );
}

#[test]
fn a_path_that_leads_elsewhere_is_refused_wherever_it_is_written() {
    let written = |path: &str| {
        [
            Archive::with_manifest().file(path, "x"),
            Archive::with_manifest().entry(path, b'5', ""),
            Archive::with_manifest().entry("././@LongLink", b'L', format!("{path}\0")).file("good", "x"),
            Archive::with_manifest().pax(b'x', &[("mtime", "1.5"), ("path", path)]).file("good", "x"),
            Archive::with_manifest().pax(b'x', &[("path", path)]).entry("good", b'5', ""),
        ]
    };
    for package in written("/etc/passwd") {
        assert_refused!(package.nap(), PackageError::AbsolutePath(_), "`/etc/passwd`");
    }
    for path in ["..", "../x", "a/../x", "a/..", "./../x"] {
        for package in written(path) {
            assert_refused!(package.nap(), PackageError::ParentPath(_), "`..`");
        }
    }
    for path in ["a\\b", "..\\b", "C:\\x"] {
        for package in written(path) {
            assert_refused!(package.nap(), PackageError::PathCharacter { .. }, "backslash");
        }
    }
    for path in ["a\nb", "a\x1b[2J", "a\u{85}", "a\x7f"] {
        assert_refused!(
            Archive::with_manifest().file(path, "").nap(),
            PackageError::PathCharacter { .. },
            "control"
        );
    }
    for path in ["a//b", "a/./b", "././a", ".", "", "./"] {
        assert_refused!(
            Archive::with_manifest().file(path, "x").nap(),
            PackageError::PathNotPlain(_),
            "plain path"
        );
    }
}

#[test]
fn the_two_halves_of_a_ustar_path_are_checked_as_one() {
    let package = Archive::with_manifest().tweaked("passwd", b'0', "x", |header| {
        let ustar = header.as_old_mut();
        ustar.pad[88 - 12..].fill(0);
        let bytes = header.as_mut_bytes();
        bytes[257..265].copy_from_slice(b"ustar\x0000");
        bytes[345..352].copy_from_slice(b"../../a");
    });
    assert_refused!(package.nap(), PackageError::ParentPath(_), "../../a/passwd");
}

#[test]
fn a_nul_inside_a_path_is_refused_wherever_it_is_written() {
    let packages = [
        Archive::with_manifest().entry(b"good\0/../evil", b'0', "x"),
        Archive::with_manifest().entry("././@LongLink", b'L', "good\0evil\0").file("short", "x"),
        Archive::with_manifest().pax(b'x', &[("path", "good\0evil")]).file("short", "x"),
    ];
    for package in packages {
        assert_refused!(package.nap(), PackageError::PathCharacter { .. }, "a NUL");
    }
}

#[test]
fn a_path_that_is_not_utf8_is_refused() {
    assert_refused!(
        Archive::with_manifest().entry(b"a\xff", b'0', "").nap(),
        PackageError::PathNotUtf8(_),
        "UTF-8"
    );
}

#[test]
fn links_and_devices_are_refused() {
    let kinds = [
        (b'1', "hard link"),
        (b'2', "symbolic link"),
        (b'3', "character device"),
        (b'4', "block device"),
        (b'6', "fifo"),
        (b'7', "type `7`"),
        (b'S', "sparse file"),
        (b'K', "long target"),
        (b'V', "type `V`"),
        (b'M', "type `M`"),
    ];
    for (kind, name) in kinds {
        let package = Archive::with_manifest().tweaked("link", kind, "", |header| {
            header.as_old_mut().linkname[..11].copy_from_slice(b"/etc/passwd")
        });
        assert_refused!(package.nap(), PackageError::NotAFile { .. }, "`link`", name);
    }
}

#[test]
fn an_extended_header_changes_a_path_and_nothing_else() {
    for key in
        ["size", "linkpath", "GNU.sparse.major", "GNU.sparse.name", "GNU.sparse.realsize", "hdrcharset"]
    {
        let package = Archive::with_manifest().pax(b'x', &[(key, "1")]).file("a", "x");
        assert_refused!(package.nap(), PackageError::ExtendedHeader { .. }, key);
        let global = Archive::with_manifest().pax(b'g', &[(key, "1")]).file("a", "x");
        assert_refused!(global.nap(), PackageError::ExtendedHeader { .. }, key);
    }
    let renames_all = Archive::with_manifest().pax(b'g', &[("path", "b")]).file("a", "x");
    assert_refused!(renames_all.nap(), PackageError::ExtendedHeader { .. }, "`path`");
    let twice =
        Archive::with_manifest().entry("l", b'L', "one\0").pax(b'x', &[("path", "two")]).file("a", "x");
    assert_refused!(twice.nap(), PackageError::ExtendedHeader { .. }, "second name");
    for malformed in ["x", "99 path=b\n", "9 path=b", "11 path\u{a0}b\n", "8 path=b\nrest"] {
        let package = Archive::with_manifest().entry("p", b'x', malformed).file("a", "x");
        assert_refused!(package.nap(), PackageError::ExtendedHeader { .. }, "malformed");
    }
    let huge = Archive::with_manifest().entry("p", b'x', vec![b'x'; (64 << 10) + 1]).file("a", "x");
    assert_refused!(huge.nap(), PackageError::ExtendedHeader { .. }, "65537 bytes");
    let dangling = Archive::with_manifest().entry("././@LongLink", b'L', "name\0");
    assert_refused!(dangling.nap(), PackageError::Damaged(_), "long name has no entry");
    let harmless = [("mtime", "1.5"), ("uname", "me"), ("SCHILY.xattr.user.x", "y"), ("path", "b")];
    assert!(
        open(&Archive::with_manifest().pax(b'x', &harmless).file("a", "x").nap())
            .unwrap()
            .files
            .get("b")
            .is_some()
    );
}

#[test]
fn a_duplicate_is_refused() {
    assert_refused!(
        Archive::with_manifest().file("a", "1").file("a", "1").nap(),
        PackageError::Duplicate(_),
        "`a`"
    );
    assert_refused!(
        Archive::with_manifest().file("a", "1").file("./a", "2").nap(),
        PackageError::Duplicate(_),
        "`a`"
    );
    let second_digests = Archive::with_manifest().file("NAP-DIGESTS", "x").file("NAP-DIGESTS", "y");
    assert_refused!(second_digests.nap(), PackageError::Duplicate(_), "NAP-DIGESTS");
}

#[test]
fn names_that_differ_only_by_case_are_refused() {
    let package = Archive::with_manifest().file("a/b.lua", "").file("a/B.lua", "");
    assert_refused!(package.nap(), PackageError::CaseConflict { .. }, "`a/b.lua`", "`a/B.lua`");
    let package = Archive::with_manifest().file("a/b.lua", "").file("A/c.lua", "");
    assert_refused!(package.nap(), PackageError::CaseConflict { .. }, "`a`", "`A`");
    let package = Archive::with_manifest().file("straße", "").file("STRASSE", "");
    assert_refused!(package.nap(), PackageError::CaseConflict { .. }, "straße");
}

#[test]
fn a_path_that_is_a_file_and_a_folder_is_refused() {
    for package in [
        Archive::with_manifest().file("a", "").file("a/b", ""),
        Archive::with_manifest().file("a/b", "").file("a", ""),
        Archive::with_manifest().file("a", "").entry("a/", b'5', ""),
    ] {
        assert_refused!(package.nap(), PackageError::FileAndFolder(_), "`a`");
    }
}

#[test]
fn a_file_that_is_not_listed_is_refused() {
    let digests = entry(&sample::unsigned(), "NAP-DIGESTS");
    let package = Archive::with_manifest()
        .file("texts/greeting.txt", "Good morning.\n")
        .file("extra.lua", "evil()")
        .file("NAP-DIGESTS", digests);
    assert_refused!(package.nap(), PackageError::NotListed(_), "`extra.lua`");
}

#[test]
fn a_file_that_is_listed_and_missing_is_refused() {
    let digests = entry(&sample::unsigned(), "NAP-DIGESTS");
    let package = Archive::with_manifest().file("NAP-DIGESTS", digests);
    assert_refused!(package.nap(), PackageError::Missing(_), "`texts/greeting.txt`");
}

#[test]
fn an_altered_file_is_refused_by_name() {
    let digests = entry(&sample::unsigned(), "NAP-DIGESTS");
    let with = |text: &str| {
        Archive::with_manifest().file("texts/greeting.txt", text).file("NAP-DIGESTS", &digests).nap()
    };
    assert_refused!(with("Good evening.\n"), PackageError::Altered(_), "`texts/greeting.txt`", "altered");
    assert_refused!(
        with("Good morning"),
        PackageError::SizeMismatch { .. },
        "`texts/greeting.txt`",
        "14",
        "12"
    );
}

#[test]
fn digests_have_exactly_one_spelling() {
    assert!(open(&with_digests(str::to_owned)).is_ok());
    let cases: [(&str, &str, &str); 22] = [
        ("nap 1\n", "nap 2\n", "line 1: has format 2"),
        ("nap 1\n", "", "line 1"),
        ("nap 1\n", "nap 01\n", "line 1"),
        ("name hello", "name Hello", "line 2"),
        ("name hello", "name ../x", "line 2"),
        ("name hello", "label hello", "line 2"),
        ("name hello\n", "name hello\r\n", "line 2"),
        ("version 1.2.0", "version 1.2", "line 3"),
        ("serial 1767225600", "serial +1767225600", "line 4"),
        ("serial 1767225600", "serial 01767225600", "line 4"),
        ("serial 1767225600", "serial 99999999999999999999", "line 4"),
        ("created 2026-01-01T00:00:00Z", "created 2026-01-01 00:00", "line 5"),
        ("created 2026-01-01T00:00:00Z", "created 2026-1-1T00:00:00Z", "line 5"),
        (" 0644 manifest.yaml", " 0755 manifest.yaml", "line 6"),
        (" 0644 manifest.yaml", "  0644 manifest.yaml", "line 6"),
        (" 0644 manifest.yaml", " 0644 ./manifest.yaml", "line 6"),
        (" 14 0644", " 014 0644", "line 7"),
        (" 14 0644", " x 0644", "line 7"),
        ("texts/greeting.txt", "a/greeting.txt", "out of order"),
        ("texts/greeting.txt", "manifest.yaml", "out of order"),
        ("greeting.txt\n", "greeting.txt", "line 7"),
        ("greeting.txt\n", "greeting.txt\n\n", "line 8"),
    ];
    for (from, to, sentence) in cases {
        let package = with_digests(|digests| {
            assert!(digests.contains(from), "{from:?}");
            digests.replacen(from, to, 1)
        });
        assert_refused!(package, PackageError::DigestsSyntax { .. }, sentence);
    }
    let upper = with_digests(|digests| {
        let (head, files) = digests.split_at(digests.find("00:00:00Z\n").unwrap() + 10);
        let (sha256, rest) = files.split_at(64);
        format!("{head}{}{rest}", sha256.to_uppercase())
    });
    assert_refused!(upper, PackageError::DigestsSyntax { .. }, "line 6");
    assert_refused!(with_digests(|_| String::new()), PackageError::DigestsSyntax { .. }, "line 1");
    let escaping = with_digests(|digests| digests.replacen("texts/greeting.txt", "texts/../x", 1));
    assert_refused!(escaping, PackageError::ParentPath(_), "..");
    let endless = with_digests(|digests| {
        let line = |index| format!("{} 1 0644 z{index:05}\n", "0".repeat(64));
        digests.to_owned() + &(0..4096).map(line).collect::<String>()
    });
    assert_refused!(endless, PackageError::DigestsSyntax { .. }, "4096 files");
}

#[test]
fn digests_that_speak_of_another_agent_are_refused() {
    let other_name = with_digests(|digests| digests.replacen("name hello", "name goodbye", 1));
    assert_refused!(other_name, PackageError::Identity { .. }, "name `goodbye`", "`hello`");
    let other_version = with_digests(|digests| digests.replacen("version 1.2.0", "version 9.0.0", 1));
    assert_refused!(other_version, PackageError::Identity { .. }, "version `9.0.0`", "`1.2.0`");
}

#[test]
fn a_signature_of_nothing_is_refused() {
    let package = Archive::with_manifest().file("NAP-SIGNATURE", "x");
    assert_refused!(package.nap(), PackageError::SignatureWithoutDigests, "NAP-DIGESTS");
}

#[test]
fn a_package_needs_one_manifest_with_a_name_and_a_version() {
    assert_refused!(Archive::new().nap(), PackageError::ManifestCount(_), "no manifest");
    let two = Archive::with_manifest().file("manifest.json", "{}");
    assert_refused!(two.nap(), PackageError::ManifestCount(_), "more than one");
    let nested = Archive::new().file("sub/manifest.yaml", sample::MANIFEST);
    assert_refused!(nested.nap(), PackageError::ManifestCount(_), "no manifest");
    for manifest in [
        "name: ../../x\nversion: 1.0.0\n",
        "name: Hello\nversion: 1.0.0\n",
        "name: hello\nversion: one\n",
        "name: hello\n",
        "name: a\nname: b\nversion: 1.0.0\n",
        "\u{0}",
        "",
    ] {
        let package = Archive::new().file("manifest.yaml", manifest);
        assert_refused!(package.nap(), PackageError::Manifest(_), "name and version");
    }
    let huge =
        Archive::new().file("manifest.yaml", format!("{}#{}", sample::MANIFEST, "[".repeat(256 << 10)));
    assert_refused!(huge.nap(), PackageError::Manifest(_), "at most 262144");
}
