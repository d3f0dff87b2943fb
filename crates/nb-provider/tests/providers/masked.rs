//! What a provider repeats of the key, or of another value that nothing may show, in whichever pieces.

use nb_provider::Answer;
use serde_json::{Value, json};

use crate::support::*;

const HIDDEN: &str = "tenant-Top7Secret";

/// Each character of a text as a part of a stream.
fn letter_by_letter(text: &str, part: impl Fn(&str) -> Value) -> String {
    text.chars().map(|letter| format!("data: {}\n\n", part(&letter.to_string()))).collect()
}

async fn asked(yaml: &str, reply: Reply) -> (Answer, String) {
    let server = Server::new([reply]).await;
    let surroundings = Surroundings { hidden: vec![HIDDEN.to_owned()], ..Surroundings::default() };
    let provider = provider_in(&yaml.replace("ADDRESS", &server.address), surroundings).unwrap();
    let chat = nb_provider::Chat { tools: vec![tool("t", None)], ..user("Hi") };
    let (answer, parts) = ask(&provider, &chat, true).await;
    (answer.unwrap(), parts.concat())
}

fn openai() -> String {
    format!("id: openai\ncredentials: {{address: ADDRESS, access-token: {SECRET}}}\nsettings: {{model: m}}")
}

#[tokio::test]
async fn a_key_that_comes_back_letter_by_letter_is_masked() {
    let part = |letter: &str| json!({"choices": [{"index": 0, "delta": {"content": letter}}]});
    let events = letter_by_letter(&format!("key {SECRET}, tenant {HIDDEN}, sk-t"), part)
        + "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    let (answer, told) = asked(&openai(), Reply::events(&events)).await;
    assert_eq!(
        (answer.text.as_str(), told.as_str()),
        ("key ***, tenant ***, sk-t", "key ***, tenant ***, sk-t")
    );
}

#[tokio::test]
async fn a_key_in_the_arguments_of_a_call_reaches_no_tool() {
    let call = |arguments: &str| {
        json!({"choices": [{"index": 0, "delta": {"tool_calls": [
            {"index": 0, "id": "1", "type": "function", "function": {"name": "t", "arguments": arguments}},
        ]}}]})
    };
    let events = letter_by_letter(&json!({"zone": SECRET}).to_string(), call)
        + "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n";
    let (answer, _) = asked(&openai(), Reply::events(&events)).await;
    assert_eq!(answer.calls[0].arguments.to_value(), json!({"zone": "***"}));

    let anthropic = format!(
        "id: anthropic\ncredentials: {{address: ADDRESS, api-key: {SECRET}}}\nsettings: {{model: m}}"
    );
    let events = format!(
        "data: {}\n\ndata: {}\n\n{}data: {}\n\ndata: {}\n\n",
        json!({"type": "message_start", "message": {"id": "m", "usage": {"input_tokens": 1}}}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": "1", "name": "t", "input": {}}}),
        letter_by_letter(&json!({"zone": SECRET}).to_string(), |letter| {
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": letter}})
        }),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_stop"}),
    );
    let (answer, _) = asked(&anthropic, Reply::events(&events)).await;
    assert_eq!(answer.calls[0].arguments.to_value(), json!({"zone": "***"}));
}

#[tokio::test]
async fn what_came_before_a_break_is_masked_as_well() {
    let part = |letter: &str| json!({"choices": [{"index": 0, "delta": {"content": letter}}]});
    let events = letter_by_letter(&format!("key {SECRET}"), part);
    let server = Server::new([Reply::events(&events).ending(Ends::Broken)]).await;
    let provider = provider(&openai().replace("ADDRESS", &server.address)).unwrap();
    let (result, parts) = ask(&provider, &user("Hi"), true).await;
    let error = result.unwrap_err();
    assert_eq!((error.received.unwrap().text.as_str(), parts.concat().as_str()), ("key ***", "key ***"));
}

#[tokio::test]
async fn a_key_that_a_break_cuts_off_is_masked() {
    let part = |letter: &str| json!({"choices": [{"index": 0, "delta": {"content": letter}}]});
    let events = letter_by_letter(&format!("key {}", &SECRET[..SECRET.len() - 1]), part);
    let refused = Reply::Http {
        status: 401,
        headers: Vec::new(),
        pieces: vec![format!("bad {}", &SECRET[..SECRET.len() - 1]).into_bytes()],
        ends: Ends::Broken,
    };
    let server = Server::new([Reply::events(&events).ending(Ends::Broken), refused]).await;
    let provider = provider(&openai().replace("ADDRESS", &server.address)).unwrap();
    let (result, parts) = ask(&provider, &user("Hi"), true).await;
    let error = result.unwrap_err();
    assert_eq!((error.received.unwrap().text.as_str(), parts.concat().as_str()), ("key ***", "key ***"));
    assert_eq!(ask(&provider, &user("Hi"), true).await.0.unwrap_err().message, "bad ***");
}

#[tokio::test]
async fn a_key_as_the_name_of_an_argument_or_as_a_number_is_masked() {
    const DIGITS: &str = "73519264018273";
    for (key, arguments) in [
        (SECRET, json!({SECRET: 1, "deep": {SECRET: [SECRET]}})),
        (DIGITS, json!({"n": [73_519_264_018_273_u64]})),
    ] {
        let body = json!({"choices": [{"finish_reason": "tool_calls", "message": {"tool_calls": [
            {"id": "1", "type": "function", "function": {"name": "t", "arguments": arguments.to_string()}},
        ]}}]});
        let (answer, _) =
            asked(&openai().replace(SECRET, &format!("'{key}'")), Reply::json(200, &body)).await;
        let given = answer.calls[0].arguments.to_text();
        assert!(given.contains("***") && !given.contains(key), "{given}");
    }
}

#[tokio::test]
async fn an_error_that_repeats_a_hidden_value_is_masked() {
    let body = json!({"error": {"message": format!("no: {HIDDEN} {SECRET}"), "code": HIDDEN}});
    let server = Server::new([Reply::json(400, &body)]).await;
    let surroundings = Surroundings { hidden: vec![HIDDEN.to_owned()], ..Surroundings::default() };
    let provider = provider_in(&openai().replace("ADDRESS", &server.address), surroundings).unwrap();
    let error = ask(&provider, &user("Hi"), true).await.0.unwrap_err();
    assert_eq!((error.message.as_str(), error.code.as_deref()), ("no: *** ***", Some("***")));
}
