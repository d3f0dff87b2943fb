//! `stripe`: `Stripe-Signature: t=…,v1=…`, the hex HMAC-SHA256 of `timestamp.body`.

use chrono::{DateTime, Utc};

use super::{Forged, Headers, Scheme, is_fresh, mac, same};

pub(super) struct Stripe;

impl Scheme for Stripe {
    fn headers(&self) -> &'static [&'static str] {
        &["stripe-signature"]
    }

    fn signs_id(&self) -> bool {
        false
    }

    fn verify(
        &self,
        secret: &[u8],
        headers: Headers<'_>,
        body: &[u8],
        now: DateTime<Utc>,
    ) -> Result<Option<String>, Forged> {
        let header = headers.one("stripe-signature").ok_or(Forged)?;
        let parts = || header.split(',').filter_map(|part| part.trim().split_once('='));
        let at = parts()
            .find(|(name, _)| *name == "t")
            .map(|(_, at)| at)
            .filter(|at| is_fresh(at, now))
            .ok_or(Forged)?;
        let expected = mac(secret, &[at.as_bytes(), b".", body]);
        let fits = parts()
            .filter(|(name, _)| *name == "v1")
            .filter_map(|(_, encoded)| hex::decode(encoded).ok())
            .any(|given| same(&expected, &given));
        if fits { Ok(None) } else { Err(Forged) }
    }

    fn sign(&self, secret: &[u8], body: &[u8], now: DateTime<Utc>, _: &str) -> Vec<(String, String)> {
        let at = now.timestamp().to_string();
        let signature = hex::encode(mac(secret, &[at.as_bytes(), b".", body]));
        vec![("Stripe-Signature".to_owned(), format!("t={at},v1={signature}"))]
    }
}
