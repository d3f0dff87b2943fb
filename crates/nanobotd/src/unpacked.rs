//! The files of installed agents: `PACKAGES/NAME/DIGEST`, checked against what was installed before they are used.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use nb_package::Digests;
use nb_package::digests::DIGESTS;
use nb_runtime::Installed;
use nb_spec::agent::Strictness;
use nb_spec::files::{Files, MAX_TOTAL_BYTES};
use nb_store::AgentRow;

/// Where the files of an agent are. By name and digest, not by the row's `dir`: a home may have been moved, and a copy of
/// one never touches the files of the original.
pub fn folder(packages: &Path, row: &AgentRow) -> PathBuf {
    packages.join(&row.name).join(&row.digest)
}

/// Reads an installed agent. Only files that the digest of its package vouches for are looked at. The error is a sentence.
pub fn load(packages: &Path, mut row: AgentRow) -> Result<Installed, String> {
    let dir = folder(packages, &row);
    let files = checked(&dir, &row.digest).map_err(|problem| {
        format!("its files are not as they were installed: {problem}; uninstall it (its data stays) and install it again")
    })?;
    let spec = nb_spec::Agent::load(&files, Strictness::Install).map_err(|problems| problems.to_string())?;
    row.dir = dir.display().to_string();
    Ok(Installed::new(row, spec))
}

fn checked(dir: &Path, digest: &str) -> Result<Files, String> {
    let list = read(&dir.join(DIGESTS), MAX_TOTAL_BYTES)?;
    let list = Digests::parse(&list).map_err(|error| error.to_string())?;
    if list.digest() != digest {
        return Err(format!("{DIGESTS} was altered"));
    }
    let mut files = Files::default();
    for (path, listed) in &list.files {
        files.insert(path.as_str(), read(&dir.join(path), listed.size)?);
    }
    list.check(&files).map_err(|error| error.to_string())?;
    Ok(files)
}

/// A file; of one that is larger than `expected` bytes, one byte more than that.
fn read(path: &Path, expected: u64) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let result = File::open(path).and_then(|file| file.take(expected + 1).read_to_end(&mut bytes));
    result.map(|_| bytes).map_err(|error| format!("{}: {error}", path.display()))
}
