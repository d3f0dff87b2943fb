//! `github`: `X-Hub-Signature-256`, with the delivery's id in `X-GitHub-Delivery`.

use chrono::{DateTime, Utc};

use super::hmac_hex::check_hex;
use super::{Forged, Headers, Scheme, mac};

pub(super) struct Github;

const HEADER: &str = "x-hub-signature-256";
const DELIVERY: &str = "x-github-delivery";

impl Scheme for Github {
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
        let given = headers.one(HEADER).and_then(|value| value.strip_prefix("sha256=")).ok_or(Forged)?;
        check_hex(secret, given, body)?;
        Ok(headers.one(DELIVERY).map(str::to_owned))
    }

    fn sign(&self, secret: &[u8], body: &[u8], _: DateTime<Utc>, id: &str) -> Vec<(String, String)> {
        vec![
            ("X-Hub-Signature-256".to_owned(), format!("sha256={}", hex::encode(mac(secret, &[body])))),
            ("X-GitHub-Delivery".to_owned(), id.to_owned()),
            ("X-GitHub-Event".to_owned(), "push".to_owned()),
        ]
    }
}
