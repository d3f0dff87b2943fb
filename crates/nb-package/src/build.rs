//! A folder's files to a package.

use std::fs;
use std::path::Path;
use std::time::UNIX_EPOCH;

use chrono::DateTime;
use flate2::{Compression, GzBuilder};
use nb_spec::agent::Strictness;
use nb_spec::{Agent, Files, Problems};
use semver::Version;
use tar::{EntryType, Header};

use crate::digests::{DIGESTS, Digests, SIGNATURE};
use crate::error::PackageError;
use crate::key_id::KeyId;
use crate::keys::SecretKey;
use crate::open::open;
use crate::paths::{self, Tree, shown};

/// What the files alone do not say.
#[derive(Debug, Clone, Copy, Default)]
pub struct BuildOptions<'a> {
    /// When the newest file was changed, in Unix seconds; see [`newest_mtime`]. The package's `created`.
    pub modified: u64,
    /// Default: `modified`, which rises with each change and is the same for the same folder.
    pub serial: Option<u64>,
    /// Signs the package when given.
    pub key: Option<&'a SecretKey>,
}

/// A package, ready to be written to a file.
#[derive(Debug, Clone)]
pub struct Built {
    /// The package.
    pub bytes: Vec<u8>,
    /// The agent's name.
    pub name: String,
    /// The agent's version.
    pub version: Version,
    /// The package's serial.
    pub serial: u64,
    /// The package's digest, 64 hex digits.
    pub digest: String,
    /// The key that signed it.
    pub signed_by: Option<KeyId>,
    /// What the author should know although the agent loads.
    pub warnings: Problems,
}

/// Builds a package. The same files and options give the same bytes. What it makes always opens.
pub fn build(files: &Files, options: BuildOptions<'_>) -> Result<Built, PackageError> {
    check_paths(files)?;
    let agent = Agent::load(files, Strictness::Build).map_err(PackageError::Agent)?;
    let created =
        i64::try_from(options.modified).ok().and_then(|seconds| DateTime::from_timestamp(seconds, 0));
    let created = created.ok_or(PackageError::Modified(options.modified))?;
    let (name, version) = (agent.manifest.name, agent.manifest.version);
    let serial = options.serial.unwrap_or(options.modified);
    let digests = Digests::of(files, &name, &version, serial, created);
    let signature = options.key.map(|key| key.sign(&digests));
    let bytes = pack(files, &digests, signature.as_deref())?;
    // The caps are those of opening, so opening checks them.
    open(&bytes)?;
    Ok(Built {
        bytes,
        name,
        version,
        serial,
        digest: digests.digest(),
        signed_by: options.key.map(SecretKey::id),
        warnings: agent.warnings,
    })
}

/// The newest modification time of the files in a folder, in Unix seconds; 0 when there is none. It looks at the same
/// files as [`Files::read_dir`]: names that start with a dot do not count.
pub fn newest_mtime(dir: &Path) -> Result<u64, PackageError> {
    let mut newest = 0;
    for entry in fs::read_dir(dir).map_err(PackageError::io("read", dir))? {
        let entry = entry.map_err(PackageError::io("read", dir))?;
        if entry.file_name().as_encoded_bytes().starts_with(b".") {
            continue;
        }
        let path = entry.path();
        let metadata = entry.metadata().map_err(PackageError::io("read", &path))?;
        let found = if metadata.is_dir() {
            newest_mtime(&path)?
        } else {
            let modified = metadata.modified().map_err(PackageError::io("read", &path))?;
            modified.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
        };
        newest = newest.max(found);
    }
    Ok(newest)
}

fn check_paths(files: &Files) -> Result<(), PackageError> {
    let mut tree = Tree::default();
    for (path, _) in files.iter() {
        if path.eq_ignore_ascii_case(DIGESTS) || path.eq_ignore_ascii_case(SIGNATURE) {
            return Err(PackageError::Reserved(shown(path.as_bytes())));
        }
        tree.add_file(paths::check(path.as_bytes())?)?;
    }
    Ok(())
}

fn pack(files: &Files, digests: &Digests, signature: Option<&str>) -> Result<Vec<u8>, PackageError> {
    // Operating system 255 is "unknown" (RFC 1952, 2.3.1); the default would be that of the building machine.
    let gzip = GzBuilder::new().mtime(0).operating_system(255).write(Vec::new(), Compression::best());
    let mut archive = tar::Builder::new(gzip);
    let mut append = |path: &str, bytes: &[u8]| {
        let mut header = Header::new_gnu();
        header.set_entry_type(EntryType::Regular);
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        header.set_uid(0);
        header.set_gid(0);
        header.set_mtime(0);
        archive.append_data(&mut header, path, bytes).map_err(PackageError::io("pack", Path::new(path)))
    };
    append(DIGESTS, digests.to_string().as_bytes())?;
    if let Some(signature) = signature {
        append(SIGNATURE, signature.as_bytes())?;
    }
    for (path, bytes) in files.iter() {
        append(path, bytes)?;
    }
    let finished = archive.into_inner().and_then(flate2::write::GzEncoder::finish);
    finished.map_err(PackageError::io("pack", Path::new(DIGESTS)))
}
