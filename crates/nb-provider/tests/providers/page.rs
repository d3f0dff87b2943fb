//! The examples of docs/providers.md.

use std::fs;
use std::path::Path;

use nb_egress::Request;
use nb_provider::{Chat, ErrorKind, Provider, ProviderId, Script, Stop, ToolResult, Turn, Usage, serve};
use nb_spec::cartridge::{OPTIONS, credentials_of, own_options_of};
use serde_json::{Value, json};

use crate::support::*;

fn page() -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/providers.md")).unwrap()
}

/// The block of the page that begins with this.
fn block(begins: &str) -> String {
    let page = page();
    let blocks = page.split("```").skip(1).step_by(2).filter_map(|block| block.split_once('\n'));
    let mut found = blocks.map(|(_, text)| text.to_owned()).filter(|text| text.starts_with(begins));
    let only = found.next().unwrap_or_else(|| panic!("no example begins with {begins:?}"));
    assert_eq!(found.next(), None, "more than one example begins with {begins:?}");
    only
}

/// The `provider:` section of an example.
fn section(example: &str) -> String {
    let cartridge: Value = serde_yaml::from_str(example).unwrap();
    cartridge["provider"].to_string()
}

fn scripted() -> Provider {
    let files = [("talk.yaml".to_owned(), block("# talk.yaml"))].into();
    provider_in(&section(&block("# bot.yml")), Surroundings { files, ..Surroundings::default() }).unwrap()
}

#[tokio::test]
async fn the_transcript_of_the_page_answers_as_its_comments_say() {
    let bot = scripted();
    let said = async |text: &str| ask(&bot, &user(text), true).await.0.map(|answer| answer.text);
    assert_eq!(said("Why, HELLO there").await.unwrap(), "Hello to you!");
    assert_eq!(said("again").await.unwrap(), "Only once.");
    assert_eq!(said("again").await.unwrap(), "I do not know.");

    let error = said("busy?").await.unwrap_err();
    assert_eq!((error.message.as_str(), error.status), ("slow down", Some(429)));
    assert_eq!(error.retry_after.unwrap().as_secs(), 2);
    assert_eq!(error.hint.as_deref(), Some("the provider asks to wait 2 s"));
    let error = said("cut it").await.unwrap_err();
    assert_eq!((error.kind, error.received.unwrap().text.as_str()), (ErrorKind::Ended, "Half an"));

    let (answer, pieces) = ask(&bot, &user("slow"), true).await;
    assert_eq!(answer.unwrap().text, "One word at a time.");
    assert_eq!(pieces.len(), 5, "{pieces:?}");
    let answer = ask(&bot, &user("what?"), true).await.0.unwrap();
    assert_eq!((answer.text.as_str(), answer.stop), ("I do not know.", Some(Stop::Length)));
    assert_eq!(answer.usage, Some(Usage { input: 12, output: 4, cached: 0 }));
}

#[tokio::test]
async fn the_transcript_of_the_page_calls_a_tool_and_answers_its_result() {
    let bot = scripted();
    let mut chat = Chat { tools: vec![tool("random-number", None)], ..user("roll it") };
    let asked = ask(&bot, &chat, true).await.0.unwrap();
    let call = asked.calls.first().unwrap();
    assert_eq!((call.name.as_str(), call.arguments.to_value()), ("random-number", json!({"to": 6})));
    chat.turns.push(Turn::Model(asked.message()));
    for (is_error, text, pieces) in [(true, "There are no dice.", 4), (false, "It is a four.", 2)] {
        let mut chat = chat.clone();
        let (id, name) = (call.id.clone(), call.name.clone());
        chat.turns.push(Turn::Results(vec![ToolResult { id, name, content: "4".to_owned(), is_error }]));
        let (answer, came) = ask(&bot, &chat, true).await;
        assert_eq!((answer.unwrap().text.as_str(), came.len()), (text, pieces), "{came:?}");
    }
}

