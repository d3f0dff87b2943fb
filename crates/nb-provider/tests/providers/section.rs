//! What is refused in a provider section before anything is sent, and what of it is left out.

use nb_provider::ErrorKind;
use serde_json::json;

use crate::support::*;

fn refusal(yaml: &str) -> String {
    let error = provider(yaml).err().unwrap();
    assert_eq!(error.kind, ErrorKind::Setup);
    error.message
}

#[test]
fn a_key_that_looks_mistyped_is_refused_with_the_one_that_was_meant() {
    for (yaml, told) in [
        (
            "id: openai\ncredentials: {access-token: k, adress: 'http://127.0.0.1:1'}\nsettings: {model: m}",
            "provider.credentials.adress is not known; did you mean `address`?",
        ),
        (
            "id: openai\ncredentials: {acces_token: k}\nsettings: {model: m}",
            "provider.credentials.acces_token is not known; did you mean `access-token`?",
        ),
        (
            "id: ollama\nsettings: {model: m}\noptions: {timeot: 1}",
            "provider.options.timeot is not known; did you mean `timeout`?",
        ),
        (
            "id: ollama\nsettings: {model: m}\noptions: {retires: 9}",
            "provider.options.retires is not known; did you mean `retries`?",
        ),
        ("id: ollama\nsetings: {model: m}", "provider.setings is not known; did you mean `settings`?"),
    ] {
        assert_eq!(refusal(yaml), told);
    }
    // As other programs with the same format do.
    provider("id: ollama\ncredentials: {organization: o}\nsettings: {model: m}\noptions: {color: red}")
        .unwrap();
}

#[test]
fn a_stream_is_true_or_false() {
    for part in ["settings: {model: m, stream: maybe}", "settings: {model: m}\noptions: {stream: no}"] {
        let told = refusal(&format!("id: ollama\n{part}"));
        assert!(told.ends_with(".stream must be true or false"), "{told}");
    }
    for stream in ["true", "false", "null"] {
        provider(&format!(
            "id: ollama\nsettings: {{model: m, stream: {stream}}}\noptions: {{stream: {stream}}}"
        ))
        .unwrap();
    }
}

#[test]
fn a_key_that_no_header_can_hold_is_named() {
    let variables = [("OUR_KEY".to_owned(), "sk-1\n".to_owned())].into();
    let surroundings = Surroundings { variables, ..Surroundings::default() };
    let section = "id: openai\ncredentials: {access-token: ENV/OUR_KEY}\nsettings: {model: m}";
    let error = provider_in(section, surroundings).err().unwrap();
    let why = "cannot be put into a header: it holds a line break or another control character";
    assert_eq!(error.message, format!("provider.credentials.access-token (ENV/OUR_KEY) {why}"));
    assert!(error.hint.unwrap().contains("line break at the end"));
    for id in ["anthropic", "cohere", "maritaca", "mistral", "ollama"] {
        let told =
            refusal(&format!("id: {id}\ncredentials: {{api-key: \"sk-1\\n\"}}\nsettings: {{model: m}}"));
        assert_eq!(told, format!("provider.credentials.api-key {why}"));
    }
}

#[tokio::test]
async fn what_names_a_variable_that_is_not_set_is_left_out_of_lists_as_well() {
    let answer = json!({"choices": [{"message": {"content": "yes"}, "finish_reason": "stop"}]});
    let server = Server::new([Reply::json(200, &answer)]).await;
    let section = format!(
        "id: openai\ncredentials: {{address: '{}', access-token: {SECRET}}}\n\
         settings: {{model: m, stop: [ENV/UNSET], modalities: [text, ENV/UNSET, null]}}",
        server.address
    );
    ask(&provider(&section).unwrap(), &user("Hi"), false).await.0.unwrap();
    let sent = server.only().body;
    assert_eq!((sent.get("stop"), &sent["modalities"]), (None, &json!(["text"])), "{sent}");
}
