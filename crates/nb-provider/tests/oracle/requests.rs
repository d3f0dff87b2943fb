//! The same conversation gives the request that the official SDK makes of it: method, path, headers, body. What answers it
//! in one piece is read alike.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use crate::answers::{self, reply};
use crate::bot::Service;
use crate::cases;
use crate::differences;
use crate::sdk::Sdk;
use crate::support::{Received, Server, ask};

/// What the connection needs, whoever asks, and the name of the program.
const OF_THE_CONNECTION: [&str; 5] =
    ["host", "connection", "content-length", "accept-encoding", "user-agent"];

async fn compare(service: &'static str) {
    let Some(sdk) = Sdk::find() else { return };
    let service = Service::new(service).await;
    let cases = cases::all(service.name);
    let replies: Vec<_> = cases.iter().map(|case| reply(service.name, case)).collect();
    let (ours, theirs) = (Server::new(replies.clone()).await, Server::new(replies).await);
    let questions = cases.iter().map(|case| case.question(&theirs.address, &service.key)).collect();
    let answers = sdk.run(&["ask", service.name], questions).await;
    let mut found = Vec::new();
    for (case, answer) in cases.iter().zip(answers) {
        let provider = service.provider(&ours.address, &case.model, &case.settings);
        let own = ask(&provider, &case.chat, case.stream).await.0;
        found.extend(answers::between(&case.name, &own, answer));
    }
    let (ours, theirs) = (ours.received(), theirs.received());
    assert_eq!((ours.len(), theirs.len()), (cases.len(), cases.len()), "a request for each case");
    for ((case, ours), theirs) in cases.iter().zip(&ours).zip(&theirs) {
        found.extend(differences::between(&case.name, &shown(ours), &shown(theirs)));
    }
    if let Some(tokens) = &service.tokens {
        let asked: Vec<Value> = tokens.received().iter().map(shown).collect();
        assert_eq!(
            asked.len(),
            1 + cases.len(),
            "the SDK's client keeps its token, and so does each of our providers"
        );
        let (theirs, ours) = (&asked[0], &asked[1]);
        found.extend(differences::between("the request for a token", ours, theirs));
    }
    differences::expect("requests", service.name, &found);
}

fn shown(request: &Received) -> Value {
    let headers: Value = request
        .headers
        .iter()
        .filter(|(name, _)| !OF_THE_CONNECTION.contains(&name.as_str()))
        .map(|(name, value)| (name.clone(), json!(value)))
        .collect::<serde_json::Map<_, _>>()
        .into();
    let body = match &request.body {
        // A form.
        Value::Null => url::form_urlencoded::parse(request.text.as_bytes())
            .map(|(name, value)| {
                let value = if name == "assertion" { claims(&value) } else { json!(value) };
                (name.into_owned(), value)
            })
            .collect::<serde_json::Map<_, _>>()
            .into(),
        body => body.clone(),
    };
    json!({"method": request.method, "path": request.path, "headers": headers, "body": body})
}

/// What an assertion says. It is signed for the moment, so of its times only the length is compared.
fn claims(assertion: &str) -> Value {
    let part = |number: usize| -> Value {
        let part = assertion.split('.').nth(number).unwrap();
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap()
    };
    let mut claims = part(1);
    let mut time = |name: &str| claims.as_object_mut().unwrap().shift_remove(name).unwrap().as_i64().unwrap();
    let lifetime = time("exp") - time("iat");
    json!({"header": part(0), "claims": claims, "lifetime": lifetime})
}

#[tokio::test]
async fn requests_are_those_of_the_official_sdk_openai() {
    compare("openai").await;
}

#[tokio::test]
async fn requests_are_those_of_the_official_sdk_anthropic() {
    compare("anthropic").await;
}

#[tokio::test]
async fn requests_are_those_of_the_official_sdk_cohere() {
    compare("cohere").await;
}

#[tokio::test]
async fn requests_are_those_of_the_official_sdk_google() {
    compare("google").await;
}

#[tokio::test]
async fn requests_are_those_of_the_official_sdk_vertex() {
    compare("vertex").await;
}

#[tokio::test]
async fn requests_are_those_of_the_official_sdk_mistral() {
    compare("mistral").await;
}

#[tokio::test]
async fn requests_are_those_of_the_official_sdk_ollama() {
    compare("ollama").await;
}

#[tokio::test]
async fn requests_are_those_of_the_official_sdk_maritaca() {
    compare("maritaca").await;
}
