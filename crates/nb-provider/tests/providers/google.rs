//! Google: both services.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use nb_provider::{ErrorKind, Stop, Turn, Usage};
use serde_json::{Value, json};

use crate::support::*;

const STREAM: &str = "data: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\"Dice.\",\"thought\":true}]},\"index\":0}],\"modelVersion\":\"gemini-1.5-pro-002\",\"responseId\":\"r1\"}\r\n\r\n\
data: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\"Hé\"}]},\"index\":0}]}\r\n\r\n\
data: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\"llo\"},{\"functionCall\":{\"id\":\"f1\",\"name\":\"random-number\",\"args\":{\"from\":1,\"to\":6}},\"thoughtSignature\":\"c2ln\"},{\"functionCall\":{\"name\":\"what_time\",\"args\":{}}}]},\"finishReason\":\"STOP\",\"index\":0}],\"usageMetadata\":{\"promptTokenCount\":10,\"candidatesTokenCount\":4,\"thoughtsTokenCount\":3,\"cachedContentTokenCount\":6,\"totalTokenCount\":17}}\r\n\r\n";

const SETTINGS: &str = "{safetySettings: [{category: HARM_CATEGORY_DANGEROUS_CONTENT, threshold: BLOCK_NONE}], \
    generationConfig: {temperature: 0.9, maxOutputTokens: null, candidateCount: 1, presencePenalty: null, frequencyPenalty: null, \
    topK: null, topP: 1.0, stopSequences: [.], responseMimeType: application/json, responseSchema: {type: object, properties: {name: {type: string}}}}}";

fn section(credentials: &str) -> String {
    format!(
        "id: google\ncredentials: {{{credentials}}}\noptions: {{model: gemini-1.5-pro, stream: true, retries: 0}}\nsettings: {SETTINGS}"
    )
}

fn with_key(address: &str) -> String {
    section(&format!("service: generative-language-api, address: '{address}', api-key: {SECRET}"))
}

#[tokio::test]
async fn a_conversation_with_tools_is_sent_in_their_shape() {
    let server = Server::new([Reply::events(STREAM)]).await;
    ask(&provider(&with_key(&server.address)).unwrap(), &long_chat(), true).await.0.unwrap();
    let sent = server.only();
    assert_eq!(sent.path, "/v1/models/gemini-1.5-pro:streamGenerateContent?alt=sse");
    assert_eq!(sent.headers["x-goog-api-key"], SECRET);
    assert_eq!(
        sent.body,
        json!({
            "safetySettings": [{"category": "HARM_CATEGORY_DANGEROUS_CONTENT", "threshold": "BLOCK_NONE"}],
            "generationConfig": {
                "temperature": 0.9, "candidateCount": 1, "topP": 1.0, "stopSequences": ["."],
                "responseMimeType": "application/json",
                "responseSchema": {"type": "object", "properties": {"name": {"type": "string"}}}},
            "tools": [{"functionDeclarations": [
                {"name": "random-number", "description": "Does random-number.", "parameters": {
                    "type": "object",
                    "properties": {"from": {"type": "integer"}, "to": {"type": "integer", "description": "up to"}},
                    "required": ["from", "to"]}},
                {"name": "what_time", "description": "Does what time."}]}],
            "systemInstruction": {"parts": [{"text": "You are a cheerful bot."}]},
            "contents": [
                {"role": "user", "parts": [{"text": "It is Monday."}]},
                {"role": "model", "parts": [{"text": "Understood."}]},
                {"role": "user", "parts": [{"text": "Hi."}]},
                {"role": "model", "parts": [{"text": "Hello!"}]},
                {"role": "user", "parts": [{"text": "A number, and the time."}]},
                {"role": "model", "parts": [
                    {"text": "I look."},
                    {"functionCall": {"name": "random-number", "args": {"from": 1, "to": 6}}},
                    {"functionCall": {"name": "what_time", "args": {}}}]},
                {"role": "user", "parts": [
                    {"functionResponse": {"name": "random-number", "response": {"result": "4"}}},
                    {"functionResponse": {"name": "what_time", "response": {"error": "no clock"}}}]}],
        })
    );
}

