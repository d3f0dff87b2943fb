//! The Unix socket of the API, and who may use it: the daemon's own user, and root.

use std::fs::Permissions;
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use axum::serve::Listener;
use nb_api::{ApiError, ErrorKind};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{UnixListener, UnixStream};

/// A listener that hands out only connections of permitted users.
#[derive(Debug)]
pub struct OwnerSocket {
    listener: UnixListener,
    owner: u32,
    /// Removed at the end; none when the service manager made the socket.
    file: Option<SocketFile>,
}

/// A socket in the file system, and which one: another daemon may have put its own in the same place.
#[derive(Debug)]
struct SocketFile {
    path: PathBuf,
    inode: (u64, u64),
}

impl OwnerSocket {
    /// Takes over the socket of the service manager, or makes one in the place of one that a daemon left which is gone.
    /// What is no socket, or is answered by somebody, stays as it is and is an error.
    pub async fn open(path: &Path) -> io::Result<Self> {
        let owner = rustix::process::geteuid().as_raw();
        if let Some(listener) = listenfd::ListenFd::from_env().take_unix_listener(0)? {
            listener.set_nonblocking(true)?;
            return Ok(Self { listener: UnixListener::from_std(listener)?, owner, file: None });
        }
        if let Some(dir) = path.parent() {
            std::fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
        }
        make_way(path).await?;
        let listener = UnixListener::bind(path)?;
        std::fs::set_permissions(path, Permissions::from_mode(0o600))?;
        let file = SocketFile { path: path.to_owned(), inode: inode(path)? };
        Ok(Self { listener, owner, file: Some(file) })
    }

    fn permits(&self, stream: &UnixStream) -> bool {
        // The kernel tells who connected, whatever the file's mode became.
        stream.peer_cred().is_ok_and(|peer| peer.uid() == self.owner || peer.uid() == 0)
    }
}

impl Drop for OwnerSocket {
    fn drop(&mut self) {
        if let Some(file) = &self.file
            && inode(&file.path).is_ok_and(|found| found == file.inode)
        {
            // Nothing is left to do about a file that cannot be removed; the next start replaces it.
            let _ = std::fs::remove_file(&file.path);
        }
    }
}

/// Removes a socket that nobody answers any more.
async fn make_way(path: &Path) -> io::Result<()> {
    let found = match std::fs::symlink_metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    if !found.file_type().is_socket() {
        return Err(io::Error::other("what is there is no socket; choose another place with --socket"));
    }
    match UnixStream::connect(path).await {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => std::fs::remove_file(path),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        // Full of clients that wait, it is answered by somebody as well.
        Err(error) if error.kind() != io::ErrorKind::WouldBlock => Err(error),
        _ => Err(io::Error::other(
            "another daemon answers there; stop it, or choose another place with --socket",
        )),
    }
}

fn inode(path: &Path) -> io::Result<(u64, u64)> {
    std::fs::symlink_metadata(path).map(|found| (found.dev(), found.ino()))
}

impl Listener for OwnerSocket {
    type Io = UnixStream;
    type Addr = tokio::net::unix::SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        loop {
            match self.listener.accept().await {
                Ok((stream, address)) if self.permits(&stream) => return (stream, address),
                Ok((stream, _)) => drop(tokio::spawn(turn_away(stream))),
                Err(error) => {
                    // Out of file descriptors, most likely: others end soon.
                    tracing::error!("a connection is not accepted: {error}");
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            }
        }
    }

    fn local_addr(&self) -> io::Result<Self::Addr> {
        self.listener.local_addr()
    }
}

async fn turn_away(mut stream: UnixStream) {
    // A client takes no answer that comes before its request. One that never asks gets none.
    let mut begin = [0; 1024];
    match tokio::time::timeout(Duration::from_secs(5), stream.read(&mut begin)).await {
        Ok(Ok(1..)) => {}
        _ => return,
    }
    let error = ApiError::new(ErrorKind::Refused, "this daemon belongs to another user")
        .hint("only its owner and root may talk to it");
    let body = serde_json::to_string(&error).unwrap_or_default();
    let answer = format!(
        "HTTP/1.1 403 Forbidden\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    // Whoever it is may be gone already.
    let _ = stream.write_all(answer.as_bytes()).await;
    let _ = stream.shutdown().await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_is_no_socket_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("diary.txt");
        std::fs::write(&path, "dear diary").unwrap();
        let refused = OwnerSocket::open(&path).await.unwrap_err();
        assert!(refused.to_string().starts_with("what is there is no socket"), "{refused}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "dear diary");
    }

    #[tokio::test]
    async fn a_socket_is_taken_only_from_one_that_is_gone_and_removed_only_by_its_owner() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("sock");
        let first = OwnerSocket::open(&path).await.unwrap();
        let refused = OwnerSocket::open(&path).await.unwrap_err();
        assert!(refused.to_string().starts_with("another daemon answers there"), "{refused}");
        // Somebody else removes the file, and a second daemon takes its place.
        std::fs::remove_file(&path).unwrap();
        let second = OwnerSocket::open(&path).await.unwrap();
        drop(first);
        assert!(UnixStream::connect(&path).await.is_ok());
        drop(second);
        assert!(!path.exists());
        // A daemon that was killed leaves one that nobody answers.
        drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
        assert!(path.exists());
        OwnerSocket::open(&path).await.unwrap();
    }
}
