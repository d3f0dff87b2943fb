//! What can go wrong, in words for the person who wrote the tool or runs the daemon.

use std::net::IpAddr;
use std::time::Duration;

use crate::mask::Mask;

/// Why there is no response.
///
/// No text in here holds a secret's value, a password of a URL, or the query of a URL. Throughout, `host` is the
/// host as the URL has it, `from` the URL of the hop before (without query), `cause` the innermost cause in words.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the fields stand in the text of their variant")]
pub enum EgressError {
    /// A host pattern or rule that cannot be read.
    #[error(
        "`{text}` is not a host pattern: {reason}. Examples: api.example.com, *.example.com, 127.0.0.1:8080"
    )]
    Pattern { text: String, reason: String },
    /// The configured user agent cannot stand in a header.
    #[error("egress.user_agent holds a character that a header cannot have; use plain text in one line")]
    UserAgent,
    /// The HTTP client or its TLS part cannot be set up.
    #[error("the HTTP client cannot be set up: {cause}")]
    Setup { cause: String },
    /// There is nothing to check a server's certificate with.
    #[error("no certificate authorities were found on this machine, so https cannot be used: {cause}")]
    NoAuthorities { cause: String },

    /// The text is not an absolute URL.
    #[error("`{url}` is not a URL that can be fetched: {reason}")]
    Url { url: String, reason: String },
    /// Neither http nor https.
    #[error("`{scheme}` URLs cannot be fetched; use http or https")]
    Scheme { scheme: String },
    /// A user name or password in the URL.
    #[error("the URL for host {host} holds a user name or password; send an authorization header instead")]
    Credentials { host: String },
    /// `{{secret.NAME}}` in the URL.
    #[error("a secret cannot be put into a URL, where proxies and logs would see it; use a header")]
    SecretInUrl,
    /// The method is not a token, or is `CONNECT`.
    #[error("`{method}` is not a method that can be used; examples: GET, POST, PUT, DELETE")]
    Method { method: String },
    /// A header name with characters that a name cannot have.
    #[error("`{name}` is not a header name; use letters, digits and `-`")]
    HeaderName { name: String },
    /// A header value with a line break or control character.
    #[error(
        "the value of header `{name}` holds a line break or control character; it must be one line of text"
    )]
    HeaderValue { name: String },
    /// A header that belongs to the connection, not to the caller.
    #[error("header `{name}` is set by the daemon and cannot be given; leave it out")]
    HeaderReserved { name: String },

    /// The host is not among those that the caller may reach.
    #[error("host {host} is outside of what was granted: {granted}")]
    OutOfScope { host: String, granted: String },
    /// The URL holds an address that is not public.
    #[error("host {host} is not a public address ({reason}); the operator can allow it with egress.allow")]
    NotPublic { host: String, reason: &'static str },
    /// One of the addresses of a name is not public.
    #[error(
        "host {host} leads to {address}, which is not a public address ({reason}); the operator can allow it with egress.allow"
    )]
    ResolvesToNotPublic { host: String, address: IpAddr, reason: &'static str },
    /// A redirect would leave encryption.
    #[error("{from} redirects from https to http, to host {host}; this is never followed")]
    Downgrade { from: String, host: String },
    /// The target of a redirect was refused or not found; `cause` says why.
    #[error("the redirect from {from} was not followed: {cause}")]
    Redirected { from: String, cause: Box<EgressError> },
    /// More redirects than the request allows.
    #[error("more than {limit} redirects; the last came from {from}")]
    TooManyRedirects { limit: u8, from: String },

    /// `{{secret.…` that is not `{{secret.NAME}}`.
    #[error(
        "a secret is written {{{{secret.NAME}}}} with letters, digits, `-` and `_` in NAME; check header `{header}`"
    )]
    SecretReference { header: String },
    /// No secret of that name belongs to the caller.
    #[error("secret {name} is not known here; list it under `secrets` in the manifest and give it a value")]
    UnknownSecret { name: String },
    /// The secret exists, for other hosts.
    #[error("secret {name} may not be sent to host {host}, only to: {hosts}")]
    SecretOutOfScope { name: String, host: String, hosts: String },
    /// The secret's value cannot stand in a header.
    #[error(
        "secret {name} cannot be put into header `{header}`: its value holds a line break or control character; check how it was stored"
    )]
    SecretNotOneLine { name: String, header: String },
    /// The response is compressed, so an echoed secret could not be seen.
    #[error(
        "host {host} sent a {encoding} body although none was asked for; after a secret was sent it cannot be checked"
    )]
    Encoded { host: String, encoding: String },

    /// The name has no address.
    #[error("host {host} was not found: {cause}")]
    Dns { host: String, cause: String },
    /// No address of the host took the connection.
    #[error("cannot connect to host {host}: {cause}")]
    Connect { host: String, cause: String },
    /// No address of the host took the connection in time.
    #[error("cannot connect to host {host} within {limit:?}")]
    ConnectTimeout { host: String, limit: Duration },
    /// There is no trusted encrypted connection.
    #[error("no secure connection to host {host}: {cause}")]
    Tls { host: String, cause: String },
    /// The answer is not HTTP, or ended before it began.
    #[error("host {host} did not answer with HTTP: {cause}")]
    NoAnswer { host: String, cause: String },
    /// The connection broke inside of the body.
    #[error("the connection to host {host} broke after {received} bytes of the body: {cause}")]
    Interrupted { host: String, received: u64, cause: String },
    /// The request as a whole took too long.
    #[error("no complete answer from host {host} within {limit:?}, redirects and body included")]
    Timeout { host: String, limit: Duration },
    /// The head of the answer took too long.
    #[error("no answer from host {host} within {limit:?}")]
    HeadTimeout { host: String, limit: Duration },
    /// The body is larger than the request allows.
    #[error("the response of host {host} is larger than the limit of {cap} bytes")]
    TooLarge { host: String, cap: u64 },
}

