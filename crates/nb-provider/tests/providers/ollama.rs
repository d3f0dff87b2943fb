//! Ollama.

use nb_provider::{ErrorKind, Stop, Usage};
use serde_json::{Value, json};

use crate::support::*;

const STREAM: &str = r#"{"model":"llama3","created_at":"2024-01-01T00:00:00Z","message":{"role":"assistant","content":"","thinking":"Hm."},"done":false}
{"model":"llama3","created_at":"2024-01-01T00:00:00Z","message":{"role":"assistant","content":"Hé"},"done":false}
{"model":"llama3","created_at":"2024-01-01T00:00:00Z","message":{"role":"assistant","content":"llo","tool_calls":[{"function":{"index":0,"name":"random-number","arguments":{"from":1,"to":6}}},{"function":{"name":"what_time","arguments":{}}}]},"done":false}
{"model":"llama3","created_at":"2024-01-01T00:00:00Z","message":{"role":"assistant","content":""},"done_reason":"stop","done":true,"total_duration":1,"prompt_eval_count":26,"eval_count":7}
"#;

const SETTINGS: &str = "{model: llama3, format: json, raw: false, options: {num_keep: 5, seed: 42, num_predict: 100, top_k: 20, \
    top_p: 0.9, tfs_z: 0.5, typical_p: 0.7, repeat_last_n: 33, temperature: 0.8, repeat_penalty: 1.2, presence_penalty: 1.5, \
    frequency_penalty: 1.0, mirostat: 1, mirostat_tau: 0.8, mirostat_eta: 0.6, penalize_newline: true, numa: false, \
    num_ctx: 1024, num_batch: 2, num_gpu: 1, main_gpu: 0, low_vram: false, f16_kv: true, vocab_only: false, use_mmap: true, \
    use_mlock: false, num_thread: 8, stop: [\"\\n\", 'user:']}}";

fn section(address: &str) -> String {
    format!(
        "id: ollama\ncredentials: {{address: '{address}'}}\nsettings: {SETTINGS}\noptions: {{retries: 0}}"
    )
}

#[tokio::test]
async fn a_conversation_with_tools_is_sent_and_read_in_its_shape() {
    let server = Server::new([Reply::stream("application/x-ndjson", STREAM).in_pieces(9)]).await;
    let (answer, parts) = ask(&provider(&section(&server.address)).unwrap(), &long_chat(), true).await;
    let answer = answer.unwrap();
    assert_eq!((parts.concat().as_str(), answer.thinking.as_str()), ("Héllo", "Hm."));
    assert_eq!(
        answer.calls,
        [
            call("call_0", "random-number", json!({"from": 1, "to": 6})),
            call("call_1", "what time", json!({}))
        ]
    );
    assert_eq!(
        (answer.stop, answer.usage),
        (Some(Stop::Calls), Some(Usage { input: 26, output: 7, cached: 0 }))
    );
    let sent = server.only();
    assert_eq!((sent.method.as_str(), sent.path.as_str()), ("POST", "/api/chat"));
    assert!(!sent.headers.contains_key("authorization"));
    let settings: Value = serde_yaml::from_str(SETTINGS).unwrap();
    for (name, value) in settings.as_object().unwrap() {
        assert_eq!(sent.body.get(name), Some(value), "{name}");
    }
    assert_eq!(sent.body["tools"][1]["function"]["name"], "what_time");
    assert_eq!(
        sent.body["messages"].as_array().unwrap()[5..],
        [
            json!({"role": "assistant", "content": "I look.", "tool_calls": [
                {"function": {"name": "random-number", "arguments": {"from": 1, "to": 6}}},
                {"function": {"name": "what_time", "arguments": {}}}]}),
            json!({"role": "tool", "tool_name": "random-number", "content": "4"}),
            json!({"role": "tool", "tool_name": "what_time", "content": "Error: no clock"}),
        ]
    );
}

#[tokio::test]
async fn without_a_stream_it_is_asked_for_one_piece() {
    let reply = json!({"model": "llama3", "message": {"role": "assistant", "content": "Hi"}, "done": true, "done_reason": "length", "eval_count": 2});
    let server = Server::new([Reply::json(200, &reply)]).await;
    let answer = ask(&provider(&section(&server.address)).unwrap(), &user("Hi"), false).await.0.unwrap();
    assert_eq!((answer.text.as_str(), answer.stop), ("Hi", Some(Stop::Length)));
    assert_eq!(server.only().body["stream"], json!(false));
}

#[tokio::test]
async fn errors_are_told_at_once_and_in_the_middle() {
    let server = Server::new([Reply::json(
        404,
        &json!({"error": "model \"llama3\" not found, try pulling it first"}),
    )])
    .await;
    let error = ask(&provider(&section(&server.address)).unwrap(), &user("Hi"), true).await.0.unwrap_err();
    assert!(error.message.contains("try pulling it first") && error.hint.unwrap().contains("model"));
    let begun: String = STREAM.split_inclusive('\n').take(2).collect();
    for (stream, kind) in
        [(format!("{begun}{{\"error\":\"out of memory\"}}\n"), ErrorKind::Refused), (begun, ErrorKind::Ended)]
    {
        let server = Server::new([Reply::stream("application/x-ndjson", &stream)]).await;
        let error =
            ask(&provider(&section(&server.address)).unwrap(), &user("Hi"), true).await.0.unwrap_err();
        assert_eq!((error.kind, error.received.unwrap().text.as_str()), (kind, "Hé"));
    }
}

#[tokio::test]
async fn a_server_that_does_not_run_is_hinted_at() {
    let section = "id: ollama\ncredentials: {address: 'http://127.0.0.1:1'}\nsettings: {model: m}\noptions: {retries: 0}";
    let error = ask(&provider(section).unwrap(), &user("Hi"), true).await.0.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Unreachable);
    assert!(error.hint.unwrap().contains("ollama serve"));
}
