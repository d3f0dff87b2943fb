//! What a service account signs is what google-auth accepts.

use serde_json::{Map, json};

use crate::bot::{Service, key_pair};
use crate::sdk::Sdk;
use crate::support::{Reply, Server, ask, user};

#[tokio::test]
async fn a_signed_assertion_is_verified_by_google_auth() {
    let Some(sdk) = Sdk::find() else { return };
    let service = Service::new("vertex").await;
    let server = Server::new([Reply::json(200, &json!({"candidates": [{"finishReason": "STOP"}]}))]).await;
    ask(&service.provider(&server.address, "m", &Map::new()), &user("Hi"), false).await.0.unwrap();
    let asked = service.tokens.as_ref().unwrap().only().text;
    let assertion = url::form_urlencoded::parse(asked.as_bytes())
        .find(|(name, _)| name == "assertion")
        .map(|(_, value)| value.into_owned())
        .unwrap();
    // One letter of the signature is another.
    let (signed, signature) = assertion.rsplit_once('.').unwrap();
    let first = if signature.starts_with('A') { 'B' } else { 'A' };
    let forged = format!("{signed}.{first}{}", &signature[1..]);
    let question = |assertion: &str| json!({"assertion": assertion, "public_key": key_pair().1});
    let answers = sdk.run(&["verify"], vec![question(&assertion), question(&forged)]).await;
    let claims = &answers[0]["claims"];
    assert_eq!(answers[0]["header"], json!({"alg": "RS256", "typ": "JWT", "kid": "kid-1"}), "{answers:?}");
    assert_eq!(claims["iss"], json!("bot@our-project.iam.gserviceaccount.com"));
    assert_eq!(claims["scope"], json!("https://www.googleapis.com/auth/cloud-platform"));
    assert_eq!(claims["exp"].as_i64().unwrap() - claims["iat"].as_i64().unwrap(), 3600);
    assert!(answers[1]["error"].as_str().is_some_and(|error| error.contains("signature")), "{answers:?}");
}
