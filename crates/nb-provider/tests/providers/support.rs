//! A local server that keeps what it is sent and answers what it is told, and conversations to send.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use chrono::{DateTime, Utc};
use nb_egress::{Egress, EgressConfig, HostPattern, SecretValue};
use nb_provider::{
    Answer, Arguments, Call, Chat, Delta, Environment, Message, Provider, ProviderError, Tool, ToolResult,
    Turn, Variable,
};
use nb_spec::ProviderSection;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// A request as it came over the wire.
#[derive(Debug, Clone)]
pub struct Received {
    pub method: String,
    pub path: String,
    pub headers: BTreeMap<String, String>,
    pub body: Value,
    /// The body's bytes.
    pub text: String,
}

/// What the server does with a request.
#[derive(Debug, Clone)]
pub enum Reply {
    /// Status, headers and body; the body in pieces that are sent one by one.
    Http { status: u16, headers: Vec<(&'static str, String)>, pieces: Vec<Vec<u8>>, ends: Ends },
    /// Takes the request and says nothing.
    Silence,
    /// Closes the connection without an answer.
    Close,
}

/// How an answer ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ends {
    /// As it should.
    Well,
    /// The connection breaks before the end that was announced.
    Broken,
    /// Nothing more comes, and the connection stays open.
    Never,
    /// Comments come for ever.
    Drips,
}

impl Reply {
    pub fn json(status: u16, body: &Value) -> Self {
        Self::Http {
            status,
            headers: vec![("content-type", "application/json".to_owned())],
            pieces: vec![body.to_string().into_bytes()],
            ends: Ends::Well,
        }
    }

    pub fn events(body: &str) -> Self {
        Self::stream("text/event-stream", body)
    }

    pub fn stream(kind: &str, body: &str) -> Self {
        Self::Http {
            status: 200,
            headers: vec![("content-type", kind.to_owned())],
            pieces: vec![body.as_bytes().to_vec()],
            ends: Ends::Well,
        }
    }

    pub fn ending(mut self, how: Ends) -> Self {
        if let Self::Http { ends, .. } = &mut self {
            *ends = how;
        }
        self
    }

    pub fn header(mut self, name: &'static str, value: &str) -> Self {
        if let Self::Http { headers, .. } = &mut self {
            headers.push((name, value.to_owned()));
        }
        self
    }

    pub fn in_pieces(mut self, of: usize) -> Self {
        if let Self::Http { pieces, .. } = &mut self {
            let whole: Vec<u8> = pieces.concat();
            *pieces = whole.chunks(of).map(<[u8]>::to_vec).collect();
        }
        self
    }
}

/// The server. It answers each request with the next reply; the last one is repeated.
pub struct Server {
    pub address: String,
    received: Arc<Mutex<Vec<Received>>>,
    closed: Arc<tokio::sync::Notify>,
}

impl Server {
    pub async fn new(replies: impl IntoIterator<Item = Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let received = Arc::new(Mutex::new(Vec::new()));
        let closed = Arc::new(tokio::sync::Notify::new());
        let replies = Arc::new(Mutex::new(replies.into_iter().collect::<VecDeque<_>>()));
        let (kept, gone) = (Arc::clone(&received), Arc::clone(&closed));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (kept, gone, replies) = (Arc::clone(&kept), Arc::clone(&gone), Arc::clone(&replies));
                tokio::spawn(async move {
                    serve(stream, &kept, &replies).await;
                    gone.notify_one();
                });
            }
        });
        Self { address, received, closed }
    }

    /// Its host and port.
    pub fn host(&self) -> String {
        self.address.replace("http://", "")
    }

    /// What came so far.
    pub fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }

    /// The one request that came.
    pub fn only(&self) -> Received {
        let received = self.received();
        assert_eq!(received.len(), 1, "{received:#?}");
        received[0].clone()
    }

    /// Waits until a client has closed a connection.
    pub async fn closed(&self) {
        self.closed.notified().await;
    }

    /// Waits until that many requests came.
    pub async fn came(&self, count: usize) {
        while self.received().len() < count {
            tokio::task::yield_now().await;
        }
    }
}

