use nb_egress::{Egress, EgressConfig, EgressError, Request};

use crate::support::{Server, egress_to, ok, refusal, with_header};

#[tokio::test]
async fn a_request_goes_out_as_it_was_given() {
    let server =
        Server::answering(|_| "HTTP/1.1 201 Created\r\ncontent-length: 2\r\nX-Two: a\r\nX-Two: b\r\n\r\nhi")
            .await;
    let mut request = with_header(Request::get(server.url("/path?q=1#part")), "X-One", "größe");
    request = with_header(with_header(request, "x-two", "1"), "x-two", "2");
    request.method = "POST".to_owned();
    request.body = b"payload".to_vec();
    let response = egress_to(&[&server]).fetch(request).await.unwrap();
    assert_eq!((response.status, response.body.as_slice()), (201, b"hi".as_slice()));
    let two: Vec<_> =
        response.headers.iter().filter(|(name, _)| name == "x-two").map(|(_, v)| v.as_str()).collect();
    assert_eq!(two, ["a", "b"]);
    let sent = server.requests()[0].clone();
    assert!(sent.starts_with("POST /path?q=1 HTTP/1.1\r\n"), "{sent}");
    for line in ["x-one: größe", "x-two: 1", "x-two: 2", "user-agent: tests", "content-length: 7"] {
        assert!(sent.contains(&format!("\r\n{line}\r\n")), "{line} in {sent}");
    }
    assert!(sent.ends_with("\r\n\r\npayload"), "{sent}");
}

#[tokio::test]
async fn nothing_is_sent_that_was_not_asked_for() {
    let server = Server::answering(|_| ok("")).await;
    egress_to(&[&server]).fetch(Request::get(server.url("/"))).await.unwrap();
    let request = server.requests()[0].clone();
    let mut names: Vec<_> = request.lines().skip(1).filter_map(|line| line.split(':').next()).collect();
    names.retain(|name| !name.is_empty());
    names.sort_unstable();
    assert_eq!(names, ["accept", "accept-encoding", "host", "user-agent"]);
}

#[tokio::test]
async fn a_cookie_is_not_kept() {
    let server =
        Server::answering(|_| "HTTP/1.1 200 OK\r\nset-cookie: a=b\r\ncontent-length: 0\r\n\r\n").await;
    let egress = egress_to(&[&server]);
    for _ in 0..2 {
        egress.fetch(Request::get(server.url("/"))).await.unwrap();
    }
    assert!(server.requests().iter().all(|request| !request.contains("cookie")));
}

#[tokio::test]
async fn a_line_break_in_a_header_is_refused_before_anything_is_sent() {
    let server = Server::answering(|_| ok("")).await;
    let egress = egress_to(&[&server]);
    for value in ["a\r\nx-evil: 1", "a\nb", "a\rb", "a\0b", "\u{7f}"] {
        let text = refusal(&egress, with_header(Request::get(server.url("/")), "x-one", value)).await;
        assert!(
            text.starts_with("the value of header `x-one` holds a line break or control character"),
            "{text}"
        );
    }
    for name in ["", "a b", "a:b", "a\r\nb", "é"] {
        let text = refusal(&egress, with_header(Request::get(server.url("/")), name, "v")).await;
        assert!(text.contains("is not a header name") && !text.contains('\n'), "{text}");
    }
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn headers_that_frame_the_message_or_choose_the_host_are_refused() {
    let server = Server::answering(|_| ok("")).await;
    for name in
        ["Host", "Content-Length", "Transfer-Encoding", "Connection", "Upgrade", "TE", "Keep-Alive", "Expect"]
    {
        let request = with_header(Request::get(server.url("/")), name, "1");
        let text = refusal(&egress_to(&[&server]), request).await;
        assert!(text.ends_with("is set by the daemon and cannot be given; leave it out"), "{text}");
    }
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn a_method_that_is_not_one_is_refused() {
    let server = Server::answering(|_| ok("")).await;
    for method in ["", "GET /x HTTP/1.1\r\nx: y\r\n", "CONNECT", "A B"] {
        let request = Request { method: method.to_owned(), ..Request::get(server.url("/")) };
        let text = refusal(&egress_to(&[&server]), request).await;
        assert!(text.contains("is not a method that can be used") && !text.contains('\n'), "{text}");
    }
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn response_headers_that_are_not_utf8_are_readable() {
    let server = Server::answering(|_| {
        b"HTTP/1.1 200 OK\r\nx-latin: gr\xfc\xdfe\r\ncontent-length: 0\r\n\r\n".to_vec()
    })
    .await;
    let response = egress_to(&[&server]).fetch(Request::get(server.url("/"))).await.unwrap();
    assert!(response.headers.contains(&("x-latin".to_owned(), "gr\u{fffd}\u{fffd}e".to_owned())));
}

#[test]
fn a_user_agent_with_a_line_break_is_refused_at_start() {
    let config = EgressConfig { user_agent: "a\r\nb".to_owned(), ..EgressConfig::default() };
    assert!(matches!(Egress::new(config).err(), Some(EgressError::UserAgent)));
}

/// Runs `a_request_goes_out_as_it_was_given` once more, in a process whose environment names a proxy that does not exist.
#[test]
fn the_proxy_of_the_environment_is_not_used() {
    let mut again = std::process::Command::new(std::env::current_exe().unwrap());
    again
        .args(["--exact", "headers::a_request_goes_out_as_it_was_given"])
        .env_remove("NO_PROXY")
        .env_remove("no_proxy");
    for name in ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"] {
        again.env(name, "http://127.0.0.1:1");
    }
    let output = again.output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && printed.contains("1 passed"), "{printed}");
}
