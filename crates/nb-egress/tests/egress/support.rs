//! Servers that misbehave on demand, and an [`Egress`] that may reach them.

use std::collections::HashMap;
use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::BoxFuture;
use nb_egress::{Egress, EgressConfig, Request, Resolve, Secret};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// A server on 127.0.0.1 that ends with the runtime of its test.
pub struct Server {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Answers each request with the bytes that `answer` makes of it, then closes the connection.
    pub async fn answering<A: Into<Vec<u8>>>(answer: impl Fn(&str) -> A + Send + Sync + 'static) -> Self {
        let answer = Arc::new(answer);
        Self::talking(move |mut stream, request| {
            let bytes: Vec<u8> = answer(&request).into();
            async move { stream.write_all(&bytes).await }
        })
        .await
    }

    /// Hands the connection to `talk` once the request has been read.
    pub async fn talking<F>(talk: impl Fn(TcpStream, String) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = io::Result<()>> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = requests.clone();
        let talk = Arc::new(talk);
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let (seen, talk) = (seen.clone(), talk.clone());
                tokio::spawn(async move {
                    let Ok(request) = read_request(&mut stream).await else { return };
                    seen.lock().unwrap().push(request.clone());
                    // A client that has heard enough closes: not a failure of the test.
                    let _ = talk(stream, request).await;
                });
            }
        });
        Self { address, requests }
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub fn url_as(&self, name: &str, path: &str) -> String {
        format!("http://{name}:{}{path}", self.port())
    }

    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

async fn read_request(stream: &mut TcpStream) -> io::Result<String> {
    let mut text = Vec::new();
    loop {
        let mut piece = [0; 4096];
        let read = stream.read(&mut piece).await?;
        text.extend_from_slice(&piece[..read]);
        let so_far = String::from_utf8_lossy(&text).into_owned();
        if let Some((head, body)) = so_far.split_once("\r\n\r\n") {
            let length = head
                .lines()
                .find_map(|line| line.strip_prefix("content-length: "))
                .map_or(0, |length| length.parse().unwrap());
            if body.len() >= length {
                return Ok(so_far);
            }
        }
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
}

/// A 200 with this body.
pub fn ok(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}

/// A redirect with an empty body.
pub fn redirect(status: u16, location: &str) -> String {
    format!("HTTP/1.1 {status} Moved\r\nlocation: {location}\r\ncontent-length: 0\r\n\r\n")
}

/// Names with chosen addresses; all others are not found. Counts the questions.
#[derive(Default)]
pub struct Names {
    addresses: HashMap<String, Vec<IpAddr>>,
    asked: Mutex<Vec<String>>,
}

impl Names {
    pub fn with(mut self, name: &str, addresses: &[&str]) -> Self {
        self.addresses.insert(name.to_owned(), addresses.iter().map(|a| a.parse().unwrap()).collect());
        self
    }

    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

impl Resolve for Names {
    fn resolve(&self, name: &str) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        self.asked.lock().unwrap().push(name.to_owned());
        let answer = self.addresses.get(name).cloned();
        Box::pin(async move { answer.ok_or_else(|| io::Error::other("no such name")) })
    }
}

/// May reach what `allow` lists, on addresses that are not public.
pub fn egress<T: AsRef<str>>(allow: &[T]) -> Egress {
    egress_with(allow, Arc::new(Names::default()))
}

pub fn egress_with<T: AsRef<str>>(allow: &[T], names: Arc<Names>) -> Egress {
    let allow = allow.iter().map(|rule| rule.as_ref().parse().unwrap()).collect();
    let config =
        EgressConfig { allow, user_agent: "tests".to_owned(), connect_timeout: Duration::from_secs(5) };
    Egress::with_resolver(config, names).unwrap()
}

/// May reach these servers under their address.
pub fn egress_to(servers: &[&Server]) -> Egress {
    egress(&servers.iter().map(|server| server.address.to_string()).collect::<Vec<_>>())
}

/// What `fetch` says when it must not succeed.
pub async fn refusal(egress: &Egress, request: Request) -> String {
    match egress.fetch(request).await {
        Ok(response) => panic!("{} answered with {}", response.url, response.status),
        Err(error) => error.to_string(),
    }
}

pub fn secret(name: &str, value: &str, hosts: &[&str]) -> Secret {
    Secret {
        name: name.to_owned(),
        value: value.into(),
        hosts: hosts.iter().map(|host| host.parse().unwrap()).collect(),
    }
}

pub fn with_header(mut request: Request, name: &str, value: &str) -> Request {
    request.headers.push((name.to_owned(), value.to_owned()));
    request
}
