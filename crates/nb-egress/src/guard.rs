//! The checks of one hop. What passes is a URL with the addresses that may be connected to.

use std::net::{IpAddr, SocketAddr};

use url::{Host, Url};

use crate::address::refusal;
use crate::{EgressError, HostRule, HostScope, Resolve};

/// Addresses of one hop that were all checked.
#[derive(Debug)]
pub(crate) struct Admitted {
    pub host: String,
    pub addresses: Vec<SocketAddr>,
}

/// Parses a URL and refuses what this crate does not send: other schemes, and user names or passwords.
pub(crate) fn parse(text: &str) -> Result<Url, EgressError> {
    let url = Url::parse(text)
        .map_err(|error| EgressError::Url { url: shortened(text), reason: error.to_string() })?;
    admit_form(&url)?;
    Ok(url)
}

/// The same refusals for a URL that is parsed already: the target of a redirect.
pub(crate) fn admit_form(url: &Url) -> Result<(), EgressError> {
    if !matches!(url.scheme(), "http" | "https") {
        return Err(EgressError::Scheme { scheme: url.scheme().to_owned() });
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(EgressError::Credentials { host: host_of(url) });
    }
    Ok(())
}

/// Scope first, then the addresses, so that a host out of scope is not even looked up.
pub(crate) async fn admit(
    url: &Url,
    scope: &HostScope,
    allow: &[HostRule],
    resolver: &dyn Resolve,
) -> Result<Admitted, EgressError> {
    let host = host_of(url);
    if !scope.covers(url) {
        return Err(EgressError::OutOfScope { host, granted: scope.to_string() });
    }
    let (Some(parsed), Some(port)) = (url.host(), url.port_or_known_default()) else {
        return Err(EgressError::Url { url: shown(url), reason: "it has no host".to_owned() });
    };
    let allowed = allow.iter().any(|rule| rule.matches(url));
    let found = match parsed {
        Host::Ipv4(address) => vec![IpAddr::V4(address)],
        Host::Ipv6(address) => vec![IpAddr::V6(address)],
        Host::Domain(name) => resolver
            .resolve(name)
            .await
            .map_err(|error| EgressError::Dns { host: host.clone(), cause: error.to_string() })?,
    };
    if found.is_empty() {
        return Err(EgressError::Dns { host, cause: "the name has no address".to_owned() });
    }
    if !allowed && let Some((address, reason)) = found.iter().find_map(|a| Some((*a, refusal(*a)?))) {
        return Err(match parsed {
            Host::Domain(_) => EgressError::ResolvesToNotPublic { host, address, reason },
            _ => EgressError::NotPublic { host, reason },
        });
    }
    let addresses = found.into_iter().map(|address| SocketAddr::new(address, port)).collect();
    Ok(Admitted { host, addresses })
}

/// The host as the URL has it; IPv6 in brackets.
pub(crate) fn host_of(url: &Url) -> String {
    url.host_str().unwrap_or_default().to_owned()
}

/// A URL as an error shows it: without query and fragment, where keys and tokens tend to stand.
pub(crate) fn shown(url: &Url) -> String {
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    format!("{}://{}{port}{}", url.scheme(), host_of(url), url.path())
}

/// Enough of a text that is not a URL to recognise it by.
fn shortened(text: &str) -> String {
    const KEPT: usize = 100;
    match text.char_indices().nth(KEPT) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
