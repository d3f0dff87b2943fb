//! What can be wrong with a package, with its signature, and with keys.

use std::io;
use std::path::{Path, PathBuf};

use nb_spec::Problems;
use nb_spec::files::{FilesError, MAX_FILES, MAX_TOTAL_BYTES};

use crate::gunzip::{MAX_RATIO, RATIO_FREE_BYTES};
use crate::key_id::KeyId;
use crate::paths::{MAX_DEPTH, MAX_PATH_BYTES};

/// Why a package cannot be built, opened or staged. Names from inside a package are shown escaped and shortened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PackageError {
    /// The bytes are no gzip stream.
    #[error("this is not a package: it is not gzip-compressed")]
    NotGzip,
    /// The unpacked bytes are no tar archive.
    #[error("this is not a package: it unpacks to something that is not a tar archive")]
    NotTar,
    /// The bytes end too early.
    #[error("the package is cut off: it ends in the middle; copy or download it again")]
    Truncated,
    /// A checksum or a field of the container is wrong.
    #[error("the package is damaged: {0}; copy or download it again")]
    Damaged(String),
    /// Bytes after the end of the archive or of its gzip stream.
    #[error("the package has something after its end ({0}); a package holds one archive and nothing else")]
    TrailingData(&'static str),
    /// More entries than the cap.
    #[error("the package has more than {MAX_FILES} entries, which is the most that is allowed")]
    TooManyEntries,
    /// More bytes than the cap.
    #[error("`{entry}` takes the package over {} MiB unpacked, which is the most that is allowed", MAX_TOTAL_BYTES >> 20)]
    TooLarge {
        /// The entry that goes over the cap.
        entry: String,
    },
    /// A decompression bomb.
    #[error(
        "the package unpacks to more than {MAX_RATIO} times its size ({unpacked} bytes out of {packed} so far; the first {} MiB are free): this is a decompression bomb or needless filler",
        RATIO_FREE_BYTES >> 20
    )]
    Bomb {
        /// Compressed bytes read when it was stopped.
        packed: u64,
        /// Bytes unpacked when it was stopped.
        unpacked: u64,
    },
    /// A path over the cap.
    #[error("`{entry}` has a path of {length} bytes; at most {MAX_PATH_BYTES} are allowed")]
    PathTooLong {
        /// The path's beginning.
        entry: String,
        /// Its length in bytes.
        length: usize,
    },
    /// Folders in folders over the cap.
    #[error("`{0}` lies more than {MAX_DEPTH} folders deep")]
    PathTooDeep(String),
    /// A path from the root of the file system.
    #[error("`{0}` is an absolute path; a package holds only paths below its own folder")]
    AbsolutePath(String),
    /// A path with `..` in it.
    #[error("`{0}` leads out of the package's folder with `..`")]
    ParentPath(String),
    /// A path with a character that some system reads as something else.
    #[error("`{entry}` has {character} in its path")]
    PathCharacter {
        /// The path, escaped.
        entry: String,
        /// Which character.
        character: &'static str,
    },
    /// A path that is not UTF-8.
    #[error("`{0}` is a path that is not UTF-8")]
    PathNotUtf8(String),
    /// A path with an empty part or `.` in it.
    #[error("`{0}` is not a plain path: it has an empty part or `.` in it")]
    PathNotPlain(String),
    /// A link, a device, a fifo, a sparse file.
    #[error("`{entry}` is a {kind}; a package holds only regular files and folders")]
    NotAFile {
        /// The entry's path.
        entry: String,
        /// What it is.
        kind: String,
    },
    /// An extension header that changes more than a file's path.
    #[error("an extended header before `{entry}` {reason}")]
    ExtendedHeader {
        /// The entry's path.
        entry: String,
        /// What is wrong with the header.
        reason: String,
    },
    /// The same path twice.
    #[error("`{0}` is in the package twice")]
    Duplicate(String),
    /// Two paths that are one on a file system that ignores case.
    #[error("`{first}` and `{second}` differ only by case")]
    CaseConflict {
        /// The path that came first.
        first: String,
        /// The path that came second.
        second: String,
    },
    /// A path that is a file and a folder.
    #[error("`{0}` is both a file and a folder")]
    FileAndFolder(String),
    /// A folder that is to be built has a file of the package format in it.
    #[error("`{0}` is a name that packages use for themselves; delete that file from the folder")]
    Reserved(String),
    /// A file that NAP-DIGESTS does not list.
    #[error("`{0}` is in the package but NAP-DIGESTS does not list it")]
    NotListed(String),
    /// A file that NAP-DIGESTS lists and the package lacks.
    #[error("`{0}` is listed in NAP-DIGESTS but is not in the package")]
    Missing(String),
    /// A file of another size than listed.
    #[error("`{entry}` was altered: NAP-DIGESTS lists {listed} bytes, the package has {actual}")]
    SizeMismatch {
        /// The file.
        entry: String,
        /// Bytes according to NAP-DIGESTS.
        listed: u64,
        /// Bytes in the package.
        actual: u64,
    },
    /// A file with other content than listed.
    #[error("`{0}` was altered: its content is not the one that NAP-DIGESTS lists")]
    Altered(String),
    /// NAP-DIGESTS does not follow its syntax.
    #[error("NAP-DIGESTS line {line}: {reason}")]
    DigestsSyntax {
        /// Counted from 1.
        line: usize,
        /// What is wrong.
        reason: String,
    },
    /// NAP-SIGNATURE without NAP-DIGESTS.
    #[error("the package has NAP-SIGNATURE but no NAP-DIGESTS, so nothing is signed")]
    SignatureWithoutDigests,
    /// No manifest at the root, or not exactly one.
    #[error("the package has {0}; it needs one of manifest.yaml, manifest.yml and manifest.json at its root")]
    ManifestCount(&'static str),
    /// A manifest without a readable name and version.
    #[error("the manifest has no usable name and version: {0}")]
    Manifest(String),
    /// NAP-DIGESTS and the manifest speak of different agents.
    #[error("NAP-DIGESTS says {field} `{digests}`, the manifest says `{manifest}`")]
    Identity {
        /// `name` or `version`.
        field: &'static str,
        /// What NAP-DIGESTS says.
        digests: String,
        /// What the manifest says.
        manifest: String,
    },
    /// The agent inside does not load.
    #[error("{0}")]
    Agent(Problems),
    /// A modification time that is no date.
    #[error(
        "the newest modification time ({0} s) is beyond any calendar; set the clock right and touch the files"
    )]
    Modified(u64),
    /// The folder cannot be read.
    #[error(transparent)]
    Files(#[from] FilesError),
    /// The key cannot sign.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The file system refuses, for example because it is full.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// Where.
        path: PathBuf,
        /// The system's own error.
        source: io::Error,
    },
    /// The folder of that digest is there and holds something else.
    #[error("{} was changed since it was installed; uninstall the agent (its data stays) and install it again", .0.display())]
    Occupied(PathBuf),
}

