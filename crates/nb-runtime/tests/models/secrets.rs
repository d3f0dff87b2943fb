//! What a cartridge may use, where it may go, and that nobody is told.

use serde_json::json;

use super::{KEY, answer, cancelled_when_heard, completion, openai, openai_streaming, run, streamed};
use crate::common::{Home, agent};
use crate::server::Server;

#[tokio::test(flavor = "multi_thread")]
async fn a_variable_of_a_cartridge_is_a_secret_that_was_listed_and_granted_and_is_there() {
    let server = Server::answering(|_| completion("Hello")).await;
    let permission = format!("llm.query:{}", server.host());
    let home = Home::new();
    // What the daemon's own environment has counts for nothing.
    home.vault.keep("ENV/KEY", KEY);
    let begins = async |expected: &str| {
        let (result, _) = run(&home).await;
        let error = result.unwrap_err();
        assert!(error.starts_with(&format!("llm.query: openai: {expected}")), "{error}");
    };
    openai(&server, &permission).install(&home);
    begins("secret KEY is not in the vault").await;
    openai(&server, &permission).granted(&[&permission]).install(&home);
    begins("permission `secret.use:KEY` was not granted to m; install it again and grant it").await;
    openai(&server, &permission).set("secrets", json!([])).install(&home);
    begins("the cartridge names ENV/KEY, the secret KEY of the agent, which its manifest does not list")
        .await;
    assert!(server.requests().is_empty());

    openai(&server, &permission).install(&home);
    home.vault.keep("KEY", KEY);
    assert_eq!(run(&home).await.0, Ok(json!("Hello")));
    home.vault.keep("KEY", "another-key");
    assert_eq!(run(&home).await.0, Ok(json!("Hello")));
    assert!(server.requests()[1].contains("Bearer another-key\r\n"), "a changed secret is read again");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_and_a_question_go_only_to_a_host_that_was_granted_by_name() {
    let server = Server::answering(|_| completion("Hello")).await;
    let home = Home::new();
    home.vault.keep("KEY", KEY);
    openai(&server, "llm.query").install(&home);
    let (result, _) = run(&home).await;
    let told = "llm.query: openai: secret KEY goes only to a host that was granted by name; the manifest has to ask for \
                `llm.query:HOST` in place of `llm.query`";
    assert_eq!(result, Err(told.to_owned()));
    openai(&server, "llm.query:api.example.com").install(&home);
    let (result, _) = run(&home).await;
    let told = "and `llm.query` was granted for api.example.com only";
    assert_eq!(result, Err(format!("llm.query: openai is asked at http://{}/, {told}", server.host())));
    // The same without any secret, and at the provider's own address.
    let own = "provider: {id: openai, credentials: {access-token: literal}, settings: {model: a}}";
    agent("m")
        .asks(&["llm.query:elsewhere.example"])
        .file("cartridge.yml", own)
        .chain("c", "steps: [{id: s, ability: llm.query, args: {prompt: Hi}}]")
        .install(&home);
    let error = run(&home).await.0.unwrap_err();
    assert!(error.contains("openai is asked at https://api.openai.com/, and"), "{error}");
    assert!(server.requests().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_permission_without_a_host_sends_no_secret_wherever_it_stands() {
    let server = Server::answering(|_| completion("Hello")).await;
    let home = Home::new();
    home.vault.keep("KEY", KEY);
    home.vault.keep("GOOGLE_APPLICATION_CREDENTIALS", "/dev/null");
    let host = server.host();
    for section in [
        format!("{{id: anthropic, credentials: {{address: 'http://{host}', api-key: a, anthropic-version: ENV/KEY}}, settings: {{model: a}}}}"),
        format!("{{id: openai, credentials: {{address: 'http://{host}', access-token: a, version: ENV/KEY}}, settings: {{model: a}}}}"),
        "{id: openai, credentials: {address: ENV/KEY, access-token: a}, settings: {model: a}}".to_owned(),
        "{id: google, credentials: {service: vertex-ai-api, region: ENV/KEY}, options: {model: a}}".to_owned(),
        "{id: google, credentials: {service: vertex-ai-api, region: a, project-id: ENV/KEY}, options: {model: a}}".to_owned(),
        "{id: google, credentials: {service: vertex-ai-api, region: us-central1}, options: {model: a}}".to_owned(),
        format!("{{id: openai, credentials: {{address: 'http://{host}', access-token: a}}, settings: {{model: a, stop: [ENV/KEY]}}}}"),
    ] {
        openai(&server, "llm.query")
            .set("secrets", json!(["KEY", "GOOGLE_APPLICATION_CREDENTIALS"]))
            .file("cartridge.yml", format!("provider: {section}\n"))
            .install(&home);
        let error = run(&home).await.0.unwrap_err();
        let told = "goes only to a host that was granted by name; the manifest has to ask for `llm.query:HOST`";
        assert!(error.contains(told), "{section}: {error}");
    }
    assert!(server.requests().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn no_answer_that_repeats_a_secret_tells_it() {
    const USER: &str = "user+s3cret/of~settings";
    let logged = crate::logs::capture();
    let server = Server::answering(|request| {
        if request.contains(r#""stream":true"#) {
            return streamed(&["The key is sk-s3", "cret/Value and you are user+s3cret", "/of~settings."], "stop");
        }
        let call = json!({"id": USER, "type": "function", "function": {"name": USER, "arguments": format!("{{\"a\": \"{USER}\"}}")}});
        let said = json!({"role": "assistant", "content": format!("{KEY} {USER}"), "reasoning_content": USER, "tool_calls": [call]});
        let body = json!({"id": USER, "model": USER, "choices": [{"index": 0, "message": said, "finish_reason": USER}]});
        answer("200 OK", &body.to_string()).map(|answer| answer.replace("req_1", USER))
    })
    .await;
    let home = Home::new();
    home.vault.keep("KEY", KEY);
    home.vault.keep("USER", USER);
    let host = server.host();
    for stream in [true, false] {
        openai(&server, &format!("llm.query:{host}"))
            .set("secrets", json!(["KEY", "USER"]))
            .file("cartridge.yml", format!("provider: {{id: openai, credentials: {{address: 'http://{host}', access-token: ENV/KEY}}, settings: {{model: a, user: ENV/USER, stream: {stream}}}}}\n"))
            .install(&home);
        let (result, record) = run(&home).await;
        let said = result.unwrap();
        assert!(said.as_str().is_some_and(|said| said.contains("***")), "{said}");
        let kept = format!("{said} {record:?}");
        assert!(!kept.contains(KEY) && !kept.contains(USER), "stream: {stream}: {kept}");
    }
    assert!(!logged().contains(USER));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_had_come_of_a_cancelled_answer_tells_no_secret() {
    let server = Server::beginning(|_| streamed(&["The key is sk-s3", "cret/Value. "], "")).await;
    let home = Home::new();
    home.vault.keep("KEY", KEY);
    openai_streaming(&server).install(&home);
    let record = cancelled_when_heard(&home, &server, "The key is ***. ").await;
    assert!(!format!("{record:?}").contains(KEY), "{record:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_account_of_the_machine_goes_only_to_a_host_that_was_granted_by_name() {
    let home = Home::new();
    let cartridge = "provider: {id: google, credentials: {service: vertex-ai-api, region: us-central1, project-id: p}, \
                     options: {model: m}}";
    agent("m")
        .asks(&["llm.query"])
        .file("cartridge.yml", cartridge)
        .chain("c", "steps: [{id: s, ability: llm.query, args: {prompt: Hi}}]")
        .install(&home);
    let error = run(&home).await.0.unwrap_err();
    let told = "google: the account of this machine goes only to a host that was granted by name";
    assert!(error.contains(told), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_error_and_no_answer_tells_the_value_of_a_secret() {
    let logged = crate::logs::capture();
    let server = Server::answering(|request| match request.contains("\"model\":\"gpt-4o\"") {
        true => {
            answer("401 Unauthorized", &json!({"error": {"message": format!("bad key {KEY}")}}).to_string())
        }
        false => {
            answer("404 Not Found", &json!({"error": {"message": format!("no model {KEY}")}}).to_string())
        }
    })
    .await;
    let home = Home::new();
    home.vault.keep("KEY", KEY);
    let host = server.host();
    let with = |section: &str| {
        openai(&server, &format!("llm.query:{host}"))
            .file("cartridge.yml", format!("provider: {section}\n"))
            .install(&home);
    };
    for section in [
        &format!(
            "{{id: openai, credentials: {{address: 'http://{host}', access-token: ENV/KEY}}, settings: {{model: gpt-4o}}}}"
        ),
        &format!(
            "{{id: openai, credentials: {{address: 'http://{host}', access-token: ENV/KEY}}, settings: {{model: ENV/KEY}}}}"
        ),
        "{id: openai, credentials: {address: ENV/KEY, access-token: ENV/KEY}, settings: {model: a}}",
        "{id: google, credentials: {service: ENV/KEY, api-key: a}, options: {model: a}}",
        "{id: google, credentials: {service: vertex-ai-api, region: ENV/KEY}, options: {model: a}}",
        "{id: scripted, options: {turns: [{answer: ENV/KEY}]}}",
        "{id: scripted, options: {script: ENV/KEY}}",
    ] {
        with(section);
        let (result, record) = run(&home).await;
        let error = result.unwrap_err();
        assert!(!error.contains(KEY) && !format!("{record:?}").contains(KEY), "{section}: {error}");
    }
    assert!(!logged().contains(KEY));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_provider_section_that_cannot_work_is_told_at_install() {
    let home = Home::new();
    for (section, problem) in [
        (
            "{id: openai, credentials: {access-token: ENV/KEY}}",
            Some("cartridge.yml: openai: provider.settings has no `model`"),
        ),
        (
            "{id: openai, credentials: {access-token: ENV/KEY}, settings: {model: a, messages: []}}",
            Some("provider.settings.messages cannot be set"),
        ),
        ("{id: openai, settings: {model: a}}", Some("provider.credentials has no `access-token`")),
        (
            "{id: openai, credentials: {access-token: a}, settings: {model: a}, options: {timeout: -1}}",
            Some("provider.options.timeout must be"),
        ),
        ("{id: scripted, options: {turns: []}}", Some("`turns` is empty")),
        (
            "{id: openai, credentials: {access-token: ENV/KEY, address: ENV/KEY}, settings: {model: ENV/KEY, user: ENV/KEY}}",
            None,
        ),
        (
            "{id: google, credentials: {service: vertex-ai-api, region: us-central1}, options: {model: a}}",
            None,
        ),
        (
            "{id: google, credentials: {service: vertex-ai-api, region: us-central1, file-contents: ENV/KEY}, options: {model: a}}",
            None,
        ),
        ("{id: anthropic, credentials: {api-key: ENV/KEY}, settings: {model: a}}", None),
        ("{id: ollama, settings: {model: a}}", None),
    ] {
        let builder =
            agent("m").set("secrets", json!(["KEY"])).file("cartridge.yml", format!("provider: {section}\n"));
        let told = builder.install(&home).compile_all(home.engine.services());
        match problem {
            None => assert_eq!(told, Ok(()), "{section}"),
            Some(problem) => {
                assert!(told.as_ref().is_err_and(|told| told.contains(problem)), "{section}: {told:?}")
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_one_of_the_package_or_one_that_a_granted_secret_names() {
    let home = Home::new();
    let key_file = home.dir.path().join("account.json");
    // Too little of an account to be used, and enough to see that it was read.
    std::fs::write(&key_file, json!({"type": "service_account"}).to_string()).unwrap();
    let path = key_file.display().to_string();
    home.vault.keep("KEY_FILE", &path);
    home.vault.keep("GOOGLE_APPLICATION_CREDENTIALS", &path);
    home.vault.keep("ENV/GOOGLE_APPLICATION_CREDENTIALS", &path);
    home.vault.keep("ENV/HOME", "/root");
    let refusal = async |credentials: &str, secrets: &[&str]| {
        agent("m")
            .asks(&["llm.query:*.googleapis.com"])
            .set("secrets", json!(secrets))
            .file("cartridge.yml", format!("provider: {{id: google, credentials: {{service: vertex-ai-api, region: us-central1{credentials}}}, options: {{model: a}}}}\n"))
            .file("own.json", json!({"type": "service_account"}).to_string())
            .chain("c", "steps: [{id: s, ability: llm.query, args: {prompt: Hi}}]")
            .install(&home);
        run(&home).await.0.unwrap_err()
    };
    let read = "it is incomplete";
    for (credentials, secrets, expected) in [
        (", file-path: own.json", &[][..], read),
        (", file-path: ENV/KEY_FILE", &["KEY_FILE"], read),
        ("", &["GOOGLE_APPLICATION_CREDENTIALS"], read),
        ("", &[], "the project is not known"),
        (&format!(", file-path: {path}"), &["KEY_FILE"], "it is no file of the package"),
        (", file-path: other.json", &[], "there is no such file in the package"),
    ] {
        let error = refusal(credentials, secrets).await;
        assert!(error.contains(expected), "{credentials} {secrets:?}: {error}");
        assert!(credentials.contains(&path) || !error.contains(&path), "{error}");
    }
}
