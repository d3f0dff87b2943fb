//! `standard`: Standard Webhooks 1.0. `webhook-signature` holds one or more `v1,` and the base64 HMAC-SHA256 of
//! `id.timestamp.body`.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chrono::{DateTime, Utc};

use super::{Forged, Headers, Scheme, is_fresh, mac, same};

pub(super) struct Standard;

impl Scheme for Standard {
    fn headers(&self) -> &'static [&'static str] {
        &["webhook-signature"]
    }

    fn signs_id(&self) -> bool {
        true
    }

    fn verify(
        &self,
        secret: &[u8],
        headers: Headers<'_>,
        body: &[u8],
        now: DateTime<Utc>,
    ) -> Result<Option<String>, Forged> {
        let id = headers.one("webhook-id").ok_or(Forged)?;
        let at = headers.one("webhook-timestamp").filter(|at| is_fresh(at, now)).ok_or(Forged)?;
        let given = headers.one("webhook-signature").ok_or(Forged)?;
        let expected = mac(&key(secret), &[id.as_bytes(), b".", at.as_bytes(), b".", body]);
        let fits = given
            .split(' ')
            .filter_map(|one| one.strip_prefix("v1,"))
            .filter_map(|encoded| STANDARD.decode(encoded).ok())
            .any(|given| same(&expected, &given));
        if fits { Ok(Some(id.to_owned())) } else { Err(Forged) }
    }

    fn sign(&self, secret: &[u8], body: &[u8], now: DateTime<Utc>, id: &str) -> Vec<(String, String)> {
        let at = now.timestamp().to_string();
        let mac = mac(&key(secret), &[id.as_bytes(), b".", at.as_bytes(), b".", body]);
        vec![
            ("webhook-id".to_owned(), id.to_owned()),
            ("webhook-timestamp".to_owned(), at),
            ("webhook-signature".to_owned(), format!("v1,{}", STANDARD.encode(mac))),
        ]
    }
}

/// A secret that is written as `whsec_…` is base64; any other is its own bytes.
fn key(secret: &[u8]) -> Vec<u8> {
    let encoded = secret.strip_prefix(b"whsec_");
    encoded.and_then(|encoded| STANDARD.decode(encoded).ok()).unwrap_or_else(|| secret.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The vector of the specification's reference libraries.
    #[test]
    fn the_standard_scheme_agrees_with_a_published_vector() {
        let at = DateTime::from_timestamp(1_614_265_330, 0).unwrap();
        let secret = b"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
        let headers = Standard.sign(secret, br#"{"test": 2432232314}"#, at, "msg_p5jXN8AQM9LWM0D4loKWxJek");
        assert_eq!(headers[2].1, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }
}
