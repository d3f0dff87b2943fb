//! What a sender of webhooks computes.

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

/// The HMAC-SHA256 of a body in hexadecimal.
pub fn hmac_hex(secret: &str, body: impl AsRef<[u8]>) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
    mac.update(body.as_ref());
    hex::encode(mac.finalize().into_bytes())
}

/// The SHA-256 of some bytes in hexadecimal.
pub fn sha256_hex(bytes: impl AsRef<[u8]>) -> String {
    hex::encode(Sha256::digest(bytes.as_ref()))
}