async fn serve(mut stream: TcpStream, kept: &Mutex<Vec<Received>>, replies: &Mutex<VecDeque<Reply>>) {
    while let Some(received) = read_request(&mut stream).await {
        kept.lock().unwrap().push(received);
        let reply = {
            let mut replies = replies.lock().unwrap();
            if replies.len() > 1 { replies.pop_front() } else { replies.front().cloned() }
        };
        match reply.expect("a reply") {
            Reply::Close => return,
            Reply::Silence => break,
            Reply::Http { status, headers, pieces, ends } => {
                let mut head = format!("HTTP/1.1 {status} X\r\ntransfer-encoding: chunked\r\n");
                for (name, value) in headers {
                    head += &format!("{name}: {value}\r\n");
                }
                head += "\r\n";
                if stream.write_all(head.as_bytes()).await.is_err() {
                    return;
                }
                for piece in pieces {
                    let size = format!("{:x}\r\n", piece.len());
                    let sent = [size.as_bytes(), &piece, b"\r\n"].concat();
                    if stream.write_all(&sent).await.is_err() {
                        return;
                    }
                    // Pieces that are small arrive one by one.
                    let _ = stream.flush().await;
                    tokio::task::yield_now().await;
                }
                match ends {
                    Ends::Well => drop(stream.write_all(b"0\r\n\r\n").await),
                    Ends::Broken => return,
                    Ends::Never => break,
                    Ends::Drips => {
                        while stream.write_all(b"8\r\n: keep\n\n\r\n").await.is_ok() {
                            tokio::time::sleep(Duration::from_millis(20)).await;
                        }
                        return;
                    }
                }
            }
        }
    }
    // Until the client goes.
    let mut rest = [0; 64];
    while stream.read(&mut rest).await.is_ok_and(|read| read > 0) {}
}

async fn read_request(stream: &mut TcpStream) -> Option<Received> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 65536];
    let head_end = loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break end;
        }
        match stream.read(&mut buffer).await {
            Ok(0) | Err(_) => return None,
            Ok(read) => bytes.extend_from_slice(&buffer[..read]),
        }
    };
    let head = String::from_utf8(bytes[..head_end].to_vec()).unwrap();
    let mut lines = head.split("\r\n");
    let mut first = lines.next().unwrap().split(' ');
    let (method, path) = (first.next().unwrap().to_owned(), first.next().unwrap().to_owned());
    let headers: BTreeMap<String, String> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let length: usize = headers.get("content-length").and_then(|text| text.parse().ok()).unwrap_or(0);
    let mut body = bytes[head_end + 4..].to_vec();
    while body.len() < length {
        match stream.read(&mut buffer).await {
            Ok(0) | Err(_) => return None,
            Ok(read) => body.extend_from_slice(&buffer[..read]),
        }
    }
    let text = String::from_utf8(body).unwrap();
    Some(Received { method, path, headers, body: serde_json::from_str(&text).unwrap_or(Value::Null), text })
}

/// Variables and files in memory, the hosts that may be asked, and a clock that stands.
#[derive(Default)]
pub struct Surroundings {
    pub variables: BTreeMap<String, String>,
    pub files: BTreeMap<String, String>,
    pub hidden: Vec<String>,
    pub hosts: Option<Vec<HostPattern>>,
}

impl Environment for Surroundings {
    fn variable(&self, name: &str) -> Result<Option<Variable>, String> {
        let value = self.variables.get(name).cloned();
        Ok(value.map(|value| Variable { value, hosts: None }))
    }

    fn file(&self, path: &str) -> Result<Vec<u8>, String> {
        let found = self.files.get(path).map(|text| text.clone().into_bytes());
        found.ok_or_else(|| "there is no such file".to_owned())
    }

    fn hidden(&self) -> Vec<SecretValue> {
        self.hidden.iter().map(|value| value.as_str().into()).collect()
    }

    fn hosts(&self) -> Option<Vec<HostPattern>> {
        self.hosts.clone()
    }

