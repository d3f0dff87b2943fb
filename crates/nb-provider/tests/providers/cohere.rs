//! Cohere.

use nb_provider::{ErrorKind, Stop, Turn, Usage};
use serde_json::json;

use crate::support::*;

const STREAM: &str = r#"{"is_finished":false,"event_type":"stream-start","generation_id":"g-1"}
{"is_finished":false,"event_type":"text-generation","text":"Hé"}
{"is_finished":false,"event_type":"text-generation","text":"llo"}
{"is_finished":true,"event_type":"stream-end","finish_reason":"COMPLETE","response":{"response_id":"r-1","text":"Héllo","generation_id":"g-1","chat_history":[],"finish_reason":"COMPLETE","meta":{"api_version":{"version":"1"},"billed_units":{"input_tokens":5.0,"output_tokens":2.0},"tokens":{"input_tokens":71.0,"output_tokens":4.0}}}}
"#;

const CALLS: &str = r#"{"is_finished":false,"event_type":"stream-start","generation_id":"g"}
{"is_finished":false,"event_type":"tool-calls-chunk","text":"I will "}
{"is_finished":false,"event_type":"tool-calls-chunk","text":"roll."}
{"is_finished":false,"event_type":"tool-calls-chunk","tool_call_delta":{"name":"random_number","index":0}}
{"is_finished":false,"event_type":"tool-calls-generation","text":"I will roll.","tool_calls":[{"name":"random_number","parameters":{"from":1,"to":6}},{"name":"what_time","parameters":{}}]}
{"is_finished":true,"event_type":"stream-end","finish_reason":"COMPLETE","response":{"response_id":"r","text":"I will roll.","tool_calls":[{"name":"random_number","parameters":{"from":1,"to":6}},{"name":"what_time","parameters":{}}]}}
"#;

const SETTINGS: &str = "{model: command-r-plus, stream: true, prompt_truncation: 'OFF', connectors: [{id: web-search}], \
    search_queries_only: false, documents: [{title: Tall penguins, text: Emperor penguins are the tallest.}], \
    citation_quality: accurate, temperature: 0.3, max_tokens: null, max_input_tokens: null, k: 0, p: 0.75, seed: null, \
    stop_sequences: [.], frequency_penalty: 0.0, presence_penalty: 0.0, force_single_step: false}";

fn section(address: &str, settings: &str) -> String {
    format!(
        "id: cohere\ncredentials: {{address: '{address}', api-key: {SECRET}}}\nsettings: {settings}\noptions: {{retries: 0}}"
    )
}

#[tokio::test]
async fn results_of_tools_are_sent_beside_the_history() {
    let server = Server::new([Reply::stream("application/stream+json", STREAM)]).await;
    let answer =
        ask(&provider(&section(&server.address, SETTINGS)).unwrap(), &long_chat(), true).await.0.unwrap();
    assert_eq!((answer.text.as_str(), answer.stop), ("Héllo", Some(Stop::Done)));
    assert_eq!(answer.usage, Some(Usage { input: 71, output: 4, cached: 0 }));
    let sent = server.only();
    assert_eq!((sent.method.as_str(), sent.path.as_str()), ("POST", "/v1/chat"));
    assert_eq!(sent.headers["authorization"], format!("Bearer {SECRET}"));
    let calls = [
        json!({"name": "random_number", "parameters": {"from": 1, "to": 6}}),
        json!({"name": "what_time", "parameters": {}}),
    ];
    assert_eq!(
        sent.body,
        json!({
            "model": "command-r-plus", "prompt_truncation": "OFF", "connectors": [{"id": "web-search"}],
            "search_queries_only": false,
            "documents": [{"title": "Tall penguins", "text": "Emperor penguins are the tallest."}],
            "citation_quality": "accurate", "temperature": 0.3, "k": 0, "p": 0.75, "stop_sequences": ["."],
            "frequency_penalty": 0.0, "presence_penalty": 0.0, "force_single_step": false,
            "tools": [
                {"name": "random_number", "description": "Does random-number.", "parameter_definitions": {
                    "from": {"description": "", "type": "int", "required": true},
                    "to": {"description": "up to", "type": "int", "required": true}}},
                {"name": "what_time", "description": "Does what time.", "parameter_definitions": {}}],
            "preamble": "You are a cheerful bot.",
            "chat_history": [
                {"role": "USER", "message": "It is Monday."}, {"role": "USER", "message": "Hi."},
                {"role": "CHATBOT", "message": "Hello!"}, {"role": "USER", "message": "A number, and the time."},
                {"role": "CHATBOT", "message": "I look.", "tool_calls": calls}],
            "tool_results": [
                {"call": calls[0], "outputs": [{"result": "4"}]},
                {"call": calls[1], "outputs": [{"error": "no clock"}]}],
            "message": "", "stream": true,
        })
    );
}

