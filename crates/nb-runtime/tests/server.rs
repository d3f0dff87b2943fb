//! An HTTP server on 127.0.0.1 that ends with its test.

use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

pub struct Server {
    port: u16,
    requests: Arc<Mutex<Vec<String>>>,
    /// Somebody asked.
    pub asked: Arc<Notify>,
}

impl Server {
    /// Answers each request with what `answer` makes of it; never, where that is nothing.
    pub async fn answering(answer: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        Self::serving(move |request| answer(request).map(String::into_bytes), false).await
    }

    /// Begins to answer each request, and then leaves the connection open.
    pub async fn beginning(answer: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        Self::serving(move |request| answer(request).map(String::into_bytes), true).await
    }

    async fn serving(
        answer: impl Fn(&str) -> Option<Vec<u8>> + Send + Sync + 'static,
        stays_open: bool,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = Self { port, requests: Arc::default(), asked: Arc::default() };
        let (requests, asked, answer) = (server.requests.clone(), server.asked.clone(), Arc::new(answer));
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let (requests, asked, answer) = (requests.clone(), asked.clone(), answer.clone());
                tokio::spawn(async move {
                    let Some(request) = read_request(&mut stream).await else { return };
                    requests.lock().unwrap().push(request.clone());
                    asked.notify_one();
                    let answer = answer(&request);
                    if let Some(answer) = &answer {
                        let _ = stream.write_all(answer).await;
                    }
                    if stays_open || answer.is_none() {
                        std::future::pending().await
                    }
                });
            }
        });
        server
    }

    /// Answers each request with a 200 and this body, which need not be text.
    pub async fn answering_bytes(body: &'static [u8]) -> Self {
        let head = format!("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {}\r\n\r\n", body.len());
        Self::serving(move |_| Some([head.as_bytes(), body].concat()), false).await
    }

    pub fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.host())
    }

    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

/// A 200 with this body.
pub fn ok(body: &str) -> Option<String> {
    Some(format!("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}", body.len()))
}

async fn read_request(stream: &mut TcpStream) -> Option<String> {
    let mut text = Vec::new();
    loop {
        let mut piece = [0; 4096];
        let read = stream.read(&mut piece).await.ok().filter(|read| *read > 0)?;
        text.extend_from_slice(&piece[..read]);
        let so_far = String::from_utf8_lossy(&text).into_owned();
        if let Some((head, body)) = so_far.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            if body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
                return Some(so_far);
            }
        }
    }
}
