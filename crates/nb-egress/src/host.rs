//! Hosts in words: what a grant, a secret or the operator's configuration names.

use std::fmt;
use std::str::FromStr;

use url::{Host, Url};

use crate::EgressError;

/// One host, or all hosts below a domain, optionally with a port.
///
/// Written `api.example.com`, `*.example.com` (subdomains of any depth, not `example.com` itself), `10.0.0.7` or
/// `[2001:db8::1]`, each optionally followed by `:port`. Without a port every port matches.
/// Names are compared the way `url` writes them: lower case, IDNA, addresses in their usual form.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct HostPattern {
    subdomains: bool,
    host: Host<String>,
    port: Option<u16>,
}

impl HostPattern {
    /// Whether this URL's host (and port, when the pattern has one) is meant.
    pub fn matches(&self, url: &Url) -> bool {
        let Some(host) = url.host() else { return false };
        if self.port.is_some() && self.port != url.port_or_known_default() {
            return false;
        }
        match (&self.host, host) {
            (Host::Domain(ours), Host::Domain(theirs)) => {
                // `example.com.` is the same host as `example.com`.
                let theirs = theirs.strip_suffix('.').unwrap_or(theirs);
                if self.subdomains {
                    theirs
                        .strip_suffix(ours.as_str())
                        .and_then(|sub| sub.strip_suffix('.'))
                        .is_some_and(|sub| !sub.is_empty())
                } else {
                    theirs == ours
                }
            }
            (Host::Ipv4(ours), Host::Ipv4(theirs)) => *ours == theirs,
            (Host::Ipv6(ours), Host::Ipv6(theirs)) => *ours == theirs,
            _ => false,
        }
    }
}

impl FromStr for HostPattern {
    type Err = EgressError;

    fn from_str(text: &str) -> Result<Self, EgressError> {
        let refuse = |reason: &str| EgressError::Pattern { text: text.to_owned(), reason: reason.to_owned() };
        if text.is_empty() {
            return Err(refuse("it is empty"));
        }
        if text.contains("://") || text.contains(['/', '\\', '?', '#', '@']) {
            return Err(refuse("give only the host, without scheme, user or path"));
        }
        if text.contains(|c: char| c.is_whitespace() || c.is_control()) {
            return Err(refuse("a host has no spaces"));
        }
        let (subdomains, rest) = match text.strip_prefix("*.") {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        if rest.contains('*') {
            return Err(refuse("`*` may only stand for the subdomains of a host, as in *.example.com"));
        }
        let (name, port) = split_port(rest).map_err(refuse)?;
        let host = Host::parse(name).map_err(|error| refuse(&error.to_string()))?;
        let host = match host {
            Host::Domain(name) => {
                let name = name.strip_suffix('.').unwrap_or(&name);
                if name.split('.').any(str::is_empty) {
                    return Err(refuse("a part of the name is empty"));
                }
                Host::Domain(name.to_owned())
            }
            address if subdomains => {
                return Err(refuse(&format!("{address} is an address and has no subdomains")));
            }
            address => address,
        };
        Ok(Self { subdomains, host, port })
    }
}

fn split_port(text: &str) -> Result<(&str, Option<u16>), &'static str> {
    let (name, port) = match text.rfind(']') {
        Some(end) => {
            let (name, rest) = text.split_at(end + 1);
            match rest.strip_prefix(':') {
                Some(port) => (name, Some(port)),
                None if rest.is_empty() => (name, None),
                None => return Err("after an address in brackets only :port may follow"),
            }
        }
        None => match text.rsplit_once(':') {
            Some((name, _)) if name.contains(':') => {
                return Err("an IPv6 address is written in brackets, as in [::1]:8080");
            }
            Some((name, port)) => (name, Some(port)),
            None => (text, None),
        },
    };
    let port = match port {
        None => None,
        Some(digits) if digits.bytes().all(|b| b.is_ascii_digit()) => match digits.parse() {
            Ok(0) | Err(_) => return Err("the port is not between 1 and 65535"),
            Ok(port) => Some(port),
        },
        Some(_) => return Err("the port is not a number"),
    };
    Ok((name, port))
}

impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.subdomains {
            f.write_str("*.")?;
        }
        self.host.fmt(f)?;
        self.port.map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}

/// A host that the operator allows although its address is not public.
///
/// Written like a [`HostPattern`]. It is compared with the URL's host as the URL has it: a rule for `127.0.0.1`
/// does not open `localhost`, and one with a port opens no other port.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct HostRule(HostPattern);

impl HostRule {
    /// Whether the operator meant this URL.
    pub fn matches(&self, url: &Url) -> bool {
        self.0.matches(url)
    }
}

impl FromStr for HostRule {
    type Err = EgressError;

    fn from_str(text: &str) -> Result<Self, EgressError> {
        text.parse().map(Self)
    }
}

