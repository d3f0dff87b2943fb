//! OpenAI.

use nb_provider::{Arguments, Chat, ErrorKind, ProviderId, Stop, Usage};
use serde_json::{Value, json};

use crate::support::*;

const STREAM: &str = r#"data: {"id":"chatcmpl-1","object":"chat.completion.chunk","model":"gpt-4o-2024","choices":[{"index":0,"delta":{"role":"assistant","content":"","refusal":null},"finish_reason":null}],"usage":null}

: keep-alive

data: {"id":"chatcmpl-1","model":"gpt-4o-2024","choices":[{"index":0,"delta":{"content":"Hé"},"finish_reason":null}]}

data: {"id":"chatcmpl-1","choices":[{"index":1,"delta":{"content":"another choice"},"finish_reason":null}]}

data: {"id":"chatcmpl-1","choices":[{"index":0,"delta":{"content":"llo 🤖"},"finish_reason":null}]}

data: {"id":"chatcmpl-1","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}

data: {"id":"chatcmpl-1","choices":[],"usage":{"prompt_tokens":20,"completion_tokens":3,"total_tokens":23,"prompt_tokens_details":{"cached_tokens":8}}}

data: [DONE]

"#;

const CALLS: &str = r#"data: {"id":"c","choices":[{"index":0,"delta":{"role":"assistant","content":null,"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"random-number","arguments":""}}]},"finish_reason":null}]}

data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"from\":1"}}]}}]}

data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"id":"call_2","type":"function","function":{"name":"what_time","arguments":"{}"}}]}}]}

data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":",\"to\":6}"}}]}}]}

data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}

data: [DONE]

"#;

fn section(address: &str, settings: &str) -> String {
    format!(
        "id: openai\ncredentials: {{address: '{address}', access-token: {SECRET}}}\nsettings: {{model: gpt-4o{settings}}}\noptions: {{retries: 0}}"
    )
}

#[tokio::test]
async fn a_conversation_with_tools_is_sent_in_their_shape() {
    let server = Server::new([Reply::events(STREAM)]).await;
    let bot = provider(&section(
        &server.address,
        ", temperature: 0.5, seed: null, tool_choice: auto, new_one: [1]",
    ))
    .unwrap();
    let (answer, _) = ask(&bot, &long_chat(), true).await;
    answer.unwrap();
    let sent = server.only();
    assert_eq!((sent.method.as_str(), sent.path.as_str()), ("POST", "/v1/chat/completions"));
    assert_eq!(sent.headers["authorization"], format!("Bearer {SECRET}"));
    assert_eq!(
        sent.body,
        json!({
            "model": "gpt-4o", "temperature": 0.5, "tool_choice": "auto", "new_one": [1],
            "tools": [
                {"type": "function", "function": {"name": "random-number", "description": "Does random-number.", "parameters": {
                    "type": "object",
                    "properties": {"from": {"type": "integer"}, "to": {"type": "integer", "description": "up to"}},
                    "required": ["from", "to"]}}},
                {"type": "function", "function": {"name": "what_time", "description": "Does what time.", "parameters": {
                    "type": "object", "properties": {}}}}],
            "stream": true, "stream_options": {"include_usage": true},
            "messages": [
                {"role": "system", "content": "You are a cheerful bot."},
                {"role": "user", "content": "It is Monday."},
                {"role": "user", "content": "Hi."},
                {"role": "assistant", "content": "Hello!"},
                {"role": "user", "content": "A number, and the time."},
                {"role": "assistant", "content": "I look.", "tool_calls": [
                    {"id": "call_a", "type": "function", "function": {"name": "random-number", "arguments": "{\"from\":1,\"to\":6}"}},
                    {"id": "call_b", "type": "function", "function": {"name": "what_time", "arguments": "{}"}}]},
                {"role": "tool", "tool_call_id": "call_a", "content": "4"},
                {"role": "tool", "tool_call_id": "call_b", "content": "Error: no clock"},
            ],
        })
    );
}

#[tokio::test]
async fn a_stream_gives_text_usage_and_the_end() {
    let server = Server::new([Reply::events(STREAM).header("x-request-id", "req_7")]).await;
    let (answer, parts) = ask(&provider(&section(&server.address, "")).unwrap(), &user("Hi"), true).await;
    let answer = answer.unwrap();
    assert_eq!(parts, ["Hé", "llo 🤖"]);
    assert_eq!(answer.text, "Héllo 🤖");
    assert_eq!(answer.stop, Some(Stop::Done));
    assert_eq!(answer.usage, Some(Usage { input: 20, output: 3, cached: 8 }));
    assert_eq!(answer.model.as_deref(), Some("gpt-4o-2024"));
    assert_eq!(answer.request_id.as_deref(), Some("req_7"));
}

