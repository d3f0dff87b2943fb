//! A webhook's request, as its sender makes it: HTTP/1.1 over TCP.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::wrong;
use crate::error::Error;

/// An answer takes a few milliseconds.
const DEADLINE: Duration = Duration::from_secs(10);

/// Posts a body to `http://ADDRESS:PORT/PATH`, and gives the status and the body of the answer.
pub(super) async fn post(
    url: &str,
    headers: &[(String, String)],
    body: &str,
) -> Result<(u16, String), Error> {
    let failed = |why: &str| wrong(format!("POST {url}: {why}"));
    let (address, path) = url
        .strip_prefix("http://")
        .and_then(|rest| rest.split_once('/'))
        .ok_or_else(|| failed("is not such an address"))?;
    let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let head = format!(
        "POST /{path} HTTP/1.1\r\nHost: {address}\r\nContent-Length: {}\r\nConnection: close\r\n{headers}\r\n",
        body.len()
    );
    let mut answer = String::new();
    let exchange = async {
        let mut stream = TcpStream::connect(address).await?;
        stream.write_all(head.as_bytes()).await?;
        stream.write_all(body.as_bytes()).await?;
        stream.read_to_string(&mut answer).await
    };
    match timeout(DEADLINE, exchange).await {
        Ok(Ok(_)) => {}
        Ok(Err(error)) => return Err(failed(&error.to_string())),
        Err(_) => return Err(failed("there is no answer")),
    }
    let (head, body) = answer.split_once("\r\n\r\n").ok_or_else(|| failed("the answer is not HTTP"))?;
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
    Ok((status.ok_or_else(|| failed("the answer has no status"))?, body.to_owned()))
}
