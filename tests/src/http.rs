//! Requests byte by byte: what is sent here need not be HTTP at all.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

/// A connection that says nothing for so long is given up.
pub const SILENCE: Duration = Duration::from_secs(20);

/// A request under construction.
#[derive(Debug, Clone)]
pub struct Request {
    method: String,
    target: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

/// What came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The status code.
    pub status: u16,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    /// The whole body.
    pub body: Vec<u8>,
}

impl Request {
    /// A request without a body.
    pub fn new(method: &str, target: &str) -> Self {
        Self { method: method.to_owned(), target: target.to_owned(), headers: Vec::new(), body: Vec::new() }
    }

    /// `POST` with a body.
    pub fn post(target: &str, body: impl AsRef<[u8]>) -> Self {
        Self { body: body.as_ref().to_vec(), ..Self::new("POST", target) }
    }

    /// The same with one header more.
    pub fn header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    /// As it goes over the wire.
    pub fn bytes(&self) -> Vec<u8> {
        let mut head =
            format!("{} {} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n", self.method, self.target);
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str(&format!("content-length: {}\r\n\r\n", self.body.len()));
        [head.as_bytes(), &self.body].concat()
    }

    /// Sends it over TCP.
    pub fn send(&self, address: &str) -> Answer {
        self.try_send(address).unwrap_or_else(|error| panic!("{} {}: {error}", self.method, self.target))
    }

    /// The same when the other side may vanish in the middle.
    pub fn try_send(&self, address: &str) -> Result<Answer, String> {
        exchange(connect(address).map_err(|error| error.to_string())?, &self.bytes())
    }
}

impl Answer {
    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error} in {:?}", self.text()))
    }
}

/// A connection to `host:port` that gives up after [`SILENCE`].
pub fn connect(address: &str) -> std::io::Result<TcpStream> {
    let stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(SILENCE))?;
    stream.set_write_timeout(Some(SILENCE))?;
    Ok(stream)
}

/// Sends a whole request that closes its connection, and reads the answer.
pub fn exchange(mut stream: impl Read + Write, request: &[u8]) -> Result<Answer, String> {
    // A server that refuses early may close before it has read everything. Its answer counts all the same.
    match stream.write_all(request) {
        Err(error) if !is_closed(error.kind()) => return Err(format!("not sent: {error}")),
        _ => {}
    }
    read_answer(stream)
}

/// Reads an answer to the end of its connection.
pub fn read_answer(mut stream: impl Read) -> Result<Answer, String> {
    let mut bytes = Vec::new();
    match stream.read_to_end(&mut bytes) {
        Err(error) if bytes.is_empty() || !is_closed(error.kind()) => Err(format!("no answer: {error}")),
        _ => parse(&bytes).ok_or_else(|| format!("no whole answer: {:?}", String::from_utf8_lossy(&bytes))),
    }
}

fn is_closed(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::BrokenPipe | ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted)
}

fn parse(bytes: &[u8]) -> Option<Answer> {
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n")?;
    let head = std::str::from_utf8(&bytes[..end]).ok()?;
    let mut lines = head.split("\r\n");
    let status = lines.next()?.split(' ').nth(1)?.parse().ok()?;
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_lowercase(), value.trim().to_owned()))
        .collect();
    let rest = &bytes[end + 4..];
    let has = |name: &str| headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str());
    let body = match (has("content-length"), has("transfer-encoding")) {
        (Some(length), _) => rest.get(..length.parse().ok()?)?.to_vec(),
        (None, Some("chunked")) => unchunk(rest)?,
        _ => rest.to_vec(),
    };
    Some(Answer { status, headers, body })
}

fn unchunk(mut rest: &[u8]) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let line = rest.windows(2).position(|window| window == b"\r\n")?;
        let length = usize::from_str_radix(std::str::from_utf8(&rest[..line]).ok()?, 16).ok()?;
        let chunk = rest.get(line + 2..line + 2 + length)?;
        if length == 0 {
            return Some(body);
        }
        body.extend_from_slice(chunk);
        rest = rest.get(line + 2 + length + 2..)?;
    }
}