#[tokio::test]
async fn calls_in_pieces_are_put_together() {
    let server = Server::new([Reply::events(CALLS).in_pieces(7)]).await;
    let (answer, _) = ask(&provider(&section(&server.address, "")).unwrap(), &long_chat(), true).await;
    let answer = answer.unwrap();
    assert_eq!(answer.stop, Some(Stop::Calls));
    assert_eq!(
        answer.calls,
        [
            call("call_1", "random-number", json!({"from": 1, "to": 6})),
            call("call_2", "what time", json!({}))
        ]
    );
}

#[tokio::test]
async fn without_a_stream_the_answer_comes_in_one_piece() {
    let reply = json!({"id": "c", "model": "gpt-4o", "choices": [{"index": 0, "finish_reason": "tool_calls", "message": {
        "role": "assistant", "content": null,
        "tool_calls": [{"id": "x", "type": "function", "function": {"name": "random-number", "arguments": "{broken"}}]}}],
        "usage": {"prompt_tokens": 5, "completion_tokens": 2}});
    let server = Server::new([Reply::json(200, &reply)]).await;
    let settings = ", stream_options: {include_usage: false}";
    let (answer, _) = ask(&provider(&section(&server.address, settings)).unwrap(), &long_chat(), false).await;
    let answer = answer.unwrap();
    assert_eq!(answer.calls[0].arguments, Arguments::Unreadable("{broken".to_owned()));
    assert_eq!(answer.usage.unwrap().total(), 7);
    let sent = server.only().body;
    assert_eq!(sent["stream"], json!(false));
    assert_eq!(sent.get("stream_options"), None);
}

#[tokio::test]
async fn settings_that_need_tools_do_not_go_without_them() {
    let server = Server::new([Reply::events(STREAM)]).await;
    let settings = ", tool_choice: auto, parallel_tool_calls: true, stream_options: {include_usage: false}";
    ask(&provider(&section(&server.address, settings)).unwrap(), &user("Hi"), true).await.0.unwrap();
    let sent = server.only().body;
    let keys: Vec<&str> = sent.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(keys, ["model", "stream_options", "stream", "messages"]);
    assert_eq!(sent["stream_options"], json!({"include_usage": false}));
}

#[tokio::test]
async fn every_setting_of_the_specification_is_sent_under_its_name() {
    let yaml = "{user: someone, model: gpt-4o, stream: true, stream_options: {include_usage: false}, frequency_penalty: 0, \
        logit_bias: {'50256': -100}, logprobs: true, top_logprobs: 2, max_tokens: 100, n: 1, presence_penalty: 0, \
        response_format: {type: json_object}, seed: 7, service_tier: auto, stop: [.], temperature: 1, top_p: 1, \
        tool_choice: auto, parallel_tool_calls: true}";
    let server = Server::new([Reply::events(STREAM)]).await;
    let section = format!(
        "id: openai\ncredentials: {{address: '{}', access-token: {SECRET}}}\nsettings: {yaml}",
        server.address
    );
    ask(&provider(&section).unwrap(), &long_chat(), true).await.0.unwrap();
    let sent = server.only().body;
    let expected: Value = serde_yaml::from_str(yaml).unwrap();
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(sent.get(name), Some(value), "{name}");
    }
}

#[tokio::test]
async fn a_base_address_with_a_version_gets_no_other() {
    let server = Server::new([Reply::events(STREAM)]).await;
    let bot = provider(&section(&format!("{}/proxy/v3/", server.address), "")).unwrap();
    ask(&bot, &user("Hi"), true).await.0.unwrap();
    assert_eq!(server.only().path, "/proxy/v3/chat/completions");
}

#[tokio::test]
async fn an_error_has_their_words_and_a_hint_and_never_the_key() {
    let body = json!({"error": {"message": format!("Incorrect API key provided: {SECRET}."), "type": "invalid_request_error", "param": null, "code": "invalid_api_key"}});
    let server = Server::new([Reply::json(401, &body).header("x-request-id", "req_9")]).await;
    let error =
        ask(&provider(&section(&server.address, "")).unwrap(), &user("Hi"), true).await.0.unwrap_err();
    assert_eq!(error.provider, Some(ProviderId::Openai));
    assert_eq!((error.kind, error.status), (ErrorKind::Refused, Some(401)));
    assert_eq!(
        error.to_string(),
        "openai: Incorrect API key provided: ***. (HTTP 401, invalid_api_key, request req_9)"
    );
    assert!(error.hint.unwrap().contains("access-token"));
}

#[test]
fn a_missing_key_names_the_variable() {
    let error = provider("id: openai\ncredentials: {access-token: ENV/OPENAI_API_KEY}\nsettings: {model: m}")
        .err()
        .unwrap();
    assert!(error.to_string().contains("OPENAI_API_KEY is not set"), "{error}");
    let error = provider("id: openai\nsettings: {model: m}").err().unwrap();
    assert!(error.hint.unwrap().contains("ENV/OPENAI_API_KEY"));
    assert!(provider("id: opnai").err().unwrap().hint.unwrap().contains("openai"));
}

