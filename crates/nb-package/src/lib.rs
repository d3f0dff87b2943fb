//! Signed packages: build, open, verify, stage; and the keys that are trusted.
//!
//! A package (`.nap`) is a gzipped tar of an agent's folder with two files on top: NAP-DIGESTS lists every file with
//! its SHA-256, NAP-SIGNATURE is a minisign signature of that list. `tar` and `minisign` are enough to check one by
//! hand: `minisign -Vm NAP-DIGESTS -x NAP-SIGNATURE -p key.pub`.
//!
//! # Layout
//!
//! - [`mod@build`]: a folder to a package.
//! - [`mod@open`]: bytes to a [`open::Package`], and whether its signature is one to trust.
//! - [`mod@stage`]: a package to a folder of its own, in one step.
//! - [`digests`]: the list of files, NAP-DIGESTS.
//! - `gunzip`, `untar`, `paths`: reading an archive under caps.
//! - [`keys`], [`key_id`], `signature`: minisign's key and signature files.
//! - [`trust`], `name_glob`: which keys may sign which names, and when.
//! - `disk`: writing so that a crash leaves the old or the new.
//! - [`error`]: all that can be wrong.
//!
//! # Invariants
//!
//! - Opening never trusts a size: memory grows with what arrives, and every cap stops the reading, not what follows it.
//! - What is not a plain file with a plain path is refused, never skipped or repaired.
//! - A package that opened has exactly the files that its digests list, and its name is a plain folder name.
//! - The same files, modification time, serial and key give the same bytes.
//! - Opening decides nothing about trust, and a key inside a package is a file like any other.
//! - No clock and no network. The only randomness is that of a new key and of names of temporary files.

pub mod build;
pub mod digests;
mod disk;
pub mod error;
mod gunzip;
pub mod key_id;
pub mod keys;
mod name_glob;
pub mod open;
mod paths;
mod signature;
pub mod stage;
pub mod trust;
mod untar;

pub use build::{BuildOptions, Built, build, newest_mtime};
pub use digests::Digests;
pub use error::{KeyError, PackageError, SignatureError};
pub use key_id::KeyId;
pub use keys::{PublicKey, SecretKey};
pub use open::{Package, Signer, open};
pub use stage::{Staged, clean_staging, stage};
pub use trust::{TrustStore, TrustedKey};
