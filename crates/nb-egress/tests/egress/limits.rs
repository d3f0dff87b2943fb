use std::time::Duration;

use nb_egress::{EgressError, Request};
use tokio::io::AsyncWriteExt;

use crate::support::{Server, egress, egress_to, ok, refusal};

fn capped(server: &Server, cap: u64) -> Request {
    Request { max_bytes: cap, timeout: Duration::from_secs(20), ..Request::get(server.url("/")) }
}

const TOO_LARGE: &str = "the response of host 127.0.0.1 is larger than the limit of 1000 bytes";

#[tokio::test]
async fn a_body_of_exactly_the_limit_passes_and_one_more_byte_does_not() {
    for chunked in [false, true] {
        for (size, passes) in [(0, true), (1000, true), (1001, false)] {
            let body = "x".repeat(size);
            let server = Server::answering(move |_| match chunked {
                true if body.is_empty() => {
                    "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n".to_owned()
                }
                true => format!(
                    "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n{:x}\r\n{body}\r\n0\r\n\r\n",
                    body.len()
                ),
                false => ok(&body),
            })
            .await;
            let answer = egress_to(&[&server]).fetch(capped(&server, 1000)).await;
            match answer {
                Ok(response) => assert!(passes && response.body.len() == size),
                Err(error) => assert!(!passes && error.to_string() == TOO_LARGE, "{error}"),
            }
        }
    }
}

#[tokio::test]
async fn an_announced_body_over_the_limit_is_not_waited_for() {
    // The server never sends it: only the announcement can end this before the timeout.
    let server = Server::talking(|mut stream, _| async move {
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 99999999999\r\n\r\n").await?;
        std::future::pending().await
    })
    .await;
    assert_eq!(refusal(&egress_to(&[&server]), capped(&server, 1000)).await, TOO_LARGE);
}

#[tokio::test]
async fn an_endless_body_ends_at_the_limit() {
    for head in ["transfer-encoding: chunked", "connection: close"] {
        let server = Server::talking(move |mut stream, _| async move {
            stream.write_all(format!("HTTP/1.1 200 OK\r\n{head}\r\n\r\n").as_bytes()).await?;
            loop {
                stream.write_all(b"10\r\n0123456789abcdef\r\n").await?;
            }
        })
        .await;
        assert_eq!(refusal(&egress_to(&[&server]), capped(&server, 1000)).await, TOO_LARGE);
    }
}

#[tokio::test]
async fn a_length_that_says_too_little_ends_the_body_there() {
    let server =
        Server::answering(|_| format!("HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\n{}", "x".repeat(5000)))
            .await;
    let response = egress_to(&[&server]).fetch(capped(&server, 1000)).await.unwrap();
    assert_eq!(response.body, b"xxxx");
}

#[tokio::test]
async fn a_compressed_body_is_left_as_it_is() {
    let server = Server::answering(
        |_| "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 14\r\n\r\nnot gzip at al",
    )
    .await;
    let response = egress_to(&[&server]).fetch(capped(&server, 1000)).await.unwrap();
    assert_eq!(response.body, b"not gzip at al");
    assert!(server.requests()[0].contains("\r\naccept-encoding: identity\r\n"));
}

#[tokio::test]
async fn the_answer_to_head_may_announce_more_than_the_limit() {
    let server = Server::answering(|_| "HTTP/1.1 200 OK\r\ncontent-length: 5000\r\n\r\n").await;
    let mut request = capped(&server, 1000);
    request.method = "HEAD".to_owned();
    let response = egress_to(&[&server]).fetch(request).await.unwrap();
    assert!(response.body.is_empty());
    assert!(response.headers.contains(&("content-length".to_owned(), "5000".to_owned())));
}

#[tokio::test]
async fn one_timeout_covers_the_head_the_body_and_all_redirects() {
    for answer in [
        "",
        "HTTP/1.1 200 OK\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf",
        "HTTP/1.1 100 Continue\r\n\r\n",
    ] {
        let server = Server::talking(move |mut stream, _| async move {
            stream.write_all(answer.as_bytes()).await?;
            std::future::pending().await
        })
        .await;
        let request = Request { timeout: Duration::from_millis(80), ..Request::get(server.url("/")) };
        assert_eq!(
            refusal(&egress_to(&[&server]), request).await,
            "no complete answer from host 127.0.0.1 within 80ms, redirects and body included",
            "{answer}"
        );
    }
}

#[tokio::test]
async fn a_peer_that_drips_does_not_extend_the_timeout() {
    let server = Server::talking(|mut stream, _| async move {
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n").await?;
        let mut tick = tokio::time::interval(Duration::from_millis(5));
        loop {
            tick.tick().await;
            stream.write_all(b"x").await?;
        }
    })
    .await;
    let request = Request { timeout: Duration::from_millis(80), ..Request::get(server.url("/")) };
    let error = egress_to(&[&server]).fetch(request).await.unwrap_err();
    assert!(matches!(error, EgressError::Timeout { .. }), "{error}");
}

#[tokio::test]
async fn a_peer_that_closes_inside_the_body_is_an_error_with_the_figure() {
    let server = Server::answering(|_| "HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n0123456789").await;
    let text = refusal(&egress_to(&[&server]), Request::get(server.url("/"))).await;
    assert!(
        text.starts_with("the connection to host 127.0.0.1 broke after 10 bytes of the body: "),
        "{text}"
    );

    let chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\na\r\n0123456789\r\n";
    let server = Server::answering(move |_| chunked).await;
    let text = refusal(&egress_to(&[&server]), Request::get(server.url("/"))).await;
    assert!(
        text.starts_with("the connection to host 127.0.0.1 broke after 10 bytes of the body: "),
        "{text}"
    );
}

#[tokio::test]
async fn what_is_not_http_is_said_to_be_so() {
    let garbage: [&[u8]; 6] = [
        b"SSH-2.0-OpenSSH_9.9\r\n",
        b"\x00\xff\xfe\x15\x03\x01",
        b"",
        b"HTTP/9.9 200 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\ncontent-length: -5\r\n\r\nhello",
    ];
    for bytes in garbage {
        let server = Server::answering(move |_| bytes).await;
        let text = refusal(&egress_to(&[&server]), Request::get(server.url("/"))).await;
        assert!(text.starts_with("host 127.0.0.1 did not answer with HTTP: "), "{bytes:?}: {text}");
    }
}

#[tokio::test]
async fn an_endless_head_is_an_error() {
    let server = Server::talking(|mut stream, _| async move {
        stream.write_all(b"HTTP/1.1 200 OK\r\n").await?;
        loop {
            stream.write_all(b"x-filler: 0123456789\r\n").await?;
        }
    })
    .await;
    let text = refusal(&egress_to(&[&server]), capped(&server, 1000)).await;
    assert!(text.starts_with("host 127.0.0.1 did not answer with HTTP: "), "{text}");
}

#[tokio::test]
async fn a_port_where_nobody_listens_is_said_to_refuse() {
    // Bound and given back: nothing listens there now.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let text = refusal(&egress(&["127.0.0.1"]), Request::get(format!("http://127.0.0.1:{port}/"))).await;
    assert!(text.starts_with("cannot connect to host 127.0.0.1: Connection refused"), "{text}");
}
