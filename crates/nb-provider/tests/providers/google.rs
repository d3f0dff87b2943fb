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
                "either": {"anyOf": [{"type": "string", "nullable": true}, {"type": "number", "nullable": true}]},
                "default": {"type": "boolean"},
                "a": {"enum": ["x"], "type": "string"},
            },
            "required": ["a"],
        })
    );
}

/// The properties of a tool as they are sent.
async fn properties(parameters: Value) -> Value {
    let tools = sent_with(&with_key("ADDRESS"), parameters).await.unwrap();
    tools["functionDeclarations"][0]["parameters"]["properties"].clone()
}

#[tokio::test]
async fn what_may_be_null_is_no_choice_and_several_schemas_stand_alone() {
    let sent = properties(json!({
        "properties": {
            "name": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": null, "title": "Name", "description": "Who."},
            "home": {"anyOf": [{"$ref": "#/$defs/Place"}, {"type": "null"}], "description": "Where."},
            "either": {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "string", "title": "Word"}, {"type": "null"}],
                "title": "Either", "description": "One or the other."},
            "kinds": {"type": ["integer", "string", "null"], "minimum": 1, "enum": ["a", "b"], "description": "A kind."},
            "level": {"$ref": "#/$defs/Level", "description": "How."},
            "list": {"type": "array", "items": {"anyOf": [{"$ref": "#/$defs/Place"}, {"type": "string"}]}},
            "deep": {"anyOf": [{"oneOf": [{"type": "string"}, {"type": "number"}]}, {"type": "boolean"}], "description": "Deep."},
            "part": {"type": "object", "properties": {"a": {"type": "string"}},
                "oneOf": [{"required": ["a"]}, {"properties": {"b": {"type": "string"}}, "required": ["b", "c"]}]},
            "nothing": {"const": null},
        },
        "$defs": {
            "Place": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"], "description": "A place."},
            "Level": {"enum": ["low", "high"], "title": "Level"},
        },
    }))
    .await;
    let place = json!({"city": {"type": "string"}});
    assert_eq!(
        sent,
        json!({
            "name": {"type": "string", "title": "Name", "description": "Who.", "nullable": true},
            "home": {"type": "object", "properties": place, "required": ["city"], "description": "Where. A place.",
                "nullable": true},
            "either": {"anyOf": [
                {"type": "integer", "minimum": 1, "title": "Either", "description": "One or the other.", "nullable": true},
                {"type": "string", "title": "Word", "description": "One or the other.", "nullable": true}]},
            "kinds": {"anyOf": [
                {"type": "integer", "minimum": 1, "description": "A kind.", "nullable": true},
                {"type": "string", "enum": ["a", "b"], "description": "A kind.", "nullable": true}]},
            "level": {"type": "string", "enum": ["low", "high"], "title": "Level", "description": "How."},
            "list": {"type": "array", "items": {"anyOf": [
                {"type": "object", "properties": place, "required": ["city"], "description": "A place."},
                {"type": "string"}]}},
            "deep": {"anyOf": [
                {"type": "string", "description": "Deep."}, {"type": "number", "description": "Deep."},
                {"type": "boolean", "description": "Deep."}]},
            "part": {"anyOf": [
                {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
                {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}, "required": ["b"]}]},
            "nothing": {"nullable": true},
        })
    );
}

#[tokio::test]
async fn a_base_that_is_referred_to_at_the_top_is_put_in() {
    let sent = properties(json!({
        "allOf": [{"$ref": "#/$defs/Base"}],
        "properties": {"own": {"type": "string"}},
        "oneOf": [
            {"allOf": [{"properties": {"inner": {"type": "boolean"}}}], "properties": {"kind": {"const": "a"}}},
            {"properties": {"kind": {"const": "b"}}},
        ],
        "$defs": {"Base": {"allOf": [{"properties": {"older": {"type": "number"}}}], "properties": {"id": {"type": "integer"}}}},
    }))
    .await;
    assert_eq!(
        sent,
        json!({
            "own": {"type": "string"}, "id": {"type": "integer"}, "older": {"type": "number"}, "inner": {"type": "boolean"},
            "kind": {"anyOf": [{"enum": ["a"], "type": "string"}, {"enum": ["b"], "type": "string"}]},
        })
    );
}

#[tokio::test]
async fn choices_that_multiply_without_end_are_refused() {
    let words: serde_json::Map<String, Value> =
        (0..2_000).map(|n| (format!("p{n}"), json!({"type": "string"}))).collect();
    let choices: Vec<Value> = (0..2_000).map(|n| json!({"title": n.to_string()})).collect();
    let parameters = json!({"properties": {"a": {"type": "object", "properties": words, "anyOf": choices}}});
    let error = sent_with(&with_key("ADDRESS"), parameters).await.unwrap_err();
    assert!(error.message.contains("tool `search`: its parameters are too large"), "{error}");
}

#[tokio::test]
async fn the_tools_that_may_be_called_have_their_names_on_the_wire() {
    let server = Server::new([Reply::events(STREAM)]).await;
    let config =
        "toolConfig: {functionCallingConfig: {mode: ANY, allowedFunctionNames: [what time, random-number]}}";
    let section = with_key(&server.address).replace("settings: {", &format!("settings: {{{config}, "));
    ask(&provider(&section).unwrap(), &long_chat(), true).await.0.unwrap();
    assert_eq!(
        server.only().body["toolConfig"]["functionCallingConfig"],
        json!({"mode": "ANY", "allowedFunctionNames": ["what_time", "random-number"]})
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
        (
            vertex,
            "there are no credentials: provider.credentials has neither `file-path` nor `file-contents`",
        ),
        (&format!("{vertex}, project-id: a/b"), "`a/b` is not a project"),
    ] {
        let error = provider(&section(credentials)).err().unwrap().to_string();
        assert!(error.contains(words), "{credentials}: {error}");
    }
}