#[tokio::test]
async fn the_page_s_request_to_the_server_of_the_transcript_is_answered() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let script = Script::parse(&block("# talk.yaml")).unwrap();
    tokio::spawn(serve(script, listener, |_| {}));
    let example = block("nbctl provider serve-script");
    let (_, curl) = example.split_once("curl -s ").unwrap();
    let (url, data) = curl.trim().split_once(" -d ").unwrap();
    let mut request = Request::get(url.replace("127.0.0.1:8080", &address.to_string()));
    request.method = "POST".to_owned();
    request.body = data.trim_matches('\'').as_bytes().to_vec();
    let response = egress().fetch(request).await.unwrap();
    let body: Value = serde_json::from_slice(&response.body).unwrap();
    assert_eq!(body["choices"][0]["message"]["content"], "Hello to you!", "{body}");
}

#[test]
fn the_section_of_the_page_is_one() {
    let variables = [("OPENAI_API_KEY".to_owned(), SECRET.to_owned())].into();
    let surroundings = Surroundings { variables, ..Surroundings::default() };
    let bot = provider_in(&section(&block("provider:\n  id: openai")), surroundings).unwrap();
    assert_eq!(bot.model(), "gpt-4o");
    let prices = bot.prices().unwrap();
    assert_eq!((prices.input, prices.output, prices.cached), (2.5, 10.0, Some(1.25)));
}

#[tokio::test]
async fn an_error_is_told_as_on_the_page() {
    let error = json!({"error": {"message": "Rate limit reached for gpt-4o", "type": "requests", "code": "rate_limit_exceeded"}});
    let reply = Reply::json(429, &error).header("retry-after", "20").header("x-request-id", "req_7");
    let server = Server::new([reply]).await;
    let bot = format!(
        "id: openai\ncredentials: {{address: '{}', access-token: {SECRET}}}\nsettings: {{model: gpt-4o}}\noptions: {{retries: 0}}",
        server.address
    );
    let error = ask(&provider(&bot).unwrap(), &user("Hi"), true).await.0.unwrap_err();
    assert_eq!(format!("{error}\nhint: {}\n", error.hint.clone().unwrap()), block("openai: Rate limit"));
}

/// The cells of the row that begins with this word.
fn row<'p>(page: &'p str, word: &str) -> Vec<&'p str> {
    let line = page.lines().find(|line| line.starts_with(&format!("| `{word}` |")));
    line.unwrap_or_else(|| panic!("no row has {word}")).split('|').map(str::trim).collect()
}

/// The words in backticks that could be names of credentials.
fn names(text: &str) -> Vec<&str> {
    let is_name = |word: &&str| word.chars().all(|c| c.is_ascii_lowercase() || c == '-');
    let mut names: Vec<&str> = text.split('`').skip(1).step_by(2).filter(is_name).collect();
    names.sort_unstable();
    names
}

#[test]
fn the_credentials_and_options_that_are_known_stand_on_the_page() {
    let page = page();
    let (_, google) = page.split_once("### Google").unwrap();
    for id in ProviderId::ALL.map(ProviderId::name) {
        let known = credentials_of(id).unwrap();
        if id == "google" {
            for name in known {
                let told = [format!("`{name}`"), format!("`credentials.{name}`")];
                assert!(told.iter().any(|told| google.contains(told)), "{name}");
            }
        } else {
            assert_eq!(names(row(&page, id)[3]), known, "{id}");
        }
        for name in own_options_of(id) {
            assert!(
                page.contains(&format!("`options.{name}`")) || block("# bot.yml").contains(name),
                "{name}"
            );
        }
    }
    let (_, table) = page.split_once("| option |").unwrap();
    let (table, _) = table.split_once("\n\n").unwrap();
    let mut told: Vec<&str> = table.lines().skip(2).map(|line| line.split('`').nth(1).unwrap()).collect();
    told.sort_unstable();
    assert_eq!(told, OPTIONS);
}
