//! Anthropic.

use nb_provider::{Chat, ErrorKind, Stop, Turn, Usage};
use serde_json::{Value, json};

use crate::support::*;

const STREAM: &str = r#"event: message_start
data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","content":[],"model":"claude-3-5-sonnet-20240620","stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":10,"cache_creation_input_tokens":3,"cache_read_input_tokens":7,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}

event: ping
data: {"type":"ping"}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Dice."}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"c2ln"}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"I "}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"roll. 🎲"}}

event: content_block_stop
data: {"type":"content_block_stop","index":1}

event: content_block_start
data: {"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"toolu_1","name":"random-number","input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"from\": 1,"}}

event: content_block_delta
data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":" \"to\": 6}"}}

event: content_block_stop
data: {"type":"content_block_stop","index":2}

event: content_block_start
data: {"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"toolu_2","name":"what_time","input":{}}}

event: content_block_stop
data: {"type":"content_block_stop","index":3}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":42}}

event: message_stop
data: {"type":"message_stop"}

"#;

const SETTINGS: &str = "{model: claude-3-5-sonnet-20240620, stream: true, max_tokens: 4096, temperature: 1.0, top_k: null, \
    top_p: null, tool_choice: {type: auto, name: null}, metadata: {user_id: someone}, stop_sequences: [.]}";

fn section(address: &str, settings: &str) -> String {
    format!(
        "id: anthropic\ncredentials: {{address: '{address}', api-key: {SECRET}, anthropic-version: '2023-06-01'}}\nsettings: {settings}\noptions: {{retries: 0}}"
    )
}

#[tokio::test]
async fn a_conversation_with_tools_is_sent_in_their_shape() {
    let server = Server::new([Reply::events(STREAM)]).await;
    ask(&provider(&section(&server.address, SETTINGS)).unwrap(), &long_chat(), true).await.0.unwrap();
    let sent = server.only();
    assert_eq!((sent.method.as_str(), sent.path.as_str()), ("POST", "/v1/messages"));
    assert_eq!(
        (sent.headers["x-api-key"].as_str(), sent.headers["anthropic-version"].as_str()),
        (SECRET, "2023-06-01")
    );
    assert!(!sent.headers.contains_key("authorization"));
    assert_eq!(
        sent.body,
        json!({
            "model": "claude-3-5-sonnet-20240620", "max_tokens": 4096, "temperature": 1.0,
            "tool_choice": {"type": "auto"}, "metadata": {"user_id": "someone"}, "stop_sequences": ["."],
            "tools": [
                {"name": "random-number", "description": "Does random-number.", "input_schema": {
                    "type": "object",
                    "properties": {"from": {"type": "integer"}, "to": {"type": "integer", "description": "up to"}},
                    "required": ["from", "to"]}},
                {"name": "what_time", "description": "Does what time.", "input_schema": {"type": "object", "properties": {}}}],
            "system": "You are a cheerful bot.", "stream": true,
            "messages": [
                {"role": "user", "content": "It is Monday."}, {"role": "assistant", "content": "Ok."},
                {"role": "user", "content": "Hi."}, {"role": "assistant", "content": "Hello!"},
                {"role": "user", "content": "A number, and the time."},
                {"role": "assistant", "content": [
                    {"type": "text", "text": "I look."},
                    {"type": "tool_use", "id": "call_a", "name": "random-number", "input": {"from": 1, "to": 6}},
                    {"type": "tool_use", "id": "call_b", "name": "what_time", "input": {}}]},
                {"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": "call_a", "content": "4"},
                    {"type": "tool_result", "tool_use_id": "call_b", "content": "no clock", "is_error": true}]},
            ],
        })
    );
}

#[tokio::test]
async fn a_stream_gives_text_thoughts_calls_and_tokens() {
    let server = Server::new([Reply::events(STREAM).in_pieces(11).header("request-id", "req_1")]).await;
    let (answer, parts) =
        ask(&provider(&section(&server.address, SETTINGS)).unwrap(), &long_chat(), true).await;
    let answer = answer.unwrap();
    assert_eq!(parts, ["I ", "roll. 🎲"]);
    assert_eq!(answer.thinking, "Dice.");
    assert_eq!(
        answer.calls,
        [
            call("toolu_1", "random-number", json!({"from": 1, "to": 6})),
            call("toolu_2", "what time", json!({}))
        ]
    );
    assert_eq!(answer.stop, Some(Stop::Calls));
    assert_eq!(answer.usage, Some(Usage { input: 20, output: 42, cached: 7 }));
    assert_eq!(answer.request_id.as_deref(), Some("req_1"));
}