#[tokio::test]
async fn the_last_words_are_the_message_and_earlier_results_are_history() {
    let server = Server::new([Reply::json(200, &json!({"text": "ok", "finish_reason": "COMPLETE"}))]).await;
    let mut chat = long_chat();
    chat.turns.push(Turn::Model(nb_provider::Message { text: "Four.".into(), ..Default::default() }));
    chat.turns.push(Turn::User("Thanks.".to_owned()));
    ask(&provider(&section(&server.address, "{model: m}")).unwrap(), &chat, false).await.0.unwrap();
    let sent = server.only().body;
    assert_eq!((&sent["message"], sent.get("tool_results")), (&json!("Thanks."), None));
    let history = sent["chat_history"].as_array().unwrap();
    assert_eq!(history[5]["role"], "TOOL");
    assert_eq!(history[5]["tool_results"][0]["call"]["name"], "random_number");
}

#[tokio::test]
async fn calls_come_back_with_their_real_names() {
    let server = Server::new([Reply::stream("application/stream+json", CALLS).in_pieces(13)]).await;
    let answer =
        ask(&provider(&section(&server.address, "{model: m}")).unwrap(), &long_chat(), true).await.0.unwrap();
    assert_eq!((answer.text.as_str(), answer.stop), ("I will roll.", Some(Stop::Calls)));
    assert_eq!(
        answer.calls,
        [
            call("call_0", "random-number", json!({"from": 1, "to": 6})),
            call("call_1", "what time", json!({}))
        ]
    );
}

#[tokio::test]
async fn a_schema_that_is_not_flat_is_told_in_words() {
    let server = Server::new([Reply::json(200, &json!({"text": "ok"}))]).await;
    let mut chat = user("Hi");
    chat.tools = vec![tool(
        "search",
        Some(json!({
            "type": "object", "required": ["q"],
            "properties": {
                "q": {"type": "string", "description": "What for.", "enum": ["a", "b"]},
                "tags": {"type": "array", "items": {"type": "string"}},
                "where": {"$ref": "#/$defs/place"},
                "limit": {"type": ["integer", "null"]},
            },
            "$defs": {"place": {"type": "object", "properties": {"city": {"type": "string"}}}},
        })),
    )];
    ask(&provider(&section(&server.address, "{model: m}")).unwrap(), &chat, false).await.0.unwrap();
    assert_eq!(
        server.only().body["tools"][0]["parameter_definitions"],
        json!({
            "q": {"description": "What for. JSON Schema: {\"type\":\"string\",\"enum\":[\"a\",\"b\"]}", "type": "str", "required": true},
            "tags": {"description": "", "type": "list[str]", "required": false},
            "where": {"description": "JSON Schema: {\"type\":\"object\",\"properties\":{\"city\":{\"type\":\"string\"}}}", "type": "dict", "required": false},
            "limit": {"description": "", "type": "int", "required": false},
        })
    );
    chat.tools[0].parameters = Some(json!({"type": "object", "properties": {"x": {"$ref": "#"}}}));
    let error =
        ask(&provider(&section(&server.address, "{model: m}")).unwrap(), &chat, false).await.0.unwrap_err();
    assert!(error.to_string().contains("tool `search`: its parameters refer to themselves"), "{error}");
}

#[tokio::test]
async fn an_error_and_an_early_end_keep_what_came() {
    let begun: String = STREAM.split_inclusive('\n').take(2).collect();
    let failed = format!(
        "{begun}{}\n",
        json!({"is_finished": true, "event_type": "stream-end", "finish_reason": "ERROR", "error": "it broke"})
    );
    for (stream, kind, words) in
        [(failed, ErrorKind::Refused, "it broke"), (begun, ErrorKind::Ended, "broke off")]
    {
        let server = Server::new([Reply::stream("application/stream+json", &stream)]).await;
        let error = ask(&provider(&section(&server.address, "{model: m}")).unwrap(), &user("Hi"), true)
            .await
            .0
            .unwrap_err();
        assert_eq!(error.kind, kind);
        assert!(error.to_string().contains(words), "{error}");
        assert_eq!(error.received.unwrap().text, "Hé");
    }
    let server =
        Server::new([Reply::json(401, &json!({"message": "invalid api token"})).header("x-request-id", "q")])
            .await;
    let error = ask(&provider(&section(&server.address, "{model: m}")).unwrap(), &user("Hi"), true)
        .await
        .0
        .unwrap_err();
    assert_eq!(error.to_string(), "cohere: invalid api token (HTTP 401, request q)");
}

#[tokio::test]
async fn a_base_that_is_referred_to_at_the_top_is_put_in() {
    let sent = sent_with(
        &section("ADDRESS", "{model: m}"),
        json!({
            "allOf": [{"$ref": "#/$defs/Base"}],
            "$defs": {"Base": {"properties": {"id": {"type": "integer"}}, "required": ["id"]}},
        }),
    )
    .await
    .unwrap();
    assert_eq!(
        sent["parameter_definitions"],
        json!({"id": {"description": "", "type": "int", "required": true}})
    );
}

#[tokio::test]
async fn a_reference_that_leads_nowhere_names_the_tool() {
    for reference in ["http://schemas.example/place.json", "#/$defs/place", "place.json"] {
        let parameters = json!({"type": "object", "properties": {"where": {"$ref": reference}}});
        let error = sent_with(&section("ADDRESS", "{model: m}"), parameters).await.unwrap_err();
        let told = format!(
            "cohere: tool `search`: its parameters refer to `{reference}`, which is not in them: references must lead \
             into the same schema (`#/…`)"
        );
        assert_eq!((error.kind, error.to_string()), (ErrorKind::Request, told));
    }
}