impl fmt::Display for HostRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The hosts that a request may go to, redirects included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostScope {
    /// Every public host, and what the operator allows.
    Any,
    /// These and no others; an empty list is nothing.
    Hosts(Vec<HostPattern>),
}

impl HostScope {
    /// Whether this URL's host is in scope.
    pub fn covers(&self, url: &Url) -> bool {
        match self {
            Self::Any => true,
            Self::Hosts(patterns) => patterns.iter().any(|pattern| pattern.matches(url)),
        }
    }
}

impl fmt::Display for HostScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("any host"),
            Self::Hosts(patterns) => f.write_str(&listed(patterns)),
        }
    }
}

/// The patterns as a sentence has them: `a.example, *.b.example`.
pub(crate) fn listed(patterns: &[HostPattern]) -> String {
    if patterns.is_empty() {
        return "no host".to_owned();
    }
    patterns.iter().map(HostPattern::to_string).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, url: &str) -> bool {
        pattern.parse::<HostPattern>().unwrap().matches(&Url::parse(url).unwrap())
    }

    #[test]
    fn a_host_matches_itself_on_every_port() {
        assert!(matches("api.example.com", "https://api.example.com/x"));
        assert!(matches("api.example.com", "http://API.EXAMPLE.COM:8080/x"));
        assert!(matches("api.example.com", "https://api.example.com./x"));
        assert!(matches("api.example.com.", "https://api.example.com/x"));
        assert!(!matches("api.example.com", "https://example.com/"));
        assert!(!matches("api.example.com", "https://v1.api.example.com/"));
        assert!(!matches("api.example.com", "https://api.example.com.evil.example/"));
        assert!(!matches("api.example.com", "https://evil.example/api.example.com"));
        assert!(!matches("api.example.com", "https://api.example.com@evil.example/"));
    }

    #[test]
    fn a_star_means_subdomains_of_any_depth_but_not_the_domain() {
        assert!(matches("*.example.com", "https://a.example.com/"));
        assert!(matches("*.example.com", "https://a.b.c.example.com/"));
        assert!(!matches("*.example.com", "https://example.com/"));
        assert!(!matches("*.example.com", "https://evilexample.com/"));
        assert!(!matches("*.example.com", "https://.example.com/"));
        assert!(!matches("*.example.com", "https://a.example.com.evil.example/"));
    }

    #[test]
    fn a_port_is_compared_with_the_one_that_is_used() {
        assert!(matches("example.com:443", "https://example.com/"));
        assert!(!matches("example.com:443", "http://example.com/"));
        assert!(matches("*.example.com:8443", "https://a.example.com:8443/"));
        assert!(!matches("*.example.com:8443", "https://a.example.com/"));
    }

    #[test]
    fn addresses_are_compared_as_addresses() {
        assert!(matches("127.0.0.1", "http://0x7f.1/"));
        assert!(matches("127.0.0.1", "http://2130706433/"));
        assert!(matches("[::1]:80", "http://[0:0::1]/"));
        assert!(!matches("127.0.0.1", "http://[::ffff:127.0.0.1]/"));
        assert!(!matches("127.0.0.1", "http://localhost/"));
    }

    #[test]
    fn an_international_name_matches_its_ascii_form() {
        assert!(matches("bücher.example", "https://xn--bcher-kva.example/"));
    }

    #[test]
    fn a_pattern_prints_as_it_is_written() {
        for text in ["api.example.com", "*.example.com", "*.example.com:8443", "10.0.0.7:80", "[::1]:8080"] {
            assert_eq!(text.parse::<HostPattern>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_is_not_a_host_is_refused_with_the_reason() {
        let cases = [
            ("", "it is empty"),
            ("*", "`*` may only stand for"),
            ("*.*.example.com", "`*` may only stand for"),
            ("api.*.example.com", "`*` may only stand for"),
            ("*.10.0.0.1", "10.0.0.1 is an address and has no subdomains"),
            ("*.", "empty host"),
            ("https://example.com", "give only the host"),
            ("example.com/path", "give only the host"),
            ("user@example.com", "give only the host"),
            ("example .com", "a host has no spaces"),
            ("a..example.com", "a part of the name is empty"),
            ("example.com:", "the port is not between 1 and 65535"),
            ("example.com:0", "the port is not between 1 and 65535"),
            ("example.com:65536", "the port is not between 1 and 65535"),
            ("example.com:http", "the port is not a number"),
            ("::1", "an IPv6 address is written in brackets"),
            ("[::1]8080", "only :port may follow"),
            ("[::1", "an IPv6 address is written in brackets"),
        ];
        for (text, reason) in cases {
            let error = text.parse::<HostPattern>().unwrap_err().to_string();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }

    #[test]
    fn an_empty_scope_covers_nothing() {
        let url = Url::parse("https://example.com/").unwrap();
        assert!(!HostScope::Hosts(Vec::new()).covers(&url));
        assert!(HostScope::Any.covers(&url));
    }
}