/// Why a package's signature does not make it installable.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum SignatureError {
    /// There is no signature.
    #[error("{name} is not signed; install it only if you trust where it came from, with --allow-unsigned")]
    Unsigned {
        /// The agent's name.
        name: String,
    },
    /// NAP-SIGNATURE is no minisign signature.
    #[error("NAP-SIGNATURE is not a minisign signature: {0}; get the package again from its source")]
    Malformed(&'static str),
    /// The signature is not one of this content.
    #[error(
        "the signature does not match the content: the package was altered after {label} ({key_id}) signed it; get it again from its source"
    )]
    Altered {
        /// The label of the trusted key that is said to have signed.
        label: String,
        /// Its id.
        key_id: KeyId,
    },
    /// Signed, but as something else.
    #[error(
        "the signature was made for `{signed}`, but this package is `{package}`; get it again from its source"
    )]
    OtherPackage {
        /// The trusted comment.
        signed: String,
        /// What it has to be.
        package: String,
    },
    /// The key is not in the trust store.
    #[error("signed by a key that is not trusted here: {key_id}; trust it with nbctl key trust FILE")]
    UnknownKey {
        /// The signing key.
        key_id: KeyId,
    },
    /// The key was revoked.
    #[error(
        "signed by a key that was revoked: {key_id}; ask the author for a package signed with another key"
    )]
    Revoked {
        /// The signing key.
        key_id: KeyId,
    },
    /// The key is trusted for other names.
    #[error(
        "the key {label} ({key_id}) is trusted only for {globs}, not for {name}; widen it in the trust store if that is meant"
    )]
    NotForThisName {
        /// The key's label.
        label: String,
        /// The signing key.
        key_id: KeyId,
        /// The agent's name.
        name: String,
        /// The name patterns, separated by commas.
        globs: String,
    },
    /// The key is trusted in another period.
    #[error("the key {label} ({key_id}) is trusted {period}, and today is {today}")]
    NotValidNow {
        /// The key's label.
        label: String,
        /// The signing key.
        key_id: KeyId,
        /// Such as `from 2026-01-01 until 2026-12-31`.
        period: String,
        /// The date of the check, in UTC.
        today: String,
    },
}

