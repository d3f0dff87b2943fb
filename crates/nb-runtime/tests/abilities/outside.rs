//! The abilities that leave the machine.

use chrono::Duration;
use nb_runtime::record::RunEvent;
use nb_store::RunStatus;
use serde_json::{Value, json};

use super::{Probe, SECRET};
use crate::common::{Home, agent, at, task};
use crate::server::{Server, ok};

#[tokio::test]
async fn data_fetch_url_gives_the_text_and_a_failure_is_a_failure() {
    let server = Server::answering(|request| {
        let missing =
            "HTTP/1.1 404 Not Found\r\nconnection: close\r\ncontent-length: 4\r\n\r\ngone".to_owned();
        if request.starts_with("GET /there ") { ok("hello") } else { Some(missing) }
    })
    .await;
    let mut probe = Probe::granted(&format!("data.fetch_url:{}", server.host()));
    assert_eq!(probe.call("data.fetch_url", json!({"url": server.url("/there")})).await, Ok(json!("hello")));
    let error = probe.refusal("data.fetch_url", json!({"url": server.url("/x")})).await;
    assert_eq!(error, format!("data.fetch_url: {} answered 404", server.url("/x")));
    let error = probe.refusal("data.fetch_url", json!({"url": "file:///etc/passwd"})).await;
    assert_eq!(error, "data.fetch_url: `file` URLs cannot be fetched; use http or https");
}

#[tokio::test]
async fn http_fetch_sends_method_headers_and_body_and_gives_the_whole_answer() {
    let server = Server::answering(|_| {
        Some("HTTP/1.1 418 Teapot\r\nx-a: b\r\nconnection: close\r\ncontent-length: 2\r\n\r\nhi".to_owned())
    })
    .await;
    let mut probe = Probe::granted(&format!("http.fetch:{}", server.host()));
    let args = json!({"url": server.url("/p"), "method": "PUT", "headers": {"x-n": 7}, "body": {"a": [1]}});
    let answer = probe.call("http.fetch", args).await.unwrap();
    assert_eq!(
        (&answer["status"], &answer["body"], &answer["headers"]["x-a"]),
        (&json!(418), &json!("hi"), &json!("b"))
    );
    let sent = server.requests().remove(0);
    assert!(sent.starts_with("PUT /p ") && sent.ends_with("\r\n\r\n{\"a\":[1]}"), "{sent}");
    assert!(sent.contains("x-n: 7\r\n") && sent.contains("content-type: application/json\r\n"), "{sent}");
}

#[tokio::test]
async fn http_fetch_gives_a_body_that_is_no_text_as_base64_too() {
    let server = Server::answering(|_| ok("café")).await;
    let mut probe = Probe::granted(&format!("http.fetch:{}", server.host()));
    let answer = probe.call("http.fetch", json!({"url": server.url("/")})).await.unwrap();
    assert_eq!((&answer["body"], &answer["body_base64"]), (&json!("café"), &Value::Null));
    let bytes = Server::answering_bytes(b"\xff\x00bin").await;
    let mut probe = Probe::granted(&format!("http.fetch:{}", bytes.host()));
    let answer = probe.call("http.fetch", json!({"url": bytes.url("/")})).await.unwrap();
    assert_eq!((&answer["body"], &answer["body_base64"]), (&json!("\u{fffd}\0bin"), &json!("/wBiaW4=")));
}

#[tokio::test]
async fn http_fetch_reaches_granted_hosts_only_also_by_a_redirect() {
    let other = Server::answering(|_| ok("private")).await;
    let away = other.url("/");
    let server = Server::answering(move |_| {
        Some(format!(
            "HTTP/1.1 302 Found\r\nlocation: {away}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
        ))
    })
    .await;
    let mut probe = Probe::granted(&format!("http.fetch:{}", server.host()));
    let error = probe.refusal("http.fetch", json!({"url": other.url("/")})).await;
    let out_of_scope = format!("host 127.0.0.1 is outside of what was granted: {}", server.host());
    assert_eq!(error, format!("http.fetch: {out_of_scope}"));
    let refused =
        |event: &RunEvent| matches!(event, RunEvent::HostCall { error: Some(e), .. } if *e == error);
    assert!(probe.record().iter().any(refused), "{:?}", probe.record());
    let error = probe.refusal("http.fetch", json!({"url": server.url("/go")})).await;
    let words =
        format!("http.fetch: the redirect from {} was not followed: {out_of_scope}", server.url("/go"));
    assert_eq!(error, words);
    assert!(other.requests().is_empty());
}

