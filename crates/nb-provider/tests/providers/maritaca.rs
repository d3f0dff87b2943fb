//! Maritaca AI.

use serde_json::json;

use crate::support::*;

fn section(address: &str) -> String {
    format!(
        "id: maritaca\ncredentials: {{address: '{address}', api-key: {SECRET}}}\nsettings: {{stream: true, model: sabia-2-medium, max_tokens: null, do_sample: true, temperature: 0.7, top_p: 0.95, repetition_penalty: 1, num_tokens_per_message: 4, stopping_tokens: [.]}}"
    )
}

#[tokio::test]
async fn without_tools_its_own_interface_is_used() {
    let stream =
        "event: message\ndata: {\"text\": \"Olá, \"}\n\nevent: message\ndata: {\"text\": \"mundo\"}\n\n";
    let server = Server::new([Reply::events(stream)]).await;
    let mut chat = user("Oi");
    chat.directive = Some("Seja breve.".to_owned());
    let (answer, parts) = ask(&provider(&section(&server.address)).unwrap(), &chat, true).await;
    assert_eq!(answer.unwrap().text, "Olá, mundo");
    assert_eq!(parts, ["Olá, ", "mundo"]);
    let sent = server.only();
    assert_eq!(sent.path, "/api/chat/inference");
    assert_eq!(sent.headers["authorization"], format!("Key {SECRET}"));
    assert_eq!(
        sent.body,
        json!({
            "stream": true, "model": "sabia-2-medium", "do_sample": true, "temperature": 0.7, "top_p": 0.95,
            "repetition_penalty": 1, "num_tokens_per_message": 4, "stopping_tokens": ["."], "chat_mode": true,
            "messages": [{"role": "user", "content": "Seja breve."}, {"role": "user", "content": "Oi"}],
        })
    );
}

#[tokio::test]
async fn its_answer_in_one_piece_is_read() {
    let reply = json!({"answer": "Oi!", "usage": {"prompt_tokens": 3, "completion_tokens": 2}, "model": "sabia-2-medium"});
    let server = Server::new([Reply::json(200, &reply)]).await;
    let (answer, _) = ask(&provider(&section(&server.address)).unwrap(), &user("Oi"), false).await;
    let answer = answer.unwrap();
    assert_eq!((answer.text.as_str(), answer.usage.unwrap().total()), ("Oi!", 5));
}

#[tokio::test]
async fn with_tools_the_shared_interface_is_used() {
    let reply = json!({"choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "4"}}]});
    let server = Server::new([Reply::json(200, &reply)]).await;
    let (answer, _) = ask(&provider(&section(&server.address)).unwrap(), &long_chat(), false).await;
    assert_eq!(answer.unwrap().text, "4");
    let sent = server.only();
    assert_eq!(sent.path, "/api/chat/completions");
    assert_eq!(sent.headers["authorization"], format!("Bearer {SECRET}"));
    assert_eq!(sent.body["tools"][0]["function"]["name"], "random-number");
    assert_eq!(sent.body["stopping_tokens"], json!(["."]));
}

/// Its own stream has no mark of its end. A connection that breaks is noticed all the same.
#[tokio::test]
async fn a_connection_that_breaks_in_its_own_stream_is_told() {
    let event = "data: {\"text\": \"Half an\"}\n\n";
    for (ends, whole) in [(Ends::Well, true), (Ends::Broken, false)] {
        let server = Server::new([Reply::events(event).ending(ends)]).await;
        let answer = ask(&provider(&section(&server.address)).unwrap(), &user("Hi"), true).await.0;
        match answer {
            Ok(answer) => assert!(whole && answer.text == "Half an"),
            Err(error) => assert!(!whole && error.received.unwrap().text == "Half an"),
        }
        assert_eq!(server.received().len(), 1);
    }
}