#[tokio::test]
async fn a_stream_gives_text_thoughts_calls_and_tokens() {
    let server = Server::new([Reply::events(STREAM).in_pieces(17)]).await;
    let (answer, parts) = ask(&provider(&with_key(&server.address)).unwrap(), &long_chat(), true).await;
    let answer = answer.unwrap();
    assert_eq!((parts, answer.thinking.as_str()), (vec!["Hé".to_owned(), "llo".to_owned()], "Dice."));
    assert_eq!(
        answer.calls,
        [call("f1", "random-number", json!({"from": 1, "to": 6})), call("call_1", "what time", json!({}))]
    );
    assert_eq!(
        (answer.stop, answer.usage),
        (Some(Stop::Calls), Some(Usage { input: 10, output: 7, cached: 6 }))
    );
    assert_eq!(
        (answer.model.as_deref(), answer.request_id.as_deref()),
        (Some("gemini-1.5-pro-002"), Some("r1"))
    );
}

#[tokio::test]
async fn signatures_and_ids_go_back() {
    let server = Server::new([Reply::events(STREAM)]).await;
    let bot = provider(&with_key(&server.address)).unwrap();
    let mut chat = long_chat();
    chat.turns.truncate(3);
    let answer = ask(&bot, &chat, true).await.0.unwrap();
    chat.turns.push(Turn::Model(answer.message()));
    let result = |id: &str, name: &str| nb_provider::ToolResult {
        id: id.into(),
        name: name.into(),
        content: "{\"n\":4}".into(),
        is_error: false,
    };
    chat.turns.push(Turn::Results(vec![result("f1", "random-number"), result("call_1", "what time")]));
    ask(&bot, &chat, true).await.0.unwrap();
    let contents = server.received()[1].body["contents"].clone();
    assert_eq!(
        contents[5]["parts"],
        json!([
            {"text": "Dice.", "thought": true}, {"text": "Héllo"},
            {"functionCall": {"id": "f1", "name": "random-number", "args": {"from": 1, "to": 6}}, "thoughtSignature": "c2ln"},
            {"functionCall": {"name": "what_time", "args": {}}}])
    );
    assert_eq!(
        contents[6]["parts"],
        json!([
            {"functionResponse": {"name": "random-number", "response": {"n": 4}, "id": "f1"}},
            {"functionResponse": {"name": "what_time", "response": {"n": 4}}}])
    );
}

#[tokio::test]
async fn without_a_stream_another_method_is_called() {
    let reply =
        json!({"candidates": [{"content": {"parts": [{"text": "Hi"}]}, "finishReason": "MAX_TOKENS"}]});
    for reply in [reply.clone(), json!([reply])] {
        let server = Server::new([Reply::json(200, &reply)]).await;
        let credentials = format!(
            "service: generative-language-api, address: '{}', api_key: {SECRET}, version: v1beta",
            server.address
        );
        let answer = ask(&provider(&section(&credentials)).unwrap(), &user("Hi"), false).await.0.unwrap();
        assert_eq!((answer.text.as_str(), answer.stop), ("Hi", Some(Stop::Length)));
        assert_eq!(server.only().path, "/v1beta/models/gemini-1.5-pro:generateContent");
    }
}

#[tokio::test]
async fn a_schema_is_put_into_their_words() {
    let server = Server::new([Reply::events(STREAM)]).await;
    let mut chat = user("Hi");
    chat.tools = vec![tool(
        "search",
        Some(json!({
            "type": "object", "additionalProperties": false, "$schema": "x",
            "allOf": [{"properties": {"a": {"const": "x"}}, "required": ["a"]}],
            "properties": {
                "limit": {"type": ["integer", "null"], "exclusiveMinimum": 0, "enum": [1, 2]},
                "mail": {"type": "string", "format": "email"},
                "at": {"type": "string", "format": "date-time"},
                "where": {"$ref": "#/$defs/place"},
                "list": {"type": "array"},
                "either": {"oneOf": [{"type": "string"}, {"type": "number"}, {"type": "null"}]},
                "default": {"type": "boolean"},
            },
            "$defs": {"place": {"type": "object", "properties": {"city": {"type": "string"}}, "title": "Place"}},
        })),
    )];
    ask(&provider(&with_key(&server.address)).unwrap(), &chat, true).await.0.unwrap();
    assert_eq!(
        server.only().body["tools"][0]["functionDeclarations"][0]["parameters"],
        json!({
            "type": "object",
            "properties": {
                "limit": {"type": "integer", "description": "One of: [1,2]", "nullable": true},
                "mail": {"type": "string"},
                "at": {"type": "string", "format": "date-time"},
                "where": {"type": "object", "properties": {"city": {"type": "string"}}, "title": "Place"},
                "list": {"type": "array", "items": {"type": "string"}},
                "either": {"anyOf": [{"type": "string"}, {"type": "number"}], "nullable": true},
                "default": {"type": "boolean"},
                "a": {"enum": ["x"], "type": "string"},
            },
            "required": ["a"],
        })
    );
}