#[tokio::test]
async fn http_fetch_sends_a_secret_and_shows_it_to_nobody() {
    let logged = crate::logs::capture();
    let server = Server::answering(|request| {
        let echo = request.lines().find(|line| line.starts_with("x-key: ")).unwrap_or_default().to_owned();
        ok(&format!("{echo} czNjcmV0L1ZhbHVlKzE="))
    })
    .await;
    let mut probe = Probe::granted_with_secret(&format!("http.fetch:{}", server.host()));
    let headers = json!({"x-key": "{{secret.TOKEN}}"});
    let args =
        json!({"url": server.url("/"), "method": "POST", "headers": headers, "body": "{{secret.TOKEN}}"});
    let answer = probe.call("http.fetch", args).await.unwrap();
    assert!(server.requests()[0].contains(&format!("x-key: {SECRET}\r\n")));
    assert!(!server.requests()[0].replacen(SECRET, "", 1).contains(SECRET), "not into the body");
    assert_eq!(answer["body"], json!("x-key: *** ***"));
    assert!(!probe.stored().contains(SECRET) && probe.stored().contains("{{secret.TOKEN}}"));

    let refused = json!({"url": "http://127.0.0.1:1/", "headers": headers});
    let mut everywhere = Probe::granted_with_secret("http.fetch");
    let error = everywhere.refusal("http.fetch", refused).await;
    assert!(error.starts_with("http.fetch: secret TOKEN may not be sent to host 127.0.0.1"), "{error}");
    let unknown = json!({"url": server.url("/"), "headers": {"x-key": "{{secret.OTHER}}"}});
    let error = probe.refusal("http.fetch", unknown).await;
    assert!(error.starts_with("http.fetch: secret OTHER is not known here"), "{error}");
    let broken = json!({"url": "http://127.0.0.1:1/", "headers": headers});
    let error = Probe::granted_with_secret("http.fetch:127.0.0.1").refusal("http.fetch", broken).await;
    assert!(error.starts_with("http.fetch: cannot connect to host 127.0.0.1"), "{error}");
    for text in [error, probe.stored(), everywhere.stored(), logged()] {
        assert!(!text.contains(SECRET), "{text}");
    }
}

#[tokio::test]
async fn http_fetch_sends_no_secret_that_nobody_granted() {
    let server = Server::answering(|_| ok("")).await;
    let hosts = format!("http.fetch:{}", server.host());
    let args = json!({"url": server.url("/"), "headers": {"x-key": "{{secret.TOKEN}}"}});
    for grants in [vec![], vec!["secret.use:OTHER"], vec!["secret.use"], vec!["secret.use:token"]] {
        let grants: Vec<&str> = grants.into_iter().chain([hosts.as_str()]).collect();
        assert_eq!(
            Probe::new(&[&hosts], &grants).refusal("http.fetch", args.clone()).await,
            "http.fetch: permission `secret.use:TOKEN` was not granted to probe; install it again and grant it"
        );
    }
    let mut probe = Probe::granted_with_secret(&hosts);
    probe.home.vault.forget("TOKEN");
    let error = probe.refusal("http.fetch", args).await;
    assert!(error.starts_with("http.fetch: secret TOKEN has no value that can be used"), "{error}");
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn http_fetch_refuses_an_answer_above_ten_mebibytes() {
    let server = Server::answering(|_| {
        Some(format!("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {}\r\n\r\n", (10 << 20) + 1))
    })
    .await;
    let mut probe = Probe::granted("http.fetch:127.0.0.1");
    let error = probe.refusal("http.fetch", json!({"url": server.url("/")})).await;
    assert_eq!(
        error,
        "http.fetch: the response of host 127.0.0.1 is larger than the limit of 10485760 bytes"
    );
}

#[tokio::test]
async fn over_its_calls_for_the_hour_an_agent_sends_nothing_more() {
    let server = Server::answering(|_| ok("")).await;
    let home = Home::new();
    let steps = format!("steps: [{{id: f, ability: http.fetch, args: {{url: \"{}\"}}}}]", server.url("/"));
    agent("a")
        .asks(&["http.fetch"])
        .set("resources", json!({"max_api_calls_per_hour": 2}))
        .chain("c", &steps)
        .install(&home);
    home.world.set(at("10:59:59"));
    for _ in 0..2 {
        assert_eq!(home.run("a", task("c"), json!({})).await.status, RunStatus::Completed);
    }
    let third = home.run("a", task("c"), json!({})).await;
    let reason = "http.fetch: out of calls for this hour: 2 allowed (resources.max_api_calls_per_hour), this would be number 3";
    assert_eq!(third.error, Some(format!("step `f`: {reason}")));
    let record = home.record(&third.id);
    let refused =
        |event: &RunEvent| matches!(event, RunEvent::HostCall { error: Some(error), .. } if error == reason);
    assert!(record.iter().any(refused), "{record:?}");
    assert!(
        !record.iter().any(|event| matches!(event, RunEvent::HostBegun { .. })),
        "nothing began: {record:?}"
    );
    home.world.advance(Duration::seconds(1));
    assert_eq!(home.run("a", task("c"), json!({})).await.status, RunStatus::Completed, "the next hour");
    assert_eq!(server.requests().len(), 3);
}
