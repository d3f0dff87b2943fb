//! NAP-SIGNATURE: a minisign signature of NAP-DIGESTS.
//!
//! Written as minisign 0.11 writes it (Ed25519 over BLAKE2b-512 of the file, a trusted comment under a second
//! signature). The trusted comment is `nap NAME VERSION serial SERIAL`, so that `minisign -V` shows what was signed.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use blake2::{Blake2b512, Digest};
use minisign::SignatureBox;
use ring::signature::Ed25519KeyPair;

use crate::digests::Digests;
use crate::error::SignatureError;
use crate::key_id::KeyId;
use crate::keys::PublicKey;

/// A signature has four short lines. More is not one.
const MAX_BYTES: usize = 4 << 10;

/// Base64 of algorithm (2 bytes), key id (8) and signature (64).
const SIGNATURE_CHARS: usize = 100;
/// Base64 of a signature alone.
const GLOBAL_CHARS: usize = 88;

/// What the trusted comment has to be.
pub(crate) fn trusted_comment(digests: &Digests) -> String {
    format!("nap {} {} serial {}", digests.name, digests.version, digests.serial)
}

/// Signs. The same key and digests give the same text: the nonce is the one of RFC 8032, and no comment has a time.
pub(crate) fn sign(pair: &Ed25519KeyPair, key_id: KeyId, digests: &Digests) -> String {
    let signature = pair.sign(&Blake2b512::digest(digests.to_string()));
    let comment = trusted_comment(digests);
    let global = pair.sign(&[signature.as_ref(), comment.as_bytes()].concat());
    let signature = [b"ED".as_slice(), &key_id.to_bytes(), signature.as_ref()].concat();
    format!(
        "untrusted comment: signature by minisign key {key_id}\n{}\ntrusted comment: {comment}\n{}\n",
        STANDARD.encode(signature),
        STANDARD.encode(global)
    )
}

/// A signature that has the form of one; whether it is right is not known yet.
pub(crate) struct Signature {
    parsed: SignatureBox,
    pub(crate) key_id: KeyId,
    pub(crate) trusted_comment: String,
}

impl Signature {
    /// Checks the form completely before the library sees it: it takes the lengths of the decoded parts on trust.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, SignatureError> {
        if bytes.len() > MAX_BYTES {
            return Err(SignatureError::Malformed("it is too long"));
        }
        let text = std::str::from_utf8(bytes).map_err(|_| SignatureError::Malformed("it is not UTF-8"))?;
        let lines: Vec<&str> = text.lines().collect();
        let [_, signature, _, global] = lines[..] else {
            return Err(SignatureError::Malformed("it does not have four lines"));
        };
        if !is_base64(signature, SIGNATURE_CHARS, "=") || !is_base64(global, GLOBAL_CHARS, "==") {
            return Err(SignatureError::Malformed("a line of it is not base64 of the right length"));
        }
        let malformed = SignatureError::Malformed("a line of it cannot be read");
        let Ok(parsed) = SignatureBox::from_string(text) else { return Err(malformed) };
        let (Some(key_id), Ok(trusted_comment)) =
            (KeyId::from_bytes(parsed.keynum()), parsed.trusted_comment())
        else {
            return Err(malformed);
        };
        Ok(Self { parsed, key_id, trusted_comment })
    }

    /// Whether this key made the signature of exactly this text, and of the trusted comment.
    pub(crate) fn is_valid(&self, key: &PublicKey, digests: &Digests) -> bool {
        key.verify(&self.parsed, digests.to_string().as_bytes())
    }
}

/// Digits and nothing else: the library trims a line before it decodes it, so a blank would make the result shorter.
fn is_base64(line: &str, chars: usize, padding: &str) -> bool {
    let is_digit = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/');
    line.len() == chars && line.strip_suffix(padding).is_some_and(|digits| digits.chars().all(is_digit))
}
