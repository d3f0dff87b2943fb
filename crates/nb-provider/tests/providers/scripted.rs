//! Transcripts, as a provider and as a server.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use nb_provider::{ErrorKind, Script, Stop, Turn, serve};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::support::*;

const TRANSCRIPT: &str = "
turns:
  - {when: first, once: true, answer: only once}
  - {when: HELLO, answer: Hello to you!}
  - when: {matches: '^roll (\\d+)'}
    answer: [I ro, ll.]
    calls:
      - {name: random-number, arguments: {to: 6}}
  - {when: {error_of: random-number}, answer: No dice.}
  - {when: {result_of: random-number}, answer: It is a four., usage: {input: 7, output: 3, cached: 2}}
  - {when: busy, error: {status: 429, message: slow down, retry_after: 2}}
  - {when: crash, answer: So far, error: {message: it broke}}
  - {when: cut, answer: Half an, breaks_off: true}
  - {when: slow, answer: [a, b, c], delay_ms: 100}
  - {answer: I do not know., stop: length}
";

fn section() -> String {
    "id: scripted\noptions: {script: talk.yaml}".to_owned()
}

fn surroundings() -> Surroundings {
    let files = [("talk.yaml".to_owned(), TRANSCRIPT.to_owned())].into();
    Surroundings { files, ..Surroundings::default() }
}

async fn openai_of(script: &str) -> (String, Arc<Mutex<Vec<nb_provider::Served>>>) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let seen = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&seen);
    let script = Script::parse(script).unwrap();
    tokio::spawn(serve(script, listener, move |served| kept.lock().unwrap().push(served)));
    let section = format!(
        "id: openai\ncredentials: {{address: '{address}', access-token: {SECRET}}}\nsettings: {{model: m}}\noptions: {{retries: 0}}"
    );
    (section, seen)
}

/// The same things are said by the provider and by the server, streamed and not.
#[tokio::test]
async fn the_provider_and_the_server_say_the_same() {
    for stream in [true, false] {
        let (served, _) = openai_of(TRANSCRIPT).await;
        for bot in [provider_in(&section(), surroundings()).unwrap(), provider(&served).unwrap()] {
            let answer = ask(&bot, &user("the first"), stream).await.0.unwrap();
            assert_eq!(answer.text, "only once");
            let answer = ask(&bot, &user("the first hello"), stream).await.0.unwrap();
            assert_eq!((answer.text.as_str(), answer.stop), ("Hello to you!", Some(Stop::Done)));
            let mut chat = long_chat();
            chat.turns = vec![Turn::User("roll 1".to_owned())];
            let answer = ask(&bot, &chat, stream).await.0.unwrap();
            assert_eq!((answer.text.as_str(), answer.stop), ("I roll.", Some(Stop::Calls)));
            assert_eq!(answer.calls[0].name, "random-number");
            assert_eq!(answer.calls[0].arguments.to_value(), json!({"to": 6}));
            let id = answer.calls[0].id.clone();
            chat.turns.push(Turn::Model(answer.message()));
            for (is_error, text) in [(false, "It is a four."), (true, "No dice.")] {
                let mut chat = chat.clone();
                chat.turns.push(Turn::Results(vec![nb_provider::ToolResult {
                    id: id.clone(),
                    name: "random-number".into(),
                    content: "4".into(),
                    is_error,
                }]));
                let answer = ask(&bot, &chat, stream).await.0.unwrap();
                assert_eq!(answer.text, text);
                assert!(answer.usage.is_some());
            }
            let error = ask(&bot, &user("busy?"), stream).await.0.unwrap_err();
            assert_eq!((error.message.as_str(), error.status), ("slow down", Some(429)));
            assert_eq!(error.retry_after.unwrap().as_secs(), 2);
            let error = ask(&bot, &user("crash"), stream).await.0.unwrap_err();
            assert_eq!(error.message, "it broke");
            let error = ask(&bot, &user("cut"), stream).await.0.unwrap_err();
            // Without a stream a server that breaks off has not answered at all.
            assert!(matches!(error.kind, ErrorKind::Ended | ErrorKind::Unreachable), "{error}");
            let begun = Instant::now();
            assert_eq!(ask(&bot, &user("slow"), stream).await.0.unwrap().text, "abc");
            // Before the first piece and between two, and nowhere else.
            let least = Duration::from_millis(if stream { 300 } else { 100 });
            assert!(
                (least..least + Duration::from_millis(300)).contains(&begun.elapsed()),
                "{:?}",
                begun.elapsed()
            );
            let answer = ask(&bot, &user("else"), stream).await.0.unwrap();
            assert_eq!((answer.text.as_str(), answer.stop), ("I do not know.", Some(Stop::Length)));
        }
    }
}

#[tokio::test]
async fn the_server_tells_which_turn_answered() {
    let (section, seen) = openai_of("turns: [{when: hello, answer: Hi}]").await;
    let bot = provider(&section).unwrap();
    ask(&bot, &user("hello"), true).await.0.unwrap();
    let error = ask(&bot, &user("what?"), true).await.0.unwrap_err();
    assert_eq!(error.message, "no turn of the transcript answers \"what?\"");
    let turns: Vec<Option<usize>> = seen.lock().unwrap().iter().map(|served| served.turn).collect();
    assert_eq!(turns, [Some(1), None]);
}

#[test]
fn a_wrong_transcript_says_what_and_where() {
    for (text, words) in [
        ("turns: []", "empty"),
        ("turns:\n  - {when: a}", "turn 1 has no `answer`"),
        ("turns:\n  - {anwser: a}", "anwser"),
        ("turns:\n  - {answer: a, when: {matchs: x}}", "result_of"),
        ("turns:\n  - {answer: a, when: {}}", "{matches: …}"),
        ("turns:\n  - {answer: a, when: 5}", "{matches: …}"),
        ("turns:\n  - {answer: a, when: {matches: a, result_of: b}}", "{matches: …}"),
        ("turns:\n  - {answer: a, error: {message: x, status: 200}}", "400 to 599"),
    ] {
        let error = Script::parse(text).err().unwrap();
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn a_wrong_regular_expression_is_told_with_its_own_error_and_line() {
    let error =
        Script::parse("turns:\n  - answer: a\n  - answer: b\n    when:\n      matches: '(roll'\n").err();
    assert_eq!(
        error.unwrap(),
        "turns[1].when: `(roll` is not a regular expression: unclosed group at line 5 column 7"
    );
}

/// The first line of the answer, and its body.
async fn post(address: &str, body: &[u8]) -> (String, Value) {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let head = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(body).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.lines().next().unwrap().to_owned(), serde_json::from_str(body).unwrap())
}

#[tokio::test]
async fn a_request_that_is_too_large_is_refused_in_openai_s_form() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    tokio::spawn(serve(Script::parse("turns: [{answer: Hi}]").unwrap(), listener, |_| {}));
    let of = |length: usize| {
        json!({"messages": [{"role": "user", "content": "a".repeat(length)}]}).to_string().into_bytes()
    };
    let (status, body) = post(&address, &of(15 << 20)).await;
    assert_eq!(status, "HTTP/1.1 200 OK");
    assert_eq!(body["choices"][0]["message"]["content"], "Hi");
    // One byte more than is read: all of it is taken off the connection before the answer.
    let (status, body) = post(&address, &vec![b'a'; (16 << 20) + 1]).await;
    assert_eq!(status, "HTTP/1.1 413 Payload Too Large");
    let error = json!({
        "message": "the body has more than 16777216 bytes", "type": "invalid_request_error", "param": null, "code": null,
    });
    assert_eq!(body, json!({ "error": error }));
}