#[tokio::test]
async fn what_was_blocked_is_told() {
    let blocked = "data: {\"promptFeedback\":{\"blockReason\":\"SAFETY\"}}\n\n";
    let server = Server::new([
        Reply::events(blocked),
        Reply::json(200, &json!({"promptFeedback": {"blockReason": "SAFETY"}})),
    ])
    .await;
    for stream in [true, false] {
        let asked = ask(&provider(&with_key(&server.address)).unwrap(), &user("Hi"), stream).await;
        let error = asked.0.unwrap_err();
        assert_eq!(
            (error.kind, error.message.as_str()),
            (ErrorKind::Refused, "the conversation was blocked (SAFETY)")
        );
    }
    let withheld = "data: {\"candidates\":[{\"finishReason\":\"RECITATION\"}]}\n\n";
    let server = Server::new([Reply::events(withheld)]).await;
    let answer = ask(&provider(&with_key(&server.address)).unwrap(), &user("Hi"), true).await.0.unwrap();
    assert_eq!((answer.stop, answer.stop_reason.as_deref()), (Some(Stop::Filtered), Some("RECITATION")));
    let body =
        json!([{"error": {"code": 400, "message": "API key not valid.", "status": "INVALID_ARGUMENT"}}]);
    let server = Server::new([Reply::json(400, &body)]).await;
    let error = ask(&provider(&with_key(&server.address)).unwrap(), &user("Hi"), true).await.0.unwrap_err();
    assert_eq!(error.to_string(), "google: API key not valid. (HTTP 400, INVALID_ARGUMENT)");
    assert!(error.hint.unwrap().contains("api-key"));
}

/// A key that is made for this run.
fn private_key() -> String {
    use rsa::pkcs8::{EncodePrivateKey, LineEnding};
    let key = rsa::RsaPrivateKey::new(&mut rsa::rand_core::OsRng, 2048).unwrap();
    key.to_pkcs8_pem(LineEnding::LF).unwrap().to_string()
}

fn key_file(token_uri: &str, pem: &str) -> String {
    json!({
        "type": "service_account", "project_id": "our-project", "private_key_id": "kid-1", "private_key": pem,
        "client_email": "bot@our-project.iam.gserviceaccount.com", "client_id": "1", "token_uri": token_uri,
    })
    .to_string()
}

