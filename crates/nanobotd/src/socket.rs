//! The Unix socket of the API, and who may use it: the daemon's own user, and root.

use std::fs::Permissions;
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
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
    path: Option<PathBuf>,
}

impl OwnerSocket {
    /// Takes over the socket of the service manager, or makes one. Must be called within a runtime, and by the only
    /// daemon of its home: a socket file that is there already was left by one that is gone.
    pub fn open(path: &Path) -> io::Result<Self> {
        let owner = rustix::process::geteuid().as_raw();
        if let Some(listener) = listenfd::ListenFd::from_env().take_unix_listener(0)? {
            listener.set_nonblocking(true)?;
            return Ok(Self { listener: UnixListener::from_std(listener)?, owner, path: None });
        }
        if let Some(dir) = path.parent() {
            std::fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
        }
        match std::fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let listener = UnixListener::bind(path)?;
        std::fs::set_permissions(path, Permissions::from_mode(0o600))?;
        Ok(Self { listener, owner, path: Some(path.to_owned()) })
    }

    fn permits(&self, stream: &UnixStream) -> bool {
        // The kernel tells who connected, whatever the file's mode became.
        stream.peer_cred().is_ok_and(|peer| peer.uid() == self.owner || peer.uid() == 0)
    }
}

impl Drop for OwnerSocket {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            // Nothing is left to do about a file that cannot be removed; the next start replaces it.
            let _ = std::fs::remove_file(path);
        }
    }
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
