//! Mistral AI.

use nb_provider::Stop;
use serde_json::json;

use crate::support::*;

const STREAM: &str = r#"data: {"id":"m","object":"chat.completion.chunk","model":"mistral-large","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}

data: {"id":"m","choices":[{"index":0,"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"Hm."}]},{"type":"text","text":"A die. "}]},"finish_reason":null}]}

data: {"id":"m","choices":[{"index":0,"delta":{"content":"","tool_calls":[{"id":"D681PevKs","function":{"name":"random-number","arguments":"{\"from\": 1, \"to\": 6}"},"index":0}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":9,"total_tokens":13,"completion_tokens":4}}

data: [DONE]

"#;

#[tokio::test]
async fn results_repeat_the_tool_and_calls_keep_their_ids() {
    let server = Server::new([Reply::events(STREAM)]).await;
    let bot = provider(&format!(
        "id: mistral\ncredentials: {{address: '{}', api-key: {SECRET}}}\nsettings: {{model: mistral-large, safe_prompt: false, random_seed: null, top_p: 1, temperature: 0.7, max_tokens: 10, stream: true}}",
        server.address
    ))
    .unwrap();
    let (answer, parts) = ask(&bot, &long_chat(), true).await;
    let answer = answer.unwrap();
    assert_eq!((parts.concat().as_str(), answer.thinking.as_str()), ("A die. ", "Hm."));
    assert_eq!(answer.calls, [call("D681PevKs", "random-number", json!({"from": 1, "to": 6}))]);
    assert_eq!((answer.stop, answer.usage.unwrap().total()), (Some(Stop::Calls), 13));
    let sent = server.only();
    assert_eq!(sent.path, "/v1/chat/completions");
    assert_eq!(sent.headers["authorization"], format!("Bearer {SECRET}"));
    assert_eq!(sent.body["safe_prompt"], json!(false));
    assert_eq!(sent.body.get("random_seed"), None);
    assert_eq!(sent.body.get("stream_options"), None);
    let results: Vec<_> = sent.body["messages"].as_array().unwrap()[6..].to_vec();
    assert_eq!(
        results,
        [
            json!({"role": "tool", "tool_call_id": "call_a", "name": "random-number", "content": "4"}),
            json!({"role": "tool", "tool_call_id": "call_b", "name": "what_time", "content": "Error: no clock"}),
        ]
    );
}

#[tokio::test]
async fn a_refused_setting_is_told_with_its_place() {
    let body = json!({"object": "error", "message": {"detail": [{"type": "x", "loc": ["body", "temperature"], "msg": "Input should be less than or equal to 1.5"}]}, "type": "invalid_request_error"});
    let server = Server::new([Reply::json(422, &body)]).await;
    let section = format!(
        "id: mistral\ncredentials: {{address: '{}', api-key: {SECRET}}}\nsettings: {{model: m, temperature: 9}}",
        server.address
    );
    let error = ask(&provider(&section).unwrap(), &user("Hi"), true).await.0.unwrap_err();
    assert_eq!(error.message, "body.temperature: Input should be less than or equal to 1.5");
}