#[tokio::test]
async fn a_service_account_signs_for_a_token_that_is_kept() {
    let tokens = Server::new([Reply::json(
        200,
        &json!({"access_token": "ya29.token-0123456789", "expires_in": 3599, "token_type": "Bearer"}),
    )])
    .await;
    let server = Server::new([Reply::events(STREAM)]).await;
    let pem = private_key();
    let surroundings = Surroundings {
        files: [("key.json".to_owned(), key_file(&format!("{}/token", tokens.address), &pem))].into(),
        ..Surroundings::default()
    };
    let credentials = format!(
        "service: vertex-ai-api, region: us-central1, file-path: key.json, address: '{}'",
        server.address
    );
    let bot = provider_in(&section(&credentials), surroundings).unwrap();
    for _ in 0..2 {
        ask(&bot, &user("Hi"), true).await.0.unwrap();
    }
    let sent = &server.received()[1];
    assert_eq!(
        sent.path,
        "/v1/projects/our-project/locations/us-central1/publishers/google/models/gemini-1.5-pro:streamGenerateContent?alt=sse"
    );
    assert_eq!(sent.headers["authorization"], "Bearer ya29.token-0123456789");
    let asked = tokens.only();
    let fields: std::collections::BTreeMap<String, String> =
        url::form_urlencoded::parse(asked.text.as_bytes()).into_owned().collect();
    assert_eq!(fields["grant_type"], "urn:ietf:params:oauth:grant-type:jwt-bearer");
    let parts: Vec<&str> = fields["assertion"].split('.').collect();
    let decoded =
        |part: &str| serde_json::from_slice::<Value>(&URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap();
    assert_eq!(decoded(parts[0]), json!({"alg": "RS256", "typ": "JWT", "kid": "kid-1"}));
    assert_eq!(
        decoded(parts[1]),
        json!({"iss": "bot@our-project.iam.gserviceaccount.com", "scope": "https://www.googleapis.com/auth/cloud-platform",
            "aud": "https://oauth2.googleapis.com/token", "iat": 1795168800, "exp": 1795172400})
    );
    let der =
        STANDARD.decode(pem.lines().filter(|line| !line.starts_with("---")).collect::<String>()).unwrap();
    let pair = ring::signature::RsaKeyPair::from_pkcs8(&der).unwrap();
    let public =
        ring::signature::UnparsedPublicKey::new(&ring::signature::RSA_PKCS1_2048_8192_SHA256, pair.public());
    let signature = URL_SAFE_NO_PAD.decode(parts[2]).unwrap();
    public.verify(format!("{}.{}", parts[0], parts[1]).as_bytes(), &signature).unwrap();
}

#[tokio::test]
async fn somebody_who_has_signed_in_is_asked_for_by_default() {
    let tokens = Server::new([Reply::json(200, &json!({"access_token": "ya29.user-0123456789"}))]).await;
    let server = Server::new([Reply::events(STREAM)]).await;
    let file = json!({
        "type": "authorized_user", "client_id": "c", "client_secret": "s", "refresh_token": "r",
        "quota_project_id": "paying", "token_uri": tokens.address,
    });
    let surroundings = Surroundings {
        variables: [("HOME".to_owned(), "/home/me".to_owned())].into(),
        files: [(
            "/home/me/.config/gcloud/application_default_credentials.json".to_owned(),
            file.to_string(),
        )]
        .into(),
        ..Surroundings::default()
    };
    let credentials = format!("service: vertex-ai-api, region: europe-west4, address: '{}'", server.address);
    ask(&provider_in(&section(&credentials), surroundings).unwrap(), &user("Hi"), true).await.0.unwrap();
    assert_eq!(tokens.only().text, "grant_type=refresh_token&client_id=c&client_secret=s&refresh_token=r");
    let sent = server.only();
    assert!(sent.path.starts_with("/v1/projects/paying/locations/europe-west4/"), "{}", sent.path);
    assert_eq!(sent.headers["x-goog-user-project"], "paying");
}

#[tokio::test]
async fn a_token_that_is_refused_says_why() {
    let refused = json!({"error": "invalid_grant", "error_description": "Invalid JWT Signature."});
    let tokens = Server::new([Reply::json(400, &refused)]).await;
    let contents = key_file(&tokens.address, &private_key());
    let surroundings =
        Surroundings { variables: [("KEY".to_owned(), contents)].into(), ..Surroundings::default() };
    let credentials = "service: vertex-ai-api, region: us-central1, file_contents: ENV/KEY";
    let error = ask(&provider_in(&section(credentials), surroundings).unwrap(), &user("Hi"), true)
        .await
        .0
        .unwrap_err();
    assert_eq!(error.kind, ErrorKind::Refused);
    assert_eq!(
        error.to_string(),
        "google: no token of access: Invalid JWT Signature. (HTTP 400, invalid_grant)"
    );
}

#[test]
fn the_rules_of_credentials_are_told() {
    let vertex = "service: vertex-ai-api, region: us-central1";
    for (credentials, words) in [
        ("api-key: k", "no `service`"),
        ("service: gemini", "no service `gemini`"),
        ("service: generative-language-api", "no `api-key`"),
        ("service: generative-language-api, api-key: ENV/GOOGLE_API_KEY", "GOOGLE_API_KEY is not set"),
        ("service: generative-language-api, api-key: k, file-path: f", "api-key and file-path: give one"),
        ("service: vertex-ai-api, region: ENV/GOOGLE_REGION", "GOOGLE_REGION is not set"),
        ("service: vertex-ai-api, region: 'evil.example/', project-id: p", "is not a region"),
        (&format!("{vertex}, api-key: k"), "does not take an `api-key`"),
        (&format!("{vertex}, file-path: nothing.json"), "nothing.json: there is no such file"),
        (
            &format!("{vertex}, file-path: ENV/GOOGLE_CREDENTIALS_FILE_PATH"),
            "GOOGLE_CREDENTIALS_FILE_PATH is not set",
        ),
        (&format!("{vertex}, file-contents: '{{}}'"), "no key file"),
        (
            &format!("{vertex}, file-contents: '{{\"type\": \"external_account\"}}'"),
            "`external_account` are not supported",
        ),
        (vertex, "project is not known"),
        (&format!("{vertex}, project-id: a/b"), "`a/b` is not a project"),
    ] {
        let error = provider(&section(credentials)).err().unwrap().to_string();
        assert!(error.contains(words), "{credentials}: {error}");
    }
}
