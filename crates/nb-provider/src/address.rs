//! Where a provider is reached.

use nb_egress::{HostPattern, HostScope, Secret};
use url::Url;

use crate::environment::Variable;
use crate::error::ProviderError;
use crate::section::Section;

/// The base address of a provider.
#[derive(Debug, Clone)]
pub(crate) struct Address {
    base: Url,
    host: HostPattern,
    /// What the key is called in errors.
    key_name: String,
}

impl Address {
    /// `credentials.address`, or the usual one.
    pub fn new(section: &Section, usual: &str) -> Result<Self, ProviderError> {
        let text = section.optional("address").map_or(usual, |address| address.value.as_str());
        let wrong = |reason: &str| {
            section
                .fail(format!("provider.credentials.address: `{}` {reason}", without_credentials(text)))
                .hinting(format!("an address is written like {usual}"))
        };
        let base = Url::parse(text).map_err(|error| wrong(&format!("is not an address: {error}")))?;
        if !matches!(base.scheme(), "http" | "https") {
            return Err(wrong("is neither http nor https"));
        }
        if !base.username().is_empty() || base.password().is_some() {
            return Err(wrong("holds a user name or password"));
        }
        if base.query().is_some() || base.fragment().is_some() {
            return Err(wrong("holds a `?` or `#`; give the part before it"));
        }
        let (Some(host), Some(port)) = (base.host_str(), base.port_or_known_default()) else {
            return Err(wrong("has no host"));
        };
        let host = format!("{host}:{port}").parse().map_err(|_| wrong("has a host that cannot be read"))?;
        let address = Self { base, host, key_name: section.key_name().to_owned() };
        address.admit(section)?;
        Ok(address)
    }

    /// What stands in the settings goes to the provider: no variable that is meant for other hosts may stand there.
    fn admit(&self, section: &Section) -> Result<(), ProviderError> {
        for (variable, hosts) in &section.limited {
            if !hosts.iter().any(|host| host.matches(&self.base)) {
                let shown = self.base.host_str().unwrap_or_default();
                return Err(section.fail(format!(
                    "{variable} may not be sent to {shown}, where provider.credentials.address leads"
                )));
            }
        }
        Ok(())
    }

    /// The address of a path below the base. A version at its beginning is left out when the base has one already, as
    /// in `http://localhost:8000/v1`.
    pub fn join(&self, path: &str) -> String {
        let base = self.base.as_str().trim_end_matches('/');
        let has_version = self.base.path_segments().is_some_and(|mut parts| parts.any(is_version));
        let path = match path.split_once('/') {
            Some((first, rest)) if has_version && is_version(first) => rest,
            _ => path,
        };
        format!("{base}/{path}")
    }

    /// The address as a whole.
    pub fn base(&self) -> &Url {
        &self.base
    }

    /// The one host that a request goes to.
    pub fn scope(&self) -> HostScope {
        HostScope::Hosts(vec![self.host.clone()])
    }

    /// The key as a secret that goes to this address, or to the hosts that it is limited to.
    pub fn secret(&self, variable: &Variable) -> Secret {
        Secret {
            name: self.key_name.clone(),
            value: variable.value.as_str().into(),
            hosts: variable.hosts.clone().unwrap_or_else(|| vec![self.host.clone()]),
        }
    }
}

/// `v1`, `v1beta`, `v2alpha3`.
fn is_version(segment: &str) -> bool {
    let Some(rest) = segment.strip_prefix('v') else { return false };
    let digits = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    digits.len() < rest.len()
        && (digits.is_empty() || digits.starts_with("alpha") || digits.starts_with("beta"))
}

/// The text without what stands before an `@`, where a password may be.
fn without_credentials(text: &str) -> String {
    match (text.find("://"), text.rfind('@')) {
        (Some(scheme), Some(at)) if scheme < at => {
            format!("{}***{}", text.get(..scheme + 3).unwrap_or_default(), text.get(at..).unwrap_or_default())
        }
        _ => text.to_owned(),
    }
}
