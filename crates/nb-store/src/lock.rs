//! One process per store folder.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::StoreError;

/// How often a lock that is held is tried again, and how long between: half a second in all.
///
/// A lock belongs to the open file, and a process that is being started has a copy of every open file of its parent
/// for an instant, until it executes its program. So a lock can outlive its holder by that instant.
const TRIES: u32 = 50;
const PAUSE: Duration = Duration::from_millis(10);

/// Tries `attempt` until it no longer answers that the lock is held, or for half a second.
pub(crate) fn patiently<T, E>(
    mut attempt: impl FnMut() -> Result<T, E>,
    is_held: impl Fn(&E) -> bool,
) -> Result<T, E> {
    for _ in 1..TRIES {
        match attempt() {
            Err(error) if is_held(&error) => std::thread::sleep(PAUSE),
            done => return done,
        }
    }
    attempt()
}

/// Holds the folder until it is dropped or the process ends, however it ends.
///
/// The database locks its own file as well. This lock is taken first because it can say who holds it.
pub(crate) struct FolderLock {
    _file: File,
}

impl FolderLock {
    pub(crate) fn take(dir: &Path) -> Result<Self, StoreError> {
        let path = dir.join("lock");
        let cannot = |error| StoreError::io(format!("lock {}", path.display()), &error);
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&path)
            .map_err(cannot)?;
        let lock = || flock(&file, FlockOperation::NonBlockingLockExclusive);
        match patiently(lock, |error| *error == Errno::WOULDBLOCK) {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK) => {
                return Err(StoreError::Locked { dir: dir.to_owned(), pid: read_pid(&mut file) });
            }
            Err(error) => return Err(cannot(error.into())),
        }
        // The number only makes a message better: a full disk must not keep the store from opening.
        let written = file.set_len(0).and_then(|()| file.rewind());
        if let Err(error) = written.and_then(|()| write!(file, "{}", std::process::id())) {
            tracing::debug!(%error, "could not note the process id in the lock file");
        }
        Ok(Self { _file: file })
    }
}

fn read_pid(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.take(16).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}
