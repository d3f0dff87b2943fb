//! Asks the daemon: one HTTP/1.1 request a connection.

use std::io;
use std::path::{Path, PathBuf};

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::net::UnixStream;

use crate::error::{ApiError, ErrorKind};

/// A client of the daemon behind one socket.
#[derive(Debug, Clone)]
pub struct Client {
    socket: PathBuf,
}

impl Client {
    /// A client for that socket. Nothing is opened before the first request.
    pub fn new(socket: impl Into<PathBuf>) -> Self {
        Self { socket: socket.into() }
    }

    /// The socket.
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// `GET`, with the fields of `query` as the query.
    pub async fn get<T: DeserializeOwned>(&self, path: &str, query: &impl Serialize) -> Result<T, ApiError> {
        self.json(Method::GET, &with_query(path, query)?, Bytes::new()).await
    }

    /// `POST` with a JSON body.
    pub async fn post<T: DeserializeOwned>(&self, path: &str, body: &impl Serialize) -> Result<T, ApiError> {
        self.json(Method::POST, path, json_body(body)?).await
    }

    /// `POST` with a JSON body, whose answer has several parts: one JSON document a line.
    pub async fn post_lines<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
    ) -> Result<Lines<T>, ApiError> {
        self.lines(Method::POST, path, json_body(body)?).await
    }

    /// `POST` with bytes as the body and the fields of `query` as the query.
    pub async fn upload<T: DeserializeOwned>(
        &self,
        path: &str,
        query: &impl Serialize,
        body: Vec<u8>,
    ) -> Result<T, ApiError> {
        self.json(Method::POST, &with_query(path, query)?, body.into()).await
    }

    /// `DELETE`, with the fields of `query` as the query.
    pub async fn delete<T: DeserializeOwned>(
        &self,
        path: &str,
        query: &impl Serialize,
    ) -> Result<T, ApiError> {
        self.json(Method::DELETE, &with_query(path, query)?, Bytes::new()).await
    }

    /// `GET` of an endless answer: one JSON document a line.
    pub async fn follow<T: DeserializeOwned>(
        &self,
        path: &str,
        query: &impl Serialize,
    ) -> Result<Lines<T>, ApiError> {
        self.lines(Method::GET, &with_query(path, query)?, Bytes::new()).await
    }

    async fn lines<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Bytes,
    ) -> Result<Lines<T>, ApiError> {
        let response = self.send(method, path, body).await?;
        if !response.status().is_success() {
            return Err(self.refusal(response).await);
        }
        Ok(Lines {
            socket: self.socket.clone(),
            body: response.into_body(),
            waiting: Vec::new(),
            line: std::marker::PhantomData,
        })
    }

    async fn json<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Bytes,
    ) -> Result<T, ApiError> {
        let response = self.send(method, path, body).await?;
        if !response.status().is_success() {
            return Err(self.refusal(response).await);
        }
        let bytes = response.into_body().collect().await.map_err(|error| self.broken(&error))?.to_bytes();
        serde_json::from_slice(&bytes).map_err(|error| not_understood(&self.socket, &error))
    }

    async fn send(&self, method: Method, path: &str, body: Bytes) -> Result<Response<Incoming>, ApiError> {
        let stream = UnixStream::connect(&self.socket).await.map_err(|error| self.no_daemon(&error))?;
        let (mut sender, connection) =
            http1::handshake(TokioIo::new(stream)).await.map_err(|error| self.broken(&error))?;
        tokio::spawn(connection);
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("host", "nanobotd")
            .header("content-type", "application/json")
            .body(Full::new(body))
            .map_err(|error| ApiError::new(ErrorKind::Usage, error.to_string()))?;
        sender.send_request(request).await.map_err(|error| self.broken(&error))
    }

    async fn refusal(&self, response: Response<Incoming>) -> ApiError {
        let status = response.status();
        let bytes = response.into_body().collect().await.map(|body| body.to_bytes()).unwrap_or_default();
        if status == hyper::StatusCode::PAYLOAD_TOO_LARGE {
            return ApiError::new(ErrorKind::Refused, "what was sent is larger than the daemon takes");
        }
        serde_json::from_slice(&bytes).unwrap_or_else(|_| {
            ApiError::new(ErrorKind::Failed, format!("the daemon answered {status} without a reason"))
        })
    }

    fn no_daemon(&self, error: &io::Error) -> ApiError {
        let socket = self.socket.display();
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => ApiError::new(
                ErrorKind::Unreachable,
                format!("no daemon answers at {socket}"),
            )
            .hint(
                "start one with `nanobotd`, or `systemctl --user start nanobotd`; name another with --socket",
            ),
            io::ErrorKind::PermissionDenied => ApiError::new(
                ErrorKind::Unreachable,
                format!("the daemon at {socket} belongs to another user"),
            )
            .hint("only its owner and root may talk to it"),
            _ => ApiError::new(ErrorKind::Unreachable, format!("cannot connect to {socket}: {error}")),
        }
    }

    fn broken(&self, error: &dyn std::error::Error) -> ApiError {
        broken_off(&self.socket, error)
    }
}

