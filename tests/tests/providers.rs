//! `nbctl provider`: a transcript as a server, and one message to a model.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use nb_tests::http::{Answer, Request};
use nb_tests::server::Server;
use nb_tests::{Ended, Home};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

const TALK: &str = "
turns:
  - when: hello
    answer: Hello to you!
    usage: {input: 1000, output: 100, cached: 400}
  - {when: roll, calls: [{name: random-number, arguments: {to: 6}}]}
  - {when: busy, error: {status: 429, code: rate_limit_exceeded, message: slow down, retry_after: 20}}
  - {when: cut, answer: Half an answer, breaks_off: true}
";
const KEY: &str = "sk-0123456789abcdef";

/// `nbctl provider serve-script` at work. It ends with this value, when it has not ended before.
struct Served {
    child: Option<Child>,
    /// As it was printed: `http://127.0.0.1:PORT/v1`.
    url: String,
}

impl Served {
    fn start(home: &Home) -> Self {
        home.write("talk.yaml", TALK);
        let mut command = home.command(&["provider", "serve-script", "talk.yaml"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        let stdout = BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line);
        // Ends it also when the line is not as it should be.
        let mut served = Self { child: Some(child), url: String::new() };
        stdout.unwrap();
        let url = line.trim().strip_prefix("serving talk.yaml at ");
        served.url = url.unwrap_or_else(|| panic!("{line:?}")).to_owned();
        served
    }

    fn address(&self) -> &str {
        self.url.strip_prefix("http://").unwrap().strip_suffix("/v1").unwrap()
    }

    fn ask(&self, said: &str, stream: bool) -> Answer {
        let body = json!({
            "model": "any", "stream": stream, "messages": [{"role": "user", "content": said}],
            "stream_options": {"include_usage": true},
        });
        let request = Request::post("/v1/chat/completions", body.to_string());
        request
            .header("content-type", "application/json")
            .header("authorization", "Bearer any")
            .send(self.address())
    }

    /// Sends a signal and waits for the end.
    fn end(mut self, signal: Signal) -> Ended {
        let child = self.child.take().unwrap();
        kill_process(Pid::from_child(&child), signal).unwrap();
        Ended::new("nbctl provider serve-script".to_owned(), child.wait_with_output().unwrap())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// A cartridge with OpenAI at this address.
fn openai(home: &Home, url: &str) {
    let bot = format!(
        "provider:\n  id: openai\n  credentials: {{address: '{url}', access-token: ENV/OUR_KEY}}\n  settings: {{model: gpt-4o}}\n  \
         options: {{retries: 0, prices: {{input: 2.5, output: 10, cached: 1.25}}}}\n"
    );
    home.write("bot.yml", bot);
}

fn with_key(home: &Home, args: &[&str]) -> Ended {
    let output = home.command(args).env("OUR_KEY", KEY).output().unwrap();
    let ended = Ended::new(format!("nbctl {}", args.join(" ")), output);
    assert!(!ended.stdout.contains(KEY) && !ended.stderr.contains(KEY), "the key is shown: {ended}");
    ended
}

fn json_of(answer: &Answer) -> Value {
    serde_json::from_slice(&answer.body).unwrap()
}

#[test]
fn a_transcript_answers_like_openai_with_a_stream_and_without() {
    let home = Home::new();
    let served = Served::start(&home);
    let whole = served.ask("Hello?", false);
    assert_eq!(whole.status, 200);
    let body = json_of(&whole);
    assert_eq!(body["object"], "chat.completion");
    let choice = json!({
        "index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Hello to you!"},
    });
    assert_eq!(body["choices"], json!([choice]));
    let usage = json!({
        "prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100,
        "prompt_tokens_details": {"cached_tokens": 400},
    });
    assert_eq!(body["usage"], usage);

    let streamed = served.ask("Hello?", true);
    let kind = streamed.headers.iter().find(|(name, _)| name == "content-type").unwrap();
    assert_eq!(kind.1, "text/event-stream");
    let text = String::from_utf8(streamed.body).unwrap();
    let mut events: Vec<&str> =
        text.split_terminator("\n\n").map(|event| event.strip_prefix("data: ").unwrap()).collect();
    assert_eq!(events.pop(), Some("[DONE]"));
    let events: Vec<Value> = events.into_iter().map(|event| serde_json::from_str(event).unwrap()).collect();
    let pieces: Vec<&str> =
        events.iter().filter_map(|event| event.pointer("/choices/0/delta/content")?.as_str()).collect();
    assert_eq!(pieces, ["", "Hello ", "to ", "you!"]);
    assert_eq!(events.last().unwrap()["usage"], usage);

    let call = &json_of(&served.ask("Roll it", false))["choices"][0]["message"]["tool_calls"][0]["function"];
    assert_eq!((&call["name"], &call["arguments"]), (&json!("random-number"), &json!("{\"to\":6}")));
    let busy = served.ask("busy", true);
    assert_eq!((busy.status, &json_of(&busy)["error"]["message"]), (429, &json!("slow down")));
    assert!(busy.headers.contains(&("retry-after".to_owned(), "20".to_owned())), "{busy:?}");
    let nothing = served.ask("what?", false);
    assert_eq!(nothing.status, 400);
    assert_eq!(json_of(&nothing)["error"]["message"], "no turn of the transcript answers \"what?\"");

    let ended = served.end(Signal::INT);
    let turns = [
        "turn 1 answered Hello?",
        "turn 1 answered Hello?",
        "turn 2 answered Roll it",
        "turn 3 answered busy",
        "no turn answered what?",
    ];
    assert_eq!(ended.stderr.lines().take(5).collect::<Vec<_>>(), turns, "{ended}");
}

#[test]
fn a_server_of_a_transcript_serves_until_ctrl_c() {
    let home = Home::new();
    for signal in [Signal::INT, Signal::TERM] {
        let served = Served::start(&home);
        // Signals are handled as soon as it has answered.
        assert_eq!(served.ask("hello", false).status, 200);
        served.end(signal).fails(130);
    }
}

#[test]
fn a_wrong_transcript_is_told_with_its_line() {
    let home = Home::new();
    home.write("talk.yaml", "turns:\n  - {answer: fine}\n  - anwser: not fine\n");
    let ended = home.nbctl(&["provider", "serve-script", "talk.yaml"]).fails(2);
    assert!(ended.error().starts_with("talk.yaml: ") && ended.error().contains("`anwser`"), "{ended}");
    assert!(ended.error().contains("line 3"), "{ended}");
    home.write("talk.yaml", "turns:\n  - {when: {matches: '(roll'}, answer: a}\n");
    let ended = home.nbctl(&["provider", "serve-script", "talk.yaml"]).fails(2);
    assert!(
        ended.error().contains("`(roll` is not a regular expression: unclosed group at line 2"),
        "{ended}"
    );
    let ended = home.nbctl(&["provider", "serve-script", "missing.yaml"]).fails(1);
    assert!(ended.error().contains("missing.yaml"), "{ended}");
    let taken = Served::start(&home);
    let port = taken.address().rsplit_once(':').unwrap().1;
    let ended = home.nbctl(&["provider", "serve-script", "talk.yaml", "--port", port]).fails(1);
    assert!(ended.error().contains(taken.address()), "{ended}");
}

#[test]
fn a_scripted_model_is_asked_from_any_folder() {
    let home = Home::new();
    home.write("bots/talk.yaml", TALK);
    home.write("bots/bot.yml", "provider: {id: scripted, options: {script: talk.yaml}}");
    let ended = home.nbctl(&["provider", "ask", "bots/bot.yml", "hello"]).success();
    assert_eq!(ended.stdout, "Hello to you!\n");
    assert_eq!(ended.stderr, "scripted scripted: stop; 1000 tokens in (400 cached), 100 out\n");
    let ended = home.nbctl(&["provider", "ask", "bots/bot.yml", "what?"]).fails(1);
    assert_eq!(ended.error(), "scripted: no turn of the transcript answers \"what?\"");
    assert!(ended.stderr.contains("\nhint: add a turn without `when`"), "{ended}");
    assert_eq!(ended.stdout, "");
}

#[test]
fn calls_are_told_beside_the_answer_and_thoughts_are_no_text() {
    let home = Home::new();
    home.write("talk.yaml", TALK);
    home.write("bot.yml", "provider: {id: scripted, options: {script: talk.yaml}}");
    let ended = home.nbctl(&["provider", "ask", "bot.yml", "roll"]).success();
    assert_eq!(ended.stdout, "");
    assert!(ended.stderr.starts_with("it wants to call random-number; nothing is called here\n"), "{ended}");
    let told = home.nbctl(&["--json", "provider", "ask", "bot.yml", "roll"]).success().json();
    assert_eq!((&told["calls"][0]["name"], &told["first_ms"]), (&json!("random-number"), &Value::Null));

    let thought =
        json!({"model": "m", "message": {"thinking": "Hm."}, "done": true, "done_reason": "length"});
    let server = Server::new(move |_: &str| thought.to_string());
    let bot = format!(
        "provider:\n  id: ollama\n  credentials: {{address: 'http://{}'}}\n  settings: {{model: m}}\n",
        server.address()
    );
    home.write("bot.yml", bot);
    let ended = home.nbctl(&["provider", "ask", "bot.yml", "hello"]).success();
    assert_eq!((ended.stdout.as_str(), ended.stderr.as_str()), ("", "ollama m: length\n"));
    let told = home.nbctl(&["--json", "provider", "ask", "bot.yml", "hello"]).success().json();
    assert_eq!((&told["thinking"], &told["first_ms"]), (&json!("Hm."), &Value::Null));
}

#[test]
fn keys_of_the_section_that_are_not_known_are_told() {
    let home = Home::new();
    home.write("bot.yml", "provider:\n  id: ollama\n  setings: {model: m}\n");
    let ended = home.nbctl(&["provider", "ask", "bot.yml", "hello"]).fails(1);
    assert_eq!(ended.error(), "ollama: provider.setings is not known; did you mean `settings`?");

    home.write("talk.yaml", TALK);
    home.write("bot.yml", "provider:\n  id: scripted\n  color: red\n  options: {script: talk.yaml}\n");
    let ended = home.nbctl(&["provider", "ask", "bot.yml", "hello"]).success();
    let warning = "bot.yml:3: warning: `provider.color` is not known here, and is ignored";
    assert_eq!(ended.stderr.lines().next(), Some(warning), "{ended}");
    let told = home.nbctl(&["--json", "provider", "ask", "bot.yml", "hello"]).success().json();
    assert_eq!(told["warnings"], json!([warning]));
}

#[test]
fn an_answer_is_told_with_its_tokens_and_what_they_cost() {
    let home = Home::new();
    let served = Served::start(&home);
    openai(&home, &served.url);
    for more in [&[][..], &["--no-stream"]] {
        let ended = with_key(&home, &[&["provider", "ask", "bot.yml", "hello"], more].concat()).success();
        assert_eq!(ended.stdout, "Hello to you!\n");
        // 600 tokens at 2.5, 400 at 1.25 and 100 at 10 dollars a million.
        assert_eq!(ended.stderr, "openai gpt-4o: stop; 1000 tokens in (400 cached), 100 out; $0.003000\n");
    }
    let ended = with_key(&home, &["--json", "provider", "ask", "bot.yml", "hello"]).success();
    assert_eq!((ended.stdout.lines().count(), ended.stderr.as_str()), (1, ""), "{ended}");
    let told = ended.json();
    assert_eq!((&told["provider"], &told["model"]), (&json!("openai"), &json!("gpt-4o")));
    assert_eq!((&told["text"], &told["stop"]), (&json!("Hello to you!"), &json!("done")));
    assert_eq!(told["usage"], json!({"input": 1000, "output": 100, "cached": 400}));
    assert!((told["usd"].as_f64().unwrap() - 0.003).abs() < 1e-9, "{told}");
    assert!(told["first_ms"].as_u64().unwrap() <= told["ms"].as_u64().unwrap(), "{told}");
}

#[test]
fn a_key_that_is_missing_is_named() {
    let home = Home::new();
    // Nobody listens there: nothing is asked without a key.
    openai(&home, "http://127.0.0.1:1");
    let ended = home.nbctl(&["provider", "ask", "bot.yml", "hello"]).fails(1);
    assert!(ended.error().contains("access-token is ENV/OUR_KEY, and OUR_KEY is not set"), "{ended}");
    assert!(ended.stderr.ends_with("hint: set OUR_KEY to your key\n"), "{ended}");
}

#[test]
fn an_error_of_the_model_is_told_in_its_words() {
    let home = Home::new();
    let served = Served::start(&home);
    openai(&home, &served.url);
    let ended = with_key(&home, &["provider", "ask", "bot.yml", "busy"]).fails(1);
    assert_eq!(ended.error(), "openai: slow down (HTTP 429, rate_limit_exceeded)");
    assert!(ended.stderr.ends_with("\nhint: the provider asks to wait 20 s\n"), "{ended}");
    assert_eq!(ended.stdout, "");
    let ended = with_key(&home, &["--json", "provider", "ask", "bot.yml", "busy"]).fails(1);
    let told: Value = serde_json::from_str(&ended.stderr).unwrap();
    assert_eq!((ended.stdout.as_str(), ended.stderr.lines().count()), ("", 1), "{ended}");
    assert_eq!(told["error"]["message"], "openai: slow down (HTTP 429, rate_limit_exceeded)");
    assert_eq!(told["error"]["hint"], "the provider asks to wait 20 s");
}

#[test]
fn what_came_of_a_stream_that_breaks_off_stays_on_the_screen() {
    let home = Home::new();
    let served = Served::start(&home);
    openai(&home, &served.url);
    let ended = with_key(&home, &["provider", "ask", "bot.yml", "cut"]).fails(1);
    assert_eq!(ended.stdout, "Half an answer\n");
    assert!(ended.error().contains("broke off") && ended.error().contains("14 characters"), "{ended}");
    let ended = with_key(&home, &["--json", "provider", "ask", "bot.yml", "cut"]).fails(1);
    let told: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!((&told["text"], &told["whole"]), (&json!("Half an answer"), &json!(false)));
    assert!(ended.stderr.contains("broke off"), "{ended}");
}

/// Servers repeat what they are sent, in answers and in errors.
#[test]
fn a_key_is_never_shown() {
    let home = Home::new();
    let echo = |request: &str| {
        let key =
            request.lines().find_map(|line| line.strip_prefix("authorization: Bearer ")).unwrap().to_owned();
        assert_eq!(key, KEY);
        if request.contains("answer") {
            json!({"choices": [{"finish_reason": "stop", "message": {"content": format!("Your key is {key}.")}}]})
                .to_string()
        } else {
            format!("<html>{key} is not welcome")
        }
    };
    let server = Server::new(echo);
    openai(&home, &format!("http://{}", server.address()));
    for json in [&[][..], &["--json"]] {
        let ask = |said: &str| {
            with_key(&home, &[json, &["provider", "ask", "--no-stream", "bot.yml", said]].concat())
        };
        ask("answer").success().stdout_contains("Your key is ***");
        ask("error").fails(1).stderr_contains("is not welcome");
    }
    assert_eq!(server.asked().len(), 4);
}
