//! How a webhook request proves where it comes from: one file a scheme.

mod github;
mod hmac_hex;
mod standard;
mod stripe;

use chrono::{DateTime, Duration, Utc};
use hmac::{Hmac, KeyInit, Mac};
use nb_spec::trigger::Verify;
use sha2::Sha256;
use subtle::ConstantTimeEq;

/// A timestamp may differ from the clock by at most this much.
const MAX_SKEW: Duration = Duration::minutes(5);

/// Headers of a request: names in lower case.
#[derive(Debug, Clone, Copy)]
pub struct Headers<'a>(pub &'a [(String, String)]);

impl<'a> Headers<'a> {
    /// The value of a header that stands exactly once.
    pub fn one(&self, name: &str) -> Option<&'a str> {
        let mut found = self.0.iter().filter(|(header, _)| header == name);
        match (found.next(), found.next()) {
            (Some((_, value)), None) => Some(value.as_str()),
            _ => None,
        }
    }
}

/// The signature is missing, wrong or too old. It does not say which: the answer must not help a forger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Forged;

/// What a scheme does.
trait Scheme {
    /// The headers that carry the proof; they reach no task and no record.
    fn headers(&self) -> &'static [&'static str];
    /// Checks a request, and gives the sender's id of the delivery where the scheme has one.
    fn verify(
        &self,
        secret: &[u8],
        headers: Headers<'_>,
        body: &[u8],
        now: DateTime<Utc>,
    ) -> Result<Option<String>, Forged>;
    /// Whether the signature covers the delivery's id. Another one can be put on a captured request otherwise.
    fn signs_id(&self) -> bool;
    /// The headers that a sender would add. `id` names the delivery.
    fn sign(&self, secret: &[u8], body: &[u8], now: DateTime<Utc>, id: &str) -> Vec<(String, String)>;
}

fn scheme(verify: Verify) -> &'static dyn Scheme {
    match verify {
        Verify::Hmac => &hmac_hex::HmacHex,
        Verify::Github => &github::Github,
        Verify::Standard => &standard::Standard,
        Verify::Stripe => &stripe::Stripe,
    }
}

/// Checks a request, and gives the sender's id of the delivery where the scheme has one.
pub fn verify(
    with: Verify,
    secret: &[u8],
    headers: Headers<'_>,
    body: &[u8],
    now: DateTime<Utc>,
) -> Result<Option<String>, Forged> {
    scheme(with).verify(secret, headers, body, now)
}

/// Whether the signature covers the delivery's id.
pub fn signs_id(with: Verify) -> bool {
    scheme(with).signs_id()
}

/// The headers that a sender would add.
pub fn sign(with: Verify, secret: &[u8], body: &[u8], now: DateTime<Utc>, id: &str) -> Vec<(String, String)> {
    scheme(with).sign(secret, body, now, id)
}

/// Words in the names of headers that carry proofs or passwords.
const SECRET_WORDS: [&str; 8] =
    ["token", "secret", "api-key", "apikey", "auth", "signature", "password", "cookie"];

/// Whether a header, its name in lower case, carries a proof or a password, and so reaches no task and no record. Rather
/// one too many (`x-author`) than one too few.
pub fn is_secret_header(name: &str) -> bool {
    SECRET_WORDS.iter().any(|word| name.contains(word))
        || [Verify::Hmac, Verify::Github, Verify::Standard, Verify::Stripe]
            .iter()
            .any(|verify| scheme(*verify).headers().contains(&name))
}

fn mac(secret: &[u8], parts: &[&[u8]]) -> Vec<u8> {
    // HMAC takes a key of any length, so there is no error to have.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret) else { return Vec::new() };
    for part in parts {
        mac.update(part);
    }
    mac.finalize().into_bytes().to_vec()
}

/// Compares in constant time.
fn same(expected: &[u8], given: &[u8]) -> bool {
    !expected.is_empty() && bool::from(expected.ct_eq(given))
}