/// Why a key file or the trust store cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// The file system refuses.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// Where.
        path: PathBuf,
        /// The system's own error.
        source: io::Error,
    },
    /// The file is there; keys are never overwritten.
    #[error("{} is there already and is not overwritten; choose another name", .0.display())]
    Exists(PathBuf),
    /// Others than the owner can read the secret key.
    #[error("{} can be read by others (mode {mode:04o}); run: chmod 600 {}", path.display(), path.display())]
    Readable {
        /// The secret key's file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// The secret key is under a password.
    #[error("{} is protected by a password, which cannot be asked for here; remove it with: minisign -C -W -s {}", .0.display(), .0.display())]
    Protected(PathBuf),
    /// Not a secret key.
    #[error("{} is not a minisign secret key", .0.display())]
    NotSecret(PathBuf),
    /// Not a public key.
    #[error("{from} is not a minisign public key (a comment line, then one line of 56 characters)")]
    NotPublic {
        /// The file, or `the text`.
        from: String,
    },
    /// Not a key id.
    #[error("`{0}` is not a key id; it has 16 hexadecimal digits")]
    NotKeyId(String),
    /// A label that is no plain file name.
    #[error(
        "`{0}` is not a label for a key; use 1 to 64 letters, digits, `-`, `_` and `.`, with a letter or digit first"
    )]
    Label(String),
    /// A name pattern that cannot match any name.
    #[error(
        "`{0}` is not a name pattern; use lower-case letters, digits, `-`, `_`, and `*` or `?` as placeholders"
    )]
    Glob(String),
    /// The same key under two labels.
    #[error("the key {key_id} is trusted already, as {label}")]
    Present {
        /// The key.
        key_id: KeyId,
        /// The label it has.
        label: String,
    },
    /// The key was revoked.
    #[error(
        "the key {0} was revoked; to trust it again, first delete its line from the file `revoked` in the trust store"
    )]
    Revoked(KeyId),
    /// A file of the trust store that cannot be read as what it has to be.
    #[error("{}: {reason}", path.display())]
    Store {
        /// The file.
        path: PathBuf,
        /// What is wrong and how it has to be.
        reason: String,
    },
    /// No randomness, or a secret key whose halves do not fit together.
    #[error("the key cannot be used: {0}")]
    Unusable(String),
}

impl PackageError {
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { action, path: path.to_owned(), source }
    }
}

impl KeyError {
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { action, path: path.to_owned(), source }
    }
}
