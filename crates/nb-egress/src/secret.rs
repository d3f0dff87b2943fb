//! Secrets: named by the caller, filled in by the host.
//!
//! `{{secret.NAME}}` (spaces inside the braces are fine) in the value of a header is replaced in one pass: a value
//! that looks like a reference is not replaced again. Nothing else is filled in. A body is what a tool most likely
//! passes on from elsewhere, and its author did not write what stands in it.

use std::fmt;

use url::Url;

use crate::guard::host_of;
use crate::host::listed;
use crate::{EgressError, HostPattern};

/// A secret that one request may use.
#[derive(Clone, Debug)]
pub struct Secret {
    /// The name in `{{secret.NAME}}`: letters, digits, `-` and `_`.
    pub name: String,
    /// What is put in its place.
    pub value: SecretValue,
    /// The hosts that the value may be sent to. None means nowhere.
    pub hosts: Vec<HostPattern>,
}

/// A value that is not printed: `Debug` writes `***`, and there is no `Display`.
#[derive(Clone)]
pub struct SecretValue(String);

impl SecretValue {
    pub(crate) fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

impl From<String> for SecretValue {
    fn from(value: String) -> Self {
        Self(value)
    }
}

impl From<&str> for SecretValue {
    fn from(value: &str) -> Self {
        Self(value.to_owned())
    }
}

impl fmt::Debug for SecretValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// A piece of a header value.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Part<'a> {
    Text(&'a [u8]),
    /// The name inside of `{{secret.NAME}}`.
    Secret(&'a str),
}

impl Part<'_> {
    pub(crate) fn is_secret(&self) -> bool {
        matches!(self, Self::Secret(_))
    }
}

/// Splits at the references. `None` when one begins (`{{secret.`) and is not well formed: it must not go out as
/// text, where its author expects a value.
pub(crate) fn parts(template: &[u8]) -> Option<Vec<Part<'_>>> {
    let mut parts = Vec::new();
    let mut rest = template;
    let mut text = 0;
    while let Some(tail) = rest.get(text..) {
        let Some(open) = find(tail, b"{{") else { break };
        let (before, from_open) = rest.split_at(text + open);
        let Some(named) = from_open.get(2..).map(trim_start).and_then(|inner| inner.strip_prefix(b"secret."))
        else {
            // One brace further, so that `{{{secret.NAME}}` is seen as well.
            text += open + 1;
            continue;
        };
        let length =
            named.iter().take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_')).count();
        let (name, after) = named.split_at(length);
        let after = trim_start(after).strip_prefix(b"}}")?;
        let name = std::str::from_utf8(name).ok().filter(|name| !name.is_empty())?;
        if !before.is_empty() {
            parts.push(Part::Text(before));
        }
        parts.push(Part::Secret(name));
        rest = after;
        text = 0;
    }
    if !rest.is_empty() {
        parts.push(Part::Text(rest));
    }
    Some(parts)
}

/// Whether a text names a secret, well formed or not: in the value of a header it would not go out as it is.
pub fn names_secret(text: &str) -> bool {
    parts(text.as_bytes()).is_none_or(|parts| parts.iter().any(Part::is_secret))
}

/// The value of a secret for this URL's host. A name may stand more than once, with other hosts.
pub(crate) fn value_for<'s>(name: &str, secrets: &'s [Secret], url: &Url) -> Result<&'s [u8], EgressError> {
    let named: Vec<&Secret> = secrets.iter().filter(|secret| secret.name == name).collect();
    if named.is_empty() {
        return Err(EgressError::UnknownSecret { name: name.to_owned() });
    }
    match named.iter().find(|secret| secret.hosts.iter().any(|pattern| pattern.matches(url))) {
        Some(secret) => Ok(secret.value.as_bytes()),
        None => {
            let hosts: Vec<HostPattern> = named.iter().flat_map(|secret| secret.hosts.clone()).collect();
            Err(EgressError::SecretOutOfScope {
                name: name.to_owned(),
                host: host_of(url),
                hosts: listed(&hosts),
            })
        }
    }
}

