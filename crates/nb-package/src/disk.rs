//! Writing files so that a crash leaves the old state or the new one.

use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use tempfile::NamedTempFile;

/// Writes a file that must not be there yet; `AlreadyExists` when it is. A reader sees all of it or nothing.
pub(crate) fn write_new(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    write_beside(path, bytes, mode)?.persist_noclobber(path).map_err(|failed| failed.error)?;
    sync_dir(parent(path))
}

/// Writes a file or replaces it. A reader sees the old content or the new one.
pub(crate) fn replace(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    write_beside(path, bytes, mode)?.persist(path).map_err(|failed| failed.error)?;
    sync_dir(parent(path))
}

/// Makes the entries of a folder durable.
pub(crate) fn sync_dir(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
}

/// The content of a file, or None when there is none.
pub(crate) fn read_if_present(path: &Path) -> io::Result<Option<String>> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn write_beside(path: &Path, bytes: &[u8], mode: u32) -> io::Result<NamedTempFile> {
    let mut file = tempfile::Builder::new()
        .prefix(".new-")
        .permissions(Permissions::from_mode(mode))
        .tempfile_in(parent(path))?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    Ok(file)
}

fn parent(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
