//! Failures of the HTTP client in words: which step failed, at which host, and the innermost cause.

use std::error::Error;
use std::io;
use std::time::Duration;

use rustls::CertificateError;

use crate::EgressError;

/// Why no response began.
pub(crate) fn before_response(error: &reqwest::Error, host: &str, connect_timeout: Duration) -> EgressError {
    let host = host.to_owned();
    if let Some(tls) = chain(error).find_map(tls_error) {
        return EgressError::Tls { host, cause: tls_cause(tls) };
    }
    if error.is_connect() {
        if error.is_timeout() {
            return EgressError::ConnectTimeout { host, limit: connect_timeout };
        }
        return EgressError::Connect { host, cause: innermost(error) };
    }
    EgressError::NoAnswer { host, cause: innermost(error) }
}

/// Why the body ended early.
pub(crate) fn inside_body(error: &reqwest::Error, host: &str, received: u64) -> EgressError {
    EgressError::Interrupted { host: host.to_owned(), received, cause: innermost(error) }
}

/// The last text of the chain: the outer ones repeat the URL or say no more than "error".
pub(crate) fn innermost(error: &reqwest::Error) -> String {
    chain(error).last().map(ToString::to_string).unwrap_or_else(|| error.to_string())
}

fn chain(error: &reqwest::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    std::iter::successors(error.source(), |&error| error.source())
}

/// An `io::Error` shows the source of what it carries, not what it carries: it has to be opened.
fn tls_error<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a rustls::Error> {
    error.downcast_ref::<rustls::Error>().or_else(|| {
        let inner = error.downcast_ref::<io::Error>()?.get_ref()?;
        inner.downcast_ref::<rustls::Error>().or_else(|| tls_error(inner))
    })
}

fn tls_cause(error: &rustls::Error) -> String {
    let rustls::Error::InvalidCertificate(reason) = error else {
        return error.to_string();
    };
    match reason {
        CertificateError::UnknownIssuer => {
            "its certificate was not issued by an authority that this machine trusts".to_owned()
        }
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            "its certificate has expired".to_owned()
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "its certificate is not valid yet; check this machine's clock".to_owned()
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "its certificate is for another name".to_owned()
        }
        other => format!("its certificate is not valid ({other:?})"),
    }
}