#[tokio::test]
async fn an_error_in_the_middle_of_a_stream_keeps_what_came() {
    let stream = format!(
        "{}data: {{\"error\":{{\"message\":\"The server had an error\",\"type\":\"server_error\",\"code\":null}}}}\n\n",
        STREAM.split_inclusive("\n\n").take(3).collect::<String>()
    );
    let server = Server::new([Reply::events(&stream)]).await;
    let error =
        ask(&provider(&section(&server.address, "")).unwrap(), &user("Hi"), true).await.0.unwrap_err();
    assert_eq!(error.message, "The server had an error");
    assert_eq!(error.received.unwrap().text, "Hé");
}

#[tokio::test]
async fn a_stream_without_its_end_is_an_error_that_keeps_what_came() {
    let chat: Chat = user("Hi");
    let cut: String = STREAM.split_inclusive("\n\n").take(4).collect();
    for ends in [Ends::Well, Ends::Broken] {
        let server = Server::new([Reply::events(&cut).ending(ends)]).await;
        let error = ask(&provider(&section(&server.address, "")).unwrap(), &chat, true).await.0.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Ended, "{error}");
        assert_eq!(error.received.unwrap().text, "Hé");
    }
}

/// The parameters of a tool as they are sent by a provider of this shape.
async fn parameters(id: &str, parameters: Value) -> Result<Value, nb_provider::ProviderError> {
    let key = if id == "openai" { "access-token" } else { "api-key" };
    let section = format!(
        "id: {id}\ncredentials: {{address: ADDRESS, {key}: k}}\nsettings: {{model: m}}\noptions: {{retries: 0}}"
    );
    Ok(sent_with(&section, parameters).await?["function"]["parameters"].clone())
}

#[tokio::test]
async fn a_schema_is_a_plain_object_at_its_top() {
    let written = json!({
        "$ref": "#/$defs/Base",
        "oneOf": [
            {"properties": {"kind": {"const": "a"}, "from": {"type": "string"}}, "required": ["kind", "from"]},
            {"properties": {"kind": {"const": "b"}, "next": {"$ref": "#/$defs/Base"}}, "required": ["kind"]},
        ],
        "$defs": {"Base": {"allOf": [{"properties": {"id": {"anyOf": [{"type": "string"}, {"type": "null"}]}}, "required": ["id"]}]}},
    });
    let sent = parameters("openai", written.clone()).await.unwrap();
    assert_eq!(
        sent,
        json!({
            "type": "object",
            "properties": {
                "id": {"anyOf": [{"type": "string"}, {"type": "null"}]},
                "kind": {"anyOf": [{"const": "a"}, {"const": "b"}]},
                "from": {"type": "string"}, "next": {"$ref": "#/$defs/Base"},
            },
            "required": ["id", "kind"],
            "$defs": written["$defs"],
        })
    );
    let empty = json!({"type": "object", "properties": {}});
    assert_eq!(parameters("openai", json!({"type": "object"})).await.unwrap(), empty);
    for (word, value) in [("not", json!({"required": ["a"]})), ("enum", json!([{}])), ("const", json!({}))] {
        let error = parameters("openai", json!({word: value})).await.unwrap_err();
        let told = format!(
            "openai: tool `search`: its parameters have `{word}` at their top, which the provider does not take"
        );
        assert_eq!((error.kind, error.to_string()), (ErrorKind::Request, told));
    }
    let error = parameters("openai", json!({"$ref": "#"})).await.unwrap_err();
    assert!(error.message.contains("refer to themselves"), "{error}");
    // Nothing in the documentation of the others forbids it.
    for id in ["mistral", "maritaca", "ollama"] {
        let mut expected = json!({"type": "object"});
        expected.as_object_mut().unwrap().extend(written.as_object().unwrap().clone());
        assert_eq!(parameters(id, written.clone()).await.unwrap(), expected, "{id}");
    }
}

#[test]
fn tools_of_ones_own_are_a_list() {
    let key = "api-key: k, access-token: k, service: generative-language-api";
    for id in ["openai", "anthropic", "cohere", "google", "maritaca", "mistral", "ollama"] {
        let section = format!(
            "id: {id}\ncredentials: {{{key}}}\noptions: {{model: m}}\nsettings: {{model: m, tools: {{name: search}}}}"
        );
        let error = provider(&section).err().unwrap();
        let told = format!("{id}: provider.settings.tools must be a list");
        assert_eq!((error.kind, error.to_string()), (ErrorKind::Setup, told));
    }
}
