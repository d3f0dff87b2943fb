use nb_egress::Request;

use crate::support::{Server, egress_to, ok, redirect, refusal, secret, with_header};

const VALUE: &str = "s3cret/Value+1";

#[tokio::test]
async fn a_secret_is_filled_into_headers_and_never_into_a_body() {
    let server = Server::answering(|_| ok("")).await;
    let mut request = with_header(Request::get(server.url("/")), "authorization", "Bearer {{secret.TOKEN}}");
    request.method = "POST".to_owned();
    request.body = br#"{"key":"{{ secret.TOKEN }}","broken":"{{secret."}"#.to_vec();
    request.secrets = vec![secret("TOKEN", VALUE, &["127.0.0.1"])];
    egress_to(&[&server]).fetch(request).await.unwrap();
    let sent = server.requests()[0].clone();
    assert!(sent.contains(&format!("\r\nauthorization: Bearer {VALUE}\r\n")), "{sent}");
    assert!(sent.ends_with("\r\n\r\n{\"key\":\"{{ secret.TOKEN }}\",\"broken\":\"{{secret.\"}"), "{sent}");
}

#[tokio::test]
async fn an_echoed_secret_is_masked_in_body_headers_and_url() {
    let server = Server::answering(|request| {
        if request.starts_with("GET /start ") {
            return redirect(302, "/next?key=s3cret%2FValue%2b1");
        }
        let body = format!("{VALUE} s3cret%2FValue%2B1 czNjcmV0L1ZhbHVlKzE=");
        format!("HTTP/1.1 200 OK\r\nx-echo: Bearer {VALUE}\r\ncontent-length: {}\r\n\r\n{body}", body.len())
    })
    .await;
    let mut request = with_header(Request::get(server.url("/start")), "x-key", "{{secret.TOKEN}}");
    request.secrets = vec![secret("TOKEN", VALUE, &["127.0.0.1"])];
    let response = egress_to(&[&server]).fetch(request).await.unwrap();
    assert_eq!(String::from_utf8(response.body).unwrap(), "*** *** ***");
    assert!(response.headers.contains(&("x-echo".to_owned(), "Bearer ***".to_owned())));
    assert_eq!(response.url, server.url("/next?key=***"));
}

#[tokio::test]
async fn a_secret_in_the_target_of_a_redirect_is_masked_in_the_error() {
    for target in [format!("http://{}.example/", "s3cretvalue"), "s3cretValue:x".to_owned()] {
        let server = Server::answering(move |_| redirect(302, &target)).await;
        let mut request = with_header(Request::get(server.url("/s3cretValue")), "x-key", "{{secret.TOKEN}}");
        request.secrets = vec![secret("TOKEN", "s3cretValue", &["127.0.0.1"])];
        let error = egress_to(&[&server]).fetch(request).await.unwrap_err();
        for text in [error.to_string(), format!("{error:?}")] {
            assert!(text.contains("***") && !text.to_lowercase().contains("s3cretvalue"), "{text}");
        }
    }
}

#[tokio::test]
async fn an_unknown_secret_and_one_for_another_host_send_nothing() {
    let server = Server::answering(|_| ok("")).await;
    let egress = egress_to(&[&server]);
    let mut request = with_header(Request::get(server.url("/")), "x-key", "{{secret.TOKEN}}");
    let unknown = refusal(&egress, request.clone()).await;
    assert!(unknown.starts_with("secret TOKEN is not known here"), "{unknown}");
    request.secrets = vec![secret("TOKEN", VALUE, &["api.example.com", "127.0.0.1:1"])];
    assert_eq!(
        refusal(&egress, request).await,
        "secret TOKEN may not be sent to host 127.0.0.1, only to: api.example.com, 127.0.0.1:1"
    );
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn a_secret_header_does_not_follow_a_redirect_to_another_host() {
    let other = Server::answering(|_| ok("")).await;
    let away = other.url("/");
    let server = Server::answering(move |_| redirect(302, &away)).await;
    let mut request = with_header(Request::get(server.url("/")), "x-key", "{{secret.TOKEN}}");
    // Even where the secret's scope would cover the other origin.
    request.secrets = vec![secret("TOKEN", VALUE, &["127.0.0.1"])];
    egress_to(&[&server, &other]).fetch(request).await.unwrap();
    assert!(server.requests()[0].contains(VALUE));
    assert!(!other.requests()[0].contains("x-key") && !other.requests()[0].contains(VALUE));
}

#[tokio::test]
async fn a_secret_with_a_line_break_is_refused_in_a_header_without_its_value() {
    let server = Server::answering(|_| ok("")).await;
    let mut request = with_header(Request::get(server.url("/")), "x-key", "{{secret.TOKEN}}");
    request.secrets = vec![secret("TOKEN", "hunter2hunter2\r\nx-evil: 1", &["127.0.0.1"])];
    let text = refusal(&egress_to(&[&server]), request).await;
    assert!(text.starts_with("secret TOKEN cannot be put into header `x-key`"), "{text}");
    assert!(!text.contains("hunter2"), "{text}");
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn a_secret_in_a_url_is_refused() {
    let server = Server::answering(|_| ok("")).await;
    let mut request = Request::get(server.url("/?key={{secret.TOKEN}}"));
    request.secrets = vec![secret("TOKEN", VALUE, &["127.0.0.1"])];
    let text = refusal(&egress_to(&[&server]), request).await;
    assert!(text.starts_with("a secret cannot be put into a URL"), "{text}");
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn after_a_secret_was_sent_a_compressed_answer_is_not_passed_on() {
    let server =
        Server::answering(|_| "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 2\r\n\r\nzz")
            .await;
    let mut request = with_header(Request::get(server.url("/")), "accept-encoding", "gzip");
    let plain = egress_to(&[&server]).fetch(request.clone()).await.unwrap();
    assert_eq!(plain.body, b"zz");
    request = with_header(request, "x-key", "{{secret.TOKEN}}");
    request.secrets = vec![secret("TOKEN", VALUE, &["127.0.0.1"])];
    let text = refusal(&egress_to(&[&server]), request).await;
    assert!(text.starts_with("host 127.0.0.1 sent a gzip body although none was asked for"), "{text}");
    let sent = server.requests();
    assert!(
        sent[0].contains("accept-encoding: gzip\r\n") && sent[1].contains("accept-encoding: identity\r\n")
    );
    assert!(!sent[1].contains("gzip"));
}

#[tokio::test]
async fn a_request_does_not_print_its_secrets() {
    let mut request = Request::get("https://example.com/");
    request.secrets = vec![secret("TOKEN", VALUE, &["example.com"])];
    let printed = format!("{request:?}");
    assert!(printed.contains("***") && !printed.contains(VALUE), "{printed}");
}
