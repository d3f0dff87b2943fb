//! Serves streams of tokens in OpenAI's form. The message says which: `COUNT INTERVAL_US`.

use std::fmt::Write as _;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Nanoseconds of the clock that all processes share.
pub fn now() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000_000 + u64::try_from(time.tv_nsec).unwrap_or(0)
}

#[tokio::main(flavor = "current_thread")]
pub async fn run() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    println!("http://{}", listener.local_addr().expect("its address"));
    loop {
        let (stream, _) = listener.accept().await.expect("a connection");
        tokio::spawn(serve(stream));
    }
}

async fn serve(mut stream: TcpStream) {
    let _ = stream.set_nodelay(true);
    let mut request = Vec::new();
    let mut buffer = [0; 8192];
    loop {
        match stream.read(&mut buffer).await {
            Ok(read) if read > 0 => request.extend_from_slice(&buffer[..read]),
            _ => return,
        }
        let text = String::from_utf8_lossy(&request);
        // Bodies are small and come in one piece behind the head.
        if let Some((_, body)) = text.split_once("\r\n\r\n")
            && let Some((count, interval)) = wanted(body)
        {
            if send(&mut stream, count, interval).await.is_err() {
                return;
            }
            request.clear();
        }
    }
}

/// Finds `tokens=COUNT/INTERVAL_US.` in the body.
fn wanted(body: &str) -> Option<(usize, u64)> {
    let (_, rest) = body.split_once("tokens=")?;
    let (wanted, _) = rest.split_once('.')?;
    let (count, interval) = wanted.split_once('/')?;
    Some((count.parse().ok()?, interval.parse().ok()?))
}

async fn send(stream: &mut TcpStream, count: usize, interval: u64) -> std::io::Result<()> {
    stream
        .write_all(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n",
        )
        .await?;
    let mut ticks = tokio::time::interval(Duration::from_micros(interval.max(1)));
    // As fast as they are taken: in packets as large as those of providers under load.
    let together = if interval == 0 { 16 } else { 1 };
    let mut sent = 0;
    while sent < count {
        if interval > 0 {
            ticks.tick().await;
        }
        let mut chunk = String::new();
        for _ in 0..together.min(count - sent) {
            let _ = write!(
                chunk,
                "data: {{\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1700000000,\"model\":\"gpt-4o-2024-08-06\",\"system_fingerprint\":\"fp_1\",\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{} \"}},\"logprobs\":null,\"finish_reason\":null}}],\"usage\":null}}\n\n",
                now()
            );
            sent += 1;
        }
        stream.write_all(format!("{:x}\r\n{chunk}\r\n", chunk.len()).as_bytes()).await?;
    }
    let end = "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1700000000,\"model\":\"gpt-4o\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    stream.write_all(format!("{:x}\r\n{end}\r\n0\r\n\r\n", end.len()).as_bytes()).await
}