    fn now(&self) -> DateTime<Utc> {
        "2026-11-20T10:00:00Z".parse().unwrap()
    }

    fn chance(&self) -> f64 {
        0.0
    }
}

/// The key that every conversation here is sent with; it must never come back.
pub const SECRET: &str = "sk-test-0123456789abcdef";

pub fn egress() -> Egress {
    let allow = ["127.0.0.1", "localhost"].iter().map(|host| host.parse().unwrap()).collect();
    Egress::new(EgressConfig { allow, ..EgressConfig::default() }).unwrap()
}

/// A provider of a section in YAML.
pub fn provider(yaml: &str) -> Result<Provider, ProviderError> {
    provider_in(yaml, Surroundings::default())
}

/// What is sent of a tool with these parameters, in a section with `ADDRESS` in it.
pub async fn sent_with(yaml: &str, parameters: Value) -> Result<Value, ProviderError> {
    // What is answered does not matter.
    let server = Server::new([Reply::json(400, &json!({}))]).await;
    let chat = Chat { tools: vec![tool("search", Some(parameters))], ..user("Hi") };
    let error = ask(&provider(&yaml.replace("ADDRESS", &server.address))?, &chat, true).await.0.unwrap_err();
    match server.received().first() {
        Some(sent) => Ok(sent.body["tools"][0].clone()),
        None => Err(error),
    }
}

pub fn provider_in(yaml: &str, surroundings: Surroundings) -> Result<Provider, ProviderError> {
    let section: ProviderSection = serde_yaml::from_str(yaml).unwrap();
    Provider::new(&section, Arc::new(surroundings), egress())
}

/// Asks, and gives the answer together with the text as it arrived.
pub async fn ask(
    provider: &Provider,
    chat: &Chat,
    stream: bool,
) -> (Result<Answer, ProviderError>, Vec<String>) {
    let mut parts = Vec::new();
    let mut keep = |delta: Delta<'_>| {
        if let Delta::Text(text) = delta {
            parts.push(text.to_owned());
        }
    };
    let asked = provider.ask(chat, stream, &mut keep);
    // A test that hangs says nothing.
    let answer = tokio::time::timeout(Duration::from_secs(20), asked).await.expect("an answer in time");
    (answer, parts)
}

pub fn user(text: &str) -> Chat {
    Chat { turns: vec![Turn::User(text.to_owned())], ..Chat::default() }
}

pub fn tool(name: &str, parameters: Option<Value>) -> Tool {
    Tool { name: name.to_owned(), description: format!("Does {name}."), parameters }
}

pub fn call(id: &str, name: &str, arguments: Value) -> Call {
    Call { id: id.to_owned(), name: name.to_owned(), arguments: Arguments::from_value(arguments) }
}

/// A conversation with everything in it: two tools, two calls in one turn, one of which failed, and a question after it.
pub fn long_chat() -> Chat {
    Chat {
        directive: Some("You are a cheerful bot.".to_owned()),
        backdrop: Some("It is Monday.".to_owned()),
        turns: vec![
            Turn::User("Hi.".to_owned()),
            Turn::Model(Message { text: "Hello!".to_owned(), ..Message::default() }),
            Turn::User("A number, and the time.".to_owned()),
            Turn::Model(Message {
                text: "I look.".to_owned(),
                calls: vec![
                    call("call_a", "random-number", json!({"from": 1, "to": 6})),
                    call("call_b", "what time", json!({})),
                ],
                native: None,
            }),
            Turn::Results(vec![
                ToolResult {
                    id: "call_a".into(),
                    name: "random-number".into(),
                    content: "4".into(),
                    is_error: false,
                },
                ToolResult {
                    id: "call_b".into(),
                    name: "what time".into(),
                    content: "no clock".into(),
                    is_error: true,
                },
            ]),
        ],
        tools: vec![
            tool(
                "random-number",
                Some(json!({
                    "type": "object",
                    "properties": {"from": {"type": "integer"}, "to": {"type": "integer", "description": "up to"}},
                    "required": ["from", "to"],
                })),
            ),
            tool("what time", None),
        ],
    }
}
