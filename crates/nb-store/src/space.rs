//! Free disk space.

use std::path::Path;

use crate::StoreError;

/// Bytes that an ordinary user may still write on the file system of `dir`.
///
/// For callers that refuse work in time: once a write has failed the store must be opened anew
/// ([`crate::Store::is_failed`]).
///
/// # Errors
/// [`StoreError::Io`] when the folder cannot be looked at.
pub fn free_bytes(dir: &Path) -> Result<u64, StoreError> {
    let stat = rustix::fs::statvfs(dir)
        .map_err(|error| StoreError::io(format!("look at the disk of {}", dir.display()), &error.into()))?;
    Ok(stat.f_bavail.saturating_mul(stat.f_frsize))
}
