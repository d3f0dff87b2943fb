//! Secret and public keys in minisign's files.
//!
//! A secret key is stored without a password, as `minisign -G -W` writes it, and is protected by its file's mode.

use std::fmt;
use std::fs::{self, File};
use std::io::{Cursor, ErrorKind, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use minisign::{KeyPair, SecretKeyBox, SignatureBox};
use ring::signature::Ed25519KeyPair;

use crate::digests::Digests;
use crate::disk;
use crate::error::KeyError;
use crate::key_id::KeyId;
use crate::signature;

/// Key files have two short lines.
const MAX_FILE_BYTES: u64 = 4 << 10;

/// A secret key: three algorithms (2 bytes each), salt (32), two limits (8 each), key id (8), seed (32), public key (32)
/// and checksum.
const SECRET_KEY_BYTES: usize = 158;
const CHECKSUM_BYTES: usize = 32;

/// Signs packages. Neither `Debug` nor any error shows it.
pub struct SecretKey {
    key: minisign::SecretKey,
    pair: Ed25519KeyPair,
    public: PublicKey,
}

impl SecretKey {
    /// A new key from the system's randomness.
    pub fn generate() -> Result<Self, KeyError> {
        let pair =
            KeyPair::generate_unencrypted_keypair().map_err(|error| KeyError::Unusable(error.to_string()))?;
        Self::new(pair.sk)
    }

    fn new(key: minisign::SecretKey) -> Result<Self, KeyError> {
        let bytes = key.to_bytes();
        let end = SECRET_KEY_BYTES - CHECKSUM_BYTES;
        let pair =
            bytes.get(end - 64..end).ok_or_else(|| KeyError::Unusable("it is too short".to_owned()))?;
        let (seed, public) = pair.split_at(32);
        let pair = Ed25519KeyPair::from_seed_and_public_key(seed, public).map_err(|_| {
            KeyError::Unusable("its secret and its public half do not belong together".to_owned())
        })?;
        let public = minisign::PublicKey::from_secret_key(&key)
            .map_err(|error| KeyError::Unusable(error.to_string()))?;
        let public =
            PublicKey::new(public).ok_or_else(|| KeyError::Unusable("it has no key id".to_owned()))?;
        Ok(Self { key, pair, public })
    }

    /// Reads a key file. It must be readable for its owner only, and not be under a password.
    pub fn load(path: &Path) -> Result<Self, KeyError> {
        let mut file = File::open(path).map_err(KeyError::io("open", path))?;
        let metadata = file.metadata().map_err(KeyError::io("read", path))?;
        if !metadata.is_file() || metadata.len() > MAX_FILE_BYTES {
            return Err(KeyError::NotSecret(path.to_owned()));
        }
        let mode = metadata.permissions().mode() & 0o7777;
        if mode & 0o077 != 0 {
            return Err(KeyError::Readable { path: path.to_owned(), mode });
        }
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(KeyError::io("read", path))?;
        let encoded = text.lines().nth(1).unwrap_or_default();
        let bytes = STANDARD.decode(encoded).unwrap_or_default();
        // Bytes 2 and 3 name the key derivation: `Sc` is scrypt, zeros are none.
        if bytes.get(2..4) == Some(b"Sc") {
            return Err(KeyError::Protected(path.to_owned()));
        }
        // `minisign -G -W` leaves the checksum zero, which the library takes for a wrong one.
        let without_checksum = bytes.len() == SECRET_KEY_BYTES
            && bytes.starts_with(b"Ed\0\0B2")
            && bytes.iter().rev().take(CHECKSUM_BYTES).all(|byte| *byte == 0);
        let key = if without_checksum {
            minisign::SecretKey::from_bytes(&bytes)
        } else {
            minisign::SecretKey::from_unencrypted_box(SecretKeyBox::from(text))
        };
        let key = key.map_err(|_| KeyError::NotSecret(path.to_owned()))?;
        Self::new(key)
    }

    /// Writes the key file with mode 0600. A file that is there already is never overwritten.
    pub fn save(&self, path: &Path) -> Result<(), KeyError> {
        let comment = format!("minisign secret key {}", self.id());
        let text = self.key.to_box(Some(&comment)).map_err(|error| KeyError::Unusable(error.to_string()))?;
        write_key(path, text.to_string().as_bytes(), 0o600)
    }

    /// The key that verifies what this one signs.
    pub fn public(&self) -> &PublicKey {
        &self.public
    }

    /// The key's id, which it shares with its public key.
    pub fn id(&self) -> KeyId {
        self.public.id()
    }

    pub(crate) fn sign(&self, digests: &Digests) -> String {
        signature::sign(&self.pair, self.id(), digests)
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SecretKey({})", self.id())
    }
}

/// Verifies signatures.
#[derive(Clone, PartialEq, Eq)]
pub struct PublicKey {
    key: minisign::PublicKey,
    id: KeyId,
}

impl PublicKey {
    fn new(key: minisign::PublicKey) -> Option<Self> {
        let id = KeyId::from_bytes(key.keynum())?;
        key.to_bytes().starts_with(b"Ed").then_some(Self { key, id })
    }

    /// Reads the text of a public key file, or its second line alone, as people paste it.
    pub fn parse(text: &str) -> Result<Self, KeyError> {
        let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let encoded = match lines[..] {
            [encoded] => Some(encoded),
            [comment, encoded] if comment.starts_with("untrusted comment:") => Some(encoded),
            _ => None,
        };
        encoded
            .and_then(|encoded| minisign::PublicKey::from_base64(encoded).ok())
            .and_then(Self::new)
            .ok_or_else(|| KeyError::NotPublic { from: "the text".to_owned() })
    }

    /// Reads a public key file.
    pub fn load(path: &Path) -> Result<Self, KeyError> {
        let not_public = || KeyError::NotPublic { from: path.display().to_string() };
        if fs::metadata(path).map_err(KeyError::io("open", path))?.len() > MAX_FILE_BYTES {
            return Err(not_public());
        }
        match fs::read_to_string(path) {
            Ok(text) => Self::parse(&text).map_err(|_| not_public()),
            Err(error) if error.kind() == ErrorKind::InvalidData => Err(not_public()),
            Err(error) => Err(KeyError::io("read", path)(error)),
        }
    }

    /// Writes the public key file with mode 0644. A file that is there already is never overwritten.
    pub fn save(&self, path: &Path) -> Result<(), KeyError> {
        write_key(path, self.to_string().as_bytes(), 0o644)
    }

    /// The key's id.
    pub fn id(&self) -> KeyId {
        self.id
    }

    pub(crate) fn verify(&self, signature: &SignatureBox, content: &[u8]) -> bool {
        minisign::verify(&self.key, signature, Cursor::new(content), true, false, false).is_ok()
    }
}

impl fmt::Display for PublicKey {
    /// The text of the public key file.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "untrusted comment: minisign public key {}\n{}\n", self.id, self.key.to_base64())
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({})", self.id)
    }
}

fn write_key(path: &Path, bytes: &[u8], mode: u32) -> Result<(), KeyError> {
    disk::write_new(path, bytes, mode).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => KeyError::Exists(path.to_owned()),
        _ => KeyError::io("write", path)(error),
    })
}