impl EgressError {
    /// Whether a rule refused the request, as opposed to a host or network that failed.
    ///
    /// What was refused stays refused when it is tried again.
    pub fn is_refusal(&self) -> bool {
        match self {
            Self::Redirected { cause, .. } => cause.is_refusal(),
            Self::Dns { .. }
            | Self::Connect { .. }
            | Self::ConnectTimeout { .. }
            | Self::Tls { .. }
            | Self::NoAnswer { .. }
            | Self::Interrupted { .. }
            | Self::Timeout { .. }
            | Self::HeadTimeout { .. }
            | Self::TooLarge { .. }
            | Self::TooManyRedirects { .. }
            | Self::Setup { .. }
            | Self::NoAuthorities { .. } => false,
            _ => true,
        }
    }

    /// The same error without the value of any secret. A server chooses its redirects and so parts of our texts.
    pub(crate) fn masked(mut self, mask: &Mask) -> Self {
        if let Self::Redirected { from, cause } = self {
            return Self::Redirected { from: mask.text(&from), cause: Box::new(cause.masked(mask)) };
        }
        for text in self.texts() {
            *text = mask.text(text);
        }
        self
    }

    fn texts(&mut self) -> Vec<&mut String> {
        match self {
            Self::UserAgent | Self::SecretInUrl => vec![],
            Self::Setup { cause } | Self::NoAuthorities { cause } => vec![cause],
            Self::Scheme { scheme } => vec![scheme],
            Self::Method { method } => vec![method],
            Self::SecretReference { header } => vec![header],
            Self::HeaderName { name }
            | Self::HeaderValue { name }
            | Self::HeaderReserved { name }
            | Self::UnknownSecret { name } => vec![name],
            Self::Credentials { host }
            | Self::NotPublic { host, .. }
            | Self::ResolvesToNotPublic { host, .. }
            | Self::ConnectTimeout { host, .. }
            | Self::Timeout { host, .. }
            | Self::HeadTimeout { host, .. }
            | Self::TooLarge { host, .. } => vec![host],
            Self::Dns { host, cause }
            | Self::Connect { host, cause }
            | Self::Tls { host, cause }
            | Self::NoAnswer { host, cause }
            | Self::Interrupted { host, cause, .. } => vec![host, cause],
            Self::Pattern { text, reason } => vec![text, reason],
            Self::Url { url, reason } => vec![url, reason],
            Self::OutOfScope { host, granted } => vec![host, granted],
            Self::Downgrade { from, host } => vec![from, host],
            Self::TooManyRedirects { from, .. } | Self::Redirected { from, .. } => vec![from],
            Self::SecretOutOfScope { name, host, hosts } => vec![name, host, hosts],
            Self::SecretNotOneLine { name, header } => vec![name, header],
            Self::Encoded { host, encoding } => vec![host, encoding],
        }
    }
}
