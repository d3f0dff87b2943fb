//! What goes out.

use std::time::Duration;

use crate::mask::Mask;
use crate::{HostScope, Secret, SecretValue};

/// How long a request may take when nothing else is said.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);

/// How large a response body may be when nothing else is said: 10 MiB, the cap of `http.fetch`.
pub const DEFAULT_MAX_BYTES: u64 = 10 * 1024 * 1024;

/// How many redirects are followed when nothing else is said. Sites use one or two (scheme, `www`, login).
pub const DEFAULT_MAX_REDIRECTS: u8 = 5;

/// One request, with everything that limits it.
#[derive(Clone, Debug)]
pub struct Request {
    /// The HTTP method; `CONNECT` is refused.
    pub method: String,
    /// An absolute http or https URL without user name and password.
    pub url: String,
    /// Header names and values. A value may hold `{{secret.NAME}}`.
    pub headers: Vec<(String, String)>,
    /// The body; empty is none. It is sent as it is: nothing is filled in.
    pub body: Vec<u8>,
    /// For everything together: names, connections, all redirects and the whole body.
    pub timeout: Duration,
    /// The most bytes of body, as they come over the wire; nothing is decompressed.
    pub max_bytes: u64,
    /// How many redirects are followed; one more is an error. With 0 a redirect is the response.
    pub max_redirects: u8,
    /// The hosts this request and its redirects may go to.
    pub scope: HostScope,
    /// The secrets that `{{secret.NAME}}` in a header may name. Their values are masked in whatever comes back.
    pub secrets: Vec<Secret>,
    /// More values that are masked in whatever comes back, such as those that stand in the body.
    pub hidden: Vec<SecretValue>,
}

impl Request {
    /// A `GET` to any public host, without headers and secrets, under the default limits.
    pub fn get(url: impl Into<String>) -> Self {
        Self {
            method: "GET".to_owned(),
            url: url.into(),
            headers: Vec::new(),
            body: Vec::new(),
            timeout: DEFAULT_TIMEOUT,
            max_bytes: DEFAULT_MAX_BYTES,
            max_redirects: DEFAULT_MAX_REDIRECTS,
            scope: HostScope::Any,
            secrets: Vec::new(),
            hidden: Vec::new(),
        }
    }

    /// Hides the values of the secrets and the hidden ones.
    pub(crate) fn mask(&self) -> Mask {
        Mask::new(self.secrets.iter().map(|secret| &secret.value).chain(&self.hidden))
    }
}
