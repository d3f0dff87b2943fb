//! Bytes to a package: every structural check, and the decision about its signature as a separate step.

use std::fmt;

use chrono::{DateTime, Utc};
use nb_spec::agent::Strictness;
use nb_spec::manifest::{FILE_NAMES, is_agent_name};
use nb_spec::{Agent, Files};
use semver::Version;
use serde::Deserialize;

use crate::digests::Digests;
use crate::error::{PackageError, SignatureError};
use crate::key_id::KeyId;
use crate::paths::shown;
use crate::signature::{Signature, trusted_comment};
use crate::trust::TrustStore;
use crate::untar::{self, Contents};

/// The largest manifest. A YAML reader turns each byte into up to some hundred bytes before it sees what it has.
const MAX_MANIFEST_BYTES: usize = 256 << 10;

/// A package that is sound in itself. Whether it comes from someone to trust is what [`Package::verify`] tells.
#[derive(Clone)]
pub struct Package {
    /// The agent's files, without NAP-DIGESTS and NAP-SIGNATURE.
    pub files: Files,
    /// NAP-DIGESTS; None for a plain archive of an agent's files.
    pub digests: Option<Digests>,
    signature: Option<Vec<u8>>,
    identity: Identity,
}

/// Who signed a package, once that is verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signer {
    /// The trusted key. Together with the package's name and serial it is what a check for downgrades needs.
    pub key_id: KeyId,
    /// The label it has in the trust store.
    pub label: String,
}

/// What a manifest says about itself. The rest of it is read when the agent is loaded.
#[derive(Debug, Clone, PartialEq, Deserialize)]
struct Identity {
    name: String,
    version: Version,
}

/// Opens a package from memory. Every cap and every refusal is here, except what concerns trust.
pub fn open(bytes: &[u8]) -> Result<Package, PackageError> {
    let Contents { files, digests, signature } = untar::unpack(bytes)?;
    let identity = identity(&files)?;
    let digests = digests.map(|text| Digests::parse(&text)).transpose()?;
    match &digests {
        Some(digests) => {
            digests.check(&files)?;
            identity.check(&digests.name, &digests.version)?;
        }
        None if signature.is_some() => return Err(PackageError::SignatureWithoutDigests),
        None => {}
    }
    Ok(Package { files, digests, signature, identity })
}

impl Package {
    /// The agent's name; always fit to be a folder's name.
    pub fn name(&self) -> &str {
        &self.identity.name
    }

    /// The agent's version.
    pub fn version(&self) -> &Version {
        &self.identity.version
    }

    /// The package's serial; 0 for a plain archive. Only a verified one may be compared with those seen before.
    pub fn serial(&self) -> u64 {
        self.digests.as_ref().map_or(0, |digests| digests.serial)
    }

    /// SHA-256 of NAP-DIGESTS, 64 hex digits. For a plain archive that of the text it would have with serial 0.
    pub fn digest(&self) -> String {
        self.list().digest()
    }

    /// Whether there is a signature at all, right or wrong.
    pub fn is_signed(&self) -> bool {
        self.signature.is_some()
    }

    /// NAP-DIGESTS, or for a plain archive the same of its files with serial 0, created at the Unix epoch.
    pub(crate) fn list(&self) -> Digests {
        self.digests.clone().unwrap_or_else(|| {
            Digests::of(&self.files, self.name(), self.version(), 0, DateTime::<Utc>::UNIX_EPOCH)
        })
    }

    /// Whether a trusted key signed exactly this, for this name, and may do so at `now`.
    pub fn verify(&self, trust: &TrustStore, now: DateTime<Utc>) -> Result<Signer, SignatureError> {
        let (Some(digests), Some(signature)) = (&self.digests, &self.signature) else {
            return Err(SignatureError::Unsigned { name: self.name().to_owned() });
        };
        let signature = Signature::parse(signature)?;
        let key_id = signature.key_id;
        if trust.is_revoked(key_id) {
            return Err(SignatureError::Revoked { key_id });
        }
        let trusted = trust.find(key_id).ok_or(SignatureError::UnknownKey { key_id })?;
        let label = trusted.label.clone();
        if !signature.is_valid(&trusted.key, digests) {
            return Err(SignatureError::Altered { label, key_id });
        }
        let expected = trusted_comment(digests);
        if signature.trusted_comment != expected {
            let signed = shown(signature.trusted_comment.as_bytes());
            return Err(SignatureError::OtherPackage { signed, package: expected });
        }
        trusted.check(self.name(), now)?;
        Ok(Signer { key_id, label })
    }

    /// Loads the agent.
    pub fn agent(&self, strictness: Strictness) -> Result<Agent, PackageError> {
        let agent = Agent::load(&self.files, strictness).map_err(PackageError::Agent)?;
        // The name that was verified and staged is the name that will run.
        self.identity.check(&agent.manifest.name, &agent.manifest.version)?;
        Ok(agent)
    }
}

impl fmt::Debug for Package {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Package({} {}, {} files)", self.name(), self.version(), self.files.len())
    }
}

impl Identity {
    fn check(&self, name: &str, version: &Version) -> Result<(), PackageError> {
        if self.name != name {
            return Err(PackageError::Identity {
                field: "name",
                digests: name.to_owned(),
                manifest: self.name.clone(),
            });
        }
        if self.version != *version {
            return Err(PackageError::Identity {
                field: "version",
                digests: version.to_string(),
                manifest: self.version.to_string(),
            });
        }
        Ok(())
    }
}

fn identity(files: &Files) -> Result<Identity, PackageError> {
    let mut manifests = FILE_NAMES.iter().filter_map(|name| files.get(name));
    let manifest = manifests.next().ok_or(PackageError::ManifestCount("no manifest"))?;
    if manifests.next().is_some() {
        return Err(PackageError::ManifestCount("more than one manifest"));
    }
    if manifest.len() > MAX_MANIFEST_BYTES {
        let reason = format!("it has {} bytes; at most {MAX_MANIFEST_BYTES} are allowed", manifest.len());
        return Err(PackageError::Manifest(reason));
    }
    let identity: Identity =
        serde_yaml::from_slice(manifest).map_err(|error| PackageError::Manifest(error.to_string()))?;
    if !is_agent_name(&identity.name) {
        let reason =
            "a name has 1 to 64 lower-case letters, digits, `-` or `_`, and begins with a letter or digit";
        return Err(PackageError::Manifest(reason.to_owned()));
    }
    Ok(identity)
}
