//! One daemon a home: a lock file that names the process which holds it.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::{FlockOperation, flock};

/// The lock. It ends with the process, however that ends.
#[derive(Debug)]
pub struct Instance {
    _file: File,
}

impl Instance {
    /// Takes the lock of a state folder. The error is a sentence that names the daemon which has it.
    pub fn take(state: &Path) -> Result<Self, String> {
        let path = state.join("nanobotd.lock");
        let failed = |error: std::io::Error| format!("{}: {error}", path.display());
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&path)
            .map_err(failed)?;
        if let Err(error) = flock(&file, FlockOperation::NonBlockingLockExclusive) {
            if error != rustix::io::Errno::WOULDBLOCK {
                return Err(failed(error.into()));
            }
            let mut holder = String::new();
            file.read_to_string(&mut holder).map_err(failed)?;
            let holder = holder.trim();
            let holder = if holder.is_empty() { "which has just started" } else { holder };
            return Err(format!("another nanobotd, {holder}, already runs on {}", state.display()));
        }
        let name = format!("process {}\n", std::process::id());
        file.set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| file.write_all(name.as_bytes()))
            .map_err(failed)?;
        Ok(Self { _file: file })
    }
}