fn find(text: &[u8], needle: &[u8]) -> Option<usize> {
    text.windows(needle.len()).position(|window| window == needle)
}

fn trim_start(text: &[u8]) -> &[u8] {
    let spaces = text.iter().take_while(|byte| **byte == b' ').count();
    text.get(spaces..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::header::Outgoing;

    fn secret(name: &str, value: &str, host: &str) -> Secret {
        Secret { name: name.to_owned(), value: value.into(), hosts: vec![host.parse().unwrap()] }
    }

    fn fill(template: &str, secrets: &[Secret]) -> Result<String, String> {
        let url = Url::parse("https://api.example.com/").unwrap();
        let headers = Outgoing::new(&[("x-key".to_owned(), template.to_owned())]);
        headers
            .and_then(|headers| headers.fill(secrets, &url, false))
            .map(|filled| filled["x-key"].to_str().unwrap().to_owned())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn every_reference_is_replaced_and_nothing_else() {
        let secrets = [secret("A", "one", "api.example.com"), secret("b-2_c", "two", "*.example.com")];
        assert_eq!(fill("{{secret.A}}", &secrets).unwrap(), "one");
        assert_eq!(fill("x{{ secret.A }}y{{secret.b-2_c}}z", &secrets).unwrap(), "xoneytwoz");
        assert_eq!(fill("{{secret.A}}{{secret.A}}", &secrets).unwrap(), "oneone");
        assert_eq!(fill("{{{secret.A}}}", &secrets).unwrap(), "{one}");
        for text in ["", "{", "{{", "{{}}", "{{ name }}", "{{secrets}}", "secret.A", "{ {secret.A}}", "}}{{"]
        {
            assert_eq!(fill(text, &secrets).unwrap(), text);
            assert!(!names_secret(text), "{text}");
        }
    }

    #[test]
    fn a_value_that_looks_like_a_reference_is_not_replaced_again() {
        let secrets = [secret("A", "{{secret.B}}", "api.example.com"), secret("B", "x", "api.example.com")];
        assert_eq!(fill("{{secret.A}}", &secrets).unwrap(), "{{secret.B}}");
        let halves = [secret("A", "{{secret.", "api.example.com")];
        assert_eq!(fill("{{secret.A}}B}}", &halves).unwrap(), "{{secret.B}}");
    }

    #[test]
    fn a_reference_that_is_not_well_formed_is_refused() {
        for text in ["{{secret.}}", "{{secret.A", "{{secret.A}", "{{secret.A B}}", "{{secret.Ä}}"] {
            let error = fill(text, &[]).unwrap_err();
            assert!(names_secret(text), "{text}");
            assert!(error.contains("a secret is written {{secret.NAME}}"), "{text}: {error}");
            assert!(error.contains("check header `x-key`"), "{text}: {error}");
        }
    }

    #[test]
    fn an_unknown_secret_and_one_for_other_hosts_are_errors_that_name_it() {
        let secrets = [secret("A", "topsecret", "other.example")];
        assert_eq!(
            fill("{{secret.A}}", &secrets).unwrap_err(),
            "secret A may not be sent to host api.example.com, only to: other.example"
        );
        assert!(fill("{{secret.B}}", &secrets).unwrap_err().starts_with("secret B is not known here"));
    }

    #[test]
    fn one_name_may_have_a_value_for_each_host() {
        let secrets = [secret("A", "theirs", "other.example"), secret("A", "ours", "api.example.com")];
        assert_eq!(fill("{{secret.A}}", &secrets).unwrap(), "ours");
    }

    #[test]
    fn a_value_is_not_printed() {
        let printed = format!("{:?}", secret("A", "topsecret", "other.example"));
        assert!(printed.contains("***") && !printed.contains("topsecret"), "{printed}");
    }
}