fn broken_off(socket: &Path, error: &dyn std::error::Error) -> ApiError {
    ApiError::new(ErrorKind::Unreachable, format!("the daemon at {} broke off: {error}", socket.display()))
}

fn not_understood(socket: &Path, error: &dyn std::error::Error) -> ApiError {
    let message =
        format!("the daemon at {} gave an answer that is not understood here: {error}", socket.display());
    ApiError::new(ErrorKind::Failed, message).hint("are nbctl and nanobotd of the same version?")
}

/// A text from outside as one part of a path: whatever is in it, it stays that one part.
pub fn segment(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~') {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

/// An endless answer, or one of several parts, line by line.
#[derive(Debug)]
pub struct Lines<T> {
    socket: PathBuf,
    body: Incoming,
    waiting: Vec<u8>,
    line: std::marker::PhantomData<T>,
}

impl<T: DeserializeOwned> Lines<T> {
    /// The next line; none when the daemon ended the answer. A daemon that leaves in the middle is an error, so that
    /// half an answer is never taken for a whole one.
    pub async fn next(&mut self) -> Result<Option<T>, ApiError> {
        loop {
            if let Some(end) = self.waiting.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.waiting.drain(..=end).collect();
                if line.iter().all(u8::is_ascii_whitespace) {
                    continue;
                }
                return serde_json::from_slice(&line)
                    .map(Some)
                    .map_err(|error| not_understood(&self.socket, &error));
            }
            match self.body.frame().await {
                None if self.waiting.is_empty() => return Ok(None),
                None => self.waiting.push(b'\n'),
                Some(Err(error)) => return Err(broken_off(&self.socket, &error)),
                Some(Ok(frame)) => {
                    if let Ok(data) = frame.into_data() {
                        self.waiting.extend_from_slice(&data);
                    }
                }
            }
        }
    }
}

fn json_body(body: &impl Serialize) -> Result<Bytes, ApiError> {
    let bytes =
        serde_json::to_vec(body).map_err(|error| ApiError::new(ErrorKind::Usage, error.to_string()))?;
    Ok(bytes.into())
}

fn with_query(path: &str, query: &impl Serialize) -> Result<String, ApiError> {
    let usage = |error: &dyn std::error::Error| ApiError::new(ErrorKind::Usage, error.to_string());
    let query = serde_urlencoded::to_string(query).map_err(|error| usage(&error))?;
    Ok(if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stays_one_part_of_the_path() {
        assert_eq!(segment("repo-watch_2.0~"), "repo-watch_2.0~");
        assert_eq!(segment("../keys?purge=true é"), "..%2Fkeys%3Fpurge%3Dtrue%20%C3%A9");
    }
}
