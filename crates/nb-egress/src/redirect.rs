//! One hop, and the next one when the answer is a redirect.

use reqwest::{Method, StatusCode};
use url::Url;

use crate::header::Outgoing;
use crate::{EgressError, guard};

/// What is sent in one hop, the secrets of its headers not yet filled in.
#[derive(Debug)]
pub(crate) struct Hop {
    pub method: Method,
    pub url: Url,
    pub headers: Outgoing,
    pub body: Vec<u8>,
}

/// Whether a response with a `Location` leads elsewhere (RFC 9110, section 15.4). 300 leaves the choice to a
/// person, 304 is about a cache, 305 and 306 are gone.
pub(crate) fn leads_on(status: StatusCode) -> bool {
    matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308)
}

impl Hop {
    /// The next hop. Its scope and addresses are checked by the caller, as for the first.
    pub(crate) fn follow(mut self, status: StatusCode, location: &[u8]) -> Result<Self, EgressError> {
        let location = String::from_utf8_lossy(location);
        let target = self.url.join(&location).map_err(|error| EgressError::Url {
            url: location.chars().take(100).collect(),
            reason: error.to_string(),
        })?;
        guard::admit_form(&target)?;
        if self.url.scheme() == "https" && target.scheme() == "http" {
            return Err(EgressError::Downgrade {
                from: guard::shown(&self.url),
                host: guard::host_of(&target),
            });
        }
        if target.origin() != self.url.origin() {
            self.headers.drop_credentials();
        }
        let becomes_get = match status.as_u16() {
            301 | 302 => self.method == Method::POST,
            303 => self.method != Method::HEAD,
            _ => false,
        };
        if becomes_get {
            self.method = Method::GET;
            self.body = Vec::new();
            self.headers.drop_body_headers();
        }
        self.url = target;
        Ok(self)
    }
}