fn is_fresh(unix_seconds: &str, now: DateTime<Utc>) -> bool {
    let at = unix_seconds.parse().ok().and_then(|seconds| DateTime::from_timestamp(seconds, 0));
    at.is_some_and(|at| (now - at).abs() <= MAX_SKEW)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Verify; 4] = [Verify::Hmac, Verify::Github, Verify::Standard, Verify::Stripe];
    const SECRET: &[u8] = b"a secret of more than sixteen bytes";

    fn now() -> DateTime<Utc> {
        DateTime::from_timestamp(1_800_000_000, 0).unwrap()
    }

    fn lower(headers: Vec<(String, String)>) -> Vec<(String, String)> {
        headers.into_iter().map(|(name, value)| (name.to_lowercase(), value)).collect()
    }

    #[test]
    fn what_is_signed_verifies_and_nothing_else_does() {
        for with in ALL {
            let headers = lower(sign(with, SECRET, b"body", now(), "id-1"));
            let check = |secret: &[u8], headers: &[(String, String)], body: &[u8]| {
                verify(with, secret, Headers(headers), body, now())
            };
            assert!(check(SECRET, &headers, b"body").is_ok(), "{with:?}");
            assert_eq!(check(SECRET, &headers, b"bodY"), Err(Forged), "{with:?}: another body");
            assert_eq!(
                check(b"another secret of many bytes", &headers, b"body"),
                Err(Forged),
                "{with:?}: another secret"
            );
            assert_eq!(check(SECRET, &[], b"body"), Err(Forged), "{with:?}: no signature");
            for index in 0..headers.len() {
                if scheme(with).headers().contains(&headers[index].0.as_str()) {
                    let mut garbled = headers.clone();
                    garbled[index].1 = "zz".to_owned();
                    assert_eq!(check(SECRET, &garbled, b"body"), Err(Forged), "{with:?}: garbage");
                    let twice = [headers.clone(), headers.clone()].concat();
                    assert_eq!(check(SECRET, &twice, b"body"), Err(Forged), "{with:?}: two signatures");
                }
            }
        }
    }

    #[test]
    fn an_old_timestamp_is_refused() {
        for with in [Verify::Standard, Verify::Stripe] {
            let headers = lower(sign(with, SECRET, b"body", now() - Duration::minutes(6), "id-1"));
            assert_eq!(verify(with, SECRET, Headers(&headers), b"body", now()), Err(Forged), "{with:?}");
        }
    }

    /// The example of GitHub's own documentation.
    #[test]
    fn the_github_scheme_agrees_with_its_published_example() {
        let headers = sign(Verify::Github, b"It's a Secret to Everybody", b"Hello, World!", now(), "guid");
        let signature =
            headers.iter().find(|(name, _)| name == "X-Hub-Signature-256").map(|(_, value)| value.as_str());
        assert_eq!(
            signature,
            Some("sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17")
        );
    }

    #[test]
    fn headers_with_proofs_and_passwords_are_known_by_their_names() {
        for name in [
            "authorization",
            "proxy-authorization",
            "cookie",
            "set-cookie",
            "x-api-key",
            "apikey",
            "x-auth-token",
            "x-gitlab-token",
            "x-amz-security-token",
            "x-client-secret",
            "x-hub-signature",
            "x-hub-signature-256",
            "x-webhook-signature",
            "webhook-signature",
            "stripe-signature",
            "x-password",
        ] {
            assert!(is_secret_header(name), "{name}");
        }
        for name in ["content-type", "user-agent", "x-github-event", "x-github-delivery", "webhook-id"] {
            assert!(!is_secret_header(name), "{name}");
        }
    }

    #[test]
    fn the_delivery_id_is_the_senders_own() {
        let id = |with| {
            let headers = lower(sign(with, SECRET, b"body", now(), "id-1"));
            verify(with, SECRET, Headers(&headers), b"body", now()).unwrap()
        };
        assert_eq!(id(Verify::Github).as_deref(), Some("id-1"));
        assert_eq!(id(Verify::Standard).as_deref(), Some("id-1"));
        assert_eq!(id(Verify::Hmac), None);
        assert_eq!(id(Verify::Stripe), None);
    }
}
