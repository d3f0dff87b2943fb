//! `hmac`: `X-Webhook-Signature` holds the hex HMAC-SHA256 of the body, with or without `sha256=` before it.

use chrono::{DateTime, Utc};

use super::{Forged, Headers, Scheme, mac, same};

pub(super) struct HmacHex;

const HEADER: &str = "x-webhook-signature";

impl Scheme for HmacHex {
    fn headers(&self) -> &'static [&'static str] {
        &[HEADER]
    }

    fn signs_id(&self) -> bool {
        false
    }

    fn verify(
        &self,
        secret: &[u8],
        headers: Headers<'_>,
        body: &[u8],
        _: DateTime<Utc>,
    ) -> Result<Option<String>, Forged> {
        let given = headers.one(HEADER).ok_or(Forged)?;
        check_hex(secret, given.strip_prefix("sha256=").unwrap_or(given), body).map(|()| None)
    }

    fn sign(&self, secret: &[u8], body: &[u8], _: DateTime<Utc>, _: &str) -> Vec<(String, String)> {
        vec![("X-Webhook-Signature".to_owned(), format!("sha256={}", hex::encode(mac(secret, &[body]))))]
    }
}

/// Checks the hex HMAC of a body.
pub(super) fn check_hex(secret: &[u8], given: &str, body: &[u8]) -> Result<(), Forged> {
    let given = hex::decode(given.trim()).map_err(|_| Forged)?;
    if same(&mac(secret, &[body]), &given) { Ok(()) } else { Err(Forged) }
}