#[tokio::test]
async fn thoughts_go_back_with_their_signature() {
    let server = Server::new([Reply::events(STREAM)]).await;
    let bot = provider(&section(&server.address, SETTINGS)).unwrap();
    let answer = ask(&bot, &long_chat(), true).await.0.unwrap();
    let mut chat: Chat = user("Roll.");
    chat.turns.push(Turn::Model(answer.message()));
    ask(&bot, &chat, true).await.0.unwrap();
    let sent = server.received()[1].body["messages"][1].clone();
    assert_eq!(
        sent["content"],
        json!([
            {"type": "thinking", "thinking": "Dice.", "signature": "c2ln"},
            {"type": "text", "text": "I roll. 🎲"},
            {"type": "tool_use", "id": "toolu_1", "name": "random-number", "input": {"from": 1, "to": 6}},
            {"type": "tool_use", "id": "toolu_2", "name": "what_time", "input": {}},
        ])
    );
}

#[tokio::test]
async fn without_a_stream_the_answer_comes_in_one_piece() {
    let reply = json!({"id": "msg", "type": "message", "role": "assistant", "model": "m", "content": [
        {"type": "text", "text": "A "}, {"type": "text", "text": "number."},
        {"type": "tool_use", "id": "t", "name": "random-number", "input": {"from": 2}}],
        "stop_reason": "max_tokens", "usage": {"input_tokens": 4, "output_tokens": 6}});
    let server = Server::new([Reply::json(200, &reply)]).await;
    let answer = ask(&provider(&section(&server.address, "{model: m}")).unwrap(), &long_chat(), false)
        .await
        .0
        .unwrap();
    assert_eq!(answer.text, "A number.");
    assert_eq!(answer.calls, [call("t", "random-number", json!({"from": 2}))]);
    assert_eq!((answer.stop, answer.usage.unwrap().total()), (Some(Stop::Length), 10));
    let sent = server.only().body;
    assert_eq!((&sent["max_tokens"], &sent["stream"]), (&json!(4096), &json!(false)));
}

#[tokio::test]
async fn a_choice_of_tools_does_not_go_without_tools() {
    let server = Server::new([Reply::events(STREAM)]).await;
    ask(&provider(&section(&server.address, SETTINGS)).unwrap(), &user("Hi"), true).await.0.unwrap();
    assert_eq!(server.only().body.get("tool_choice"), None::<&Value>);
}

#[tokio::test]
async fn an_overload_in_the_middle_keeps_what_came() {
    let begun: String = STREAM.split_inclusive("\n\n").take(9).collect();
    let stream = format!(
        "{begun}event: error\ndata: {{\"type\":\"error\",\"error\":{{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}},\"request_id\":\"req_5\"}}\n\n"
    );
    let server = Server::new([Reply::events(&stream)]).await;
    let error =
        ask(&provider(&section(&server.address, SETTINGS)).unwrap(), &user("Hi"), true).await.0.unwrap_err();
    assert_eq!((error.kind, error.message.as_str()), (ErrorKind::Refused, "Overloaded"));
    assert_eq!(
        (error.code.as_deref(), error.request_id.as_deref()),
        (Some("overloaded_error"), Some("req_5"))
    );
    assert_eq!(error.received.unwrap().text, "I roll. 🎲");
}

#[tokio::test]
async fn a_stream_that_stops_before_message_stop_broke_off() {
    let cut = STREAM.replace("event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n", "");
    let server = Server::new([Reply::events(&cut)]).await;
    let error =
        ask(&provider(&section(&server.address, SETTINGS)).unwrap(), &user("Hi"), true).await.0.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Ended);
    assert_eq!(error.received.unwrap().calls.len(), 2);
}

#[tokio::test]
async fn a_turn_in_which_the_model_said_nothing_does_not_go_back() {
    let server = Server::new([Reply::events(STREAM)]).await;
    let mut chat: Chat = user("Hi.");
    chat.turns.push(Turn::Model(nb_provider::Message::default()));
    chat.turns.push(Turn::User("Well?".to_owned()));
    ask(&provider(&section(&server.address, SETTINGS)).unwrap(), &chat, true).await.0.unwrap();
    assert_eq!(
        server.only().body["messages"],
        json!([{"role": "user", "content": "Hi."}, {"role": "user", "content": "Well?"}])
    );
}

#[tokio::test]
async fn a_choice_at_the_top_of_a_schema_is_put_together() {
    let sent = sent_with(
        &section("ADDRESS", "{model: m}"),
        json!({
            "anyOf": [{"$ref": "#/$defs/Base"}, {"properties": {"next": {"$ref": "#/$defs/Base"}}}],
            "$defs": {"Base": {"allOf": [{"properties": {"id": {"type": "string"}}}], "required": ["id"]}},
        }),
    )
    .await
    .unwrap();
    assert_eq!(
        sent["input_schema"],
        json!({
            "type": "object", "properties": {"id": {"type": "string"}, "next": {"$ref": "#/$defs/Base"}},
            "$defs": {"Base": {"allOf": [{"properties": {"id": {"type": "string"}}}], "required": ["id"]}},
        })
    );
}