/// An account that is asked for at one server, for a model at another.
fn vertex(server: &Server, more: &str) -> String {
    section(&format!(
        "service: vertex-ai-api, region: us-central1, project-id: p, address: '{}'{more}",
        server.address
    ))
}

fn signed_in(tokens: &Server) -> String {
    json!({
        "type": "authorized_user", "client_id": "client", "client_secret": "GOCSPX-secret/0123456789",
        "refresh_token": "1//refresh+0123456789", "token_uri": tokens.address,
    })
    .to_string()
}

fn with_file(text: String) -> Surroundings {
    Surroundings { files: [("key.json".to_owned(), text)].into(), ..Surroundings::default() }
}

#[tokio::test]
async fn a_token_is_kept_for_a_day_at_most_whatever_is_said_of_it() {
    for (expires_in, requests) in [(i64::MAX, 1), (i64::MIN, 2), (-1, 2), (0, 2), (3600, 1)] {
        let reply = json!({"access_token": "ya29.token-0123456789", "expires_in": expires_in});
        let tokens = Server::new([Reply::json(200, &reply)]).await;
        let server = Server::new([Reply::events(STREAM)]).await;
        let bot =
            provider_in(&vertex(&server, ", file-path: key.json"), with_file(signed_in(&tokens))).unwrap();
        for _ in 0..2 {
            ask(&bot, &user("Hi"), true).await.0.unwrap();
        }
        assert_eq!(tokens.received().len(), requests, "{expires_in}");
    }
}

#[tokio::test]
async fn tokens_are_asked_for_and_sent_only_where_it_is_allowed() {
    let tokens = Server::new([Reply::json(200, &json!({"access_token": "ya29.token-0123456789"}))]).await;
    let server = Server::new([Reply::events(STREAM)]).await;
    let contents = format!(", file-contents: '{}'", signed_in(&tokens));
    let machine = [("GCE_METADATA_HOST".to_owned(), tokens.host())];
    for (credentials, variables) in [(contents.as_str(), &[][..]), ("", &machine[..])] {
        let asked = async |hosts: &[&Server]| {
            let surroundings = Surroundings {
                variables: variables.iter().cloned().collect(),
                hosts: Some(hosts.iter().map(|server| server.host().parse().unwrap()).collect()),
                ..Surroundings::default()
            };
            ask(&provider_in(&vertex(&server, credentials), surroundings).unwrap(), &user("Hi"), true).await.0
        };
        let before = (tokens.received().len(), server.received().len());
        let error = asked(&[&server]).await.unwrap_err();
        let told = format!(
            "google: a token of access has to be asked for at 127.0.0.1, which is not allowed, only: {}",
            server.host()
        );
        assert_eq!((error.kind, error.to_string()), (ErrorKind::Setup, told));
        assert!(error.hint.unwrap().contains("`llm.query:127.0.0.1`"));
        assert_eq!(tokens.received().len(), before.0);
        assert_eq!(asked(&[&tokens]).await.unwrap_err().kind, ErrorKind::Setup);
        assert_eq!(server.received().len(), before.1);
        asked(&[&tokens, &server]).await.unwrap();
    }
}

#[tokio::test]
async fn what_a_token_is_asked_with_is_not_told() {
    let server = Server::new([Reply::events(STREAM)]).await;
    let refusal = async |words: &str, key_file: &dyn Fn(&Server) -> String| {
        let refused =
            json!({"error": words, "error_description": format!("{words} {}", "!".repeat(100_000))});
        let tokens = Server::new([Reply::json(400, &refused)]).await;
        let surroundings = with_file(key_file(&tokens));
        let bot = provider_in(&vertex(&server, ", file-path: key.json"), surroundings).unwrap();
        let error = ask(&bot, &user("Hi"), true).await.0.unwrap_err();
        (error, tokens.only().text)
    };
    let (_, form) = refusal("", &signed_in).await;
    let (error, _) =
        refusal(&format!("{form} GOCSPX-secret/0123456789 1//refresh+0123456789"), &signed_in).await;
    let told = error.to_string();
    assert!(told.contains("client_secret=***&refresh_token=*** *** ***"), "{told}");
    assert!(error.message.chars().count() < 2_100, "{}", error.message.len());

    let pem = private_key();
    let signs = |tokens: &Server| key_file(&tokens.address, &pem);
    let (_, form) = refusal("", &signs).await;
    let (error, again) = refusal(&form, &signs).await;
    assert_eq!(again, form);
    assert!(error.to_string().contains("&assertion=*** !"), "{error}");
}

#[tokio::test]
async fn an_account_that_is_not_taken_is_named_and_its_token_dropped() {
    let tokens = Server::new([Reply::json(200, &json!({"access_token": "ya29.token-0123456789"}))]).await;
    let refused =
        json!({"error": {"code": 401, "message": "Invalid credentials.", "status": "UNAUTHENTICATED"}});
    let server = Server::new([Reply::json(401, &refused), Reply::events(STREAM)]).await;
    let bot = provider_in(&vertex(&server, ", file-path: key.json"), with_file(signed_in(&tokens))).unwrap();
    let error = ask(&bot, &user("Hi"), true).await.0.unwrap_err();
    let hint = error.hint.unwrap();
    assert!(hint.ends_with("check the account of provider.credentials.file-path"), "{hint}");
    ask(&bot, &user("Hi"), true).await.0.unwrap();
    assert_eq!(tokens.received().len(), 2);
}
