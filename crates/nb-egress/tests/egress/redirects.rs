use std::sync::Arc;

use nb_egress::{HostScope, Request};

use crate::support::{Names, Server, egress_to, egress_with, ok, redirect, refusal, with_header};

#[tokio::test]
async fn a_redirect_to_an_address_that_is_not_public_is_refused() {
    for target in [
        "http://169.254.169.254/latest/",
        "//169.254.169.254/latest/",
        "http://0xa9fea9fe/",
        "http:\\\\169.254.169.254/",
    ] {
        let server = Server::answering(move |_| redirect(302, target)).await;
        let text = refusal(&egress_to(&[&server]), Request::get(server.url("/start?token=x"))).await;
        assert_eq!(
            text,
            format!(
                "the redirect from {} was not followed: host 169.254.169.254 is not a public address (link-local); \
                 the operator can allow it with egress.allow",
                server.url("/start")
            )
        );
    }
}

#[tokio::test]
async fn a_redirect_out_of_scope_is_refused() {
    let other = Server::answering(|_| ok("")).await;
    let away = other.url("/");
    let server = Server::answering(move |_| redirect(307, &away)).await;
    let mut request = Request::get(server.url("/"));
    request.scope = HostScope::Hosts(vec![format!("127.0.0.1:{}", server.port()).parse().unwrap()]);
    let text = refusal(&egress_to(&[&server, &other]), request).await;
    assert!(text.contains("host 127.0.0.1 is outside of what was granted"), "{text}");
    assert!(other.requests().is_empty());
}

#[tokio::test]
async fn a_redirect_to_another_scheme_or_with_a_password_is_refused() {
    for (target, expected) in [
        ("file:///etc/passwd", "`file` URLs cannot be fetched"),
        ("http://user:pass@8.8.8.8/", "holds a user name or password"),
        ("http://[", "is not a URL"),
    ] {
        let server = Server::answering(move |_| redirect(302, target)).await;
        let text = refusal(&egress_to(&[&server]), Request::get(server.url("/"))).await;
        assert!(text.starts_with("the redirect from ") && text.contains(expected), "{text}");
    }
}

#[tokio::test]
async fn a_redirect_loop_ends_at_the_limit() {
    let server = Server::answering(|_| redirect(302, "/again")).await;
    let mut request = Request::get(server.url("/"));
    request.max_redirects = 3;
    assert_eq!(
        refusal(&egress_to(&[&server]), request).await,
        format!("more than 3 redirects; the last came from {}", server.url("/again"))
    );
    assert_eq!(server.requests().len(), 4);
}

#[tokio::test]
async fn the_response_names_the_url_it_came_from() {
    let server =
        Server::answering(
            |request| {
                if request.starts_with("GET /a ") { redirect(301, "b?x=1") } else { ok("b") }
            },
        )
        .await;
    let response = egress_to(&[&server]).fetch(Request::get(server.url("/a"))).await.unwrap();
    assert_eq!((response.status, response.url), (200, server.url("/b?x=1")));
}

#[tokio::test]
async fn with_no_redirects_allowed_the_redirect_is_the_response() {
    let server = Server::answering(|_| redirect(302, "/b")).await;
    let mut request = Request::get(server.url("/a"));
    request.max_redirects = 0;
    let response = egress_to(&[&server]).fetch(request).await.unwrap();
    assert_eq!(response.status, 302);
    assert!(response.headers.contains(&("location".to_owned(), "/b".to_owned())));
}

#[tokio::test]
async fn a_3xx_that_leads_nowhere_is_the_response() {
    for answer in [
        "HTTP/1.1 302 Found\r\ncontent-length: 0\r\n\r\n".to_owned(),
        redirect(300, "/x"),
        "HTTP/1.1 304 Not Modified\r\nlocation: /x\r\n\r\n".to_owned(),
    ] {
        let server = Server::answering(move |_| answer.clone()).await;
        let response = egress_to(&[&server]).fetch(Request::get(server.url("/"))).await.unwrap();
        assert!((300..400).contains(&response.status));
    }
}

/// Method and body that arrive after a redirect with this status.
async fn after(status: u16, method: &str) -> (String, bool, bool) {
    let server = Server::answering(
        move |request| {
            if request.contains(" /a ") { redirect(status, "/b") } else { ok("") }
        },
    )
    .await;
    let mut request = with_header(Request::get(server.url("/a")), "content-type", "text/plain");
    request.method = method.to_owned();
    request.body = b"the body".to_vec();
    egress_to(&[&server]).fetch(request).await.unwrap();
    let second = server.requests()[1].clone();
    let arrived = second.split(' ').next().unwrap().to_owned();
    (arrived, second.ends_with("the body"), second.contains("content-type"))
}

#[tokio::test]
async fn a_post_becomes_a_get_without_a_body_where_the_standard_says_so() {
    let get = ("GET".to_owned(), false, false);
    for (status, method) in [(301, "POST"), (302, "POST"), (303, "POST"), (303, "PUT"), (303, "DELETE")] {
        assert_eq!(after(status, method).await, get, "{status} {method}");
    }
    for (status, method) in [(307, "POST"), (308, "POST"), (301, "PUT"), (302, "PATCH")] {
        assert_eq!(after(status, method).await, (method.to_owned(), true, true), "{status} {method}");
    }
}

#[tokio::test]
async fn credentials_stay_with_their_origin_and_do_not_come_back() {
    // a → b → a: another port is another origin.
    let names = || Arc::new(Names::default().with("a.test", &["127.0.0.1"]).with("b.test", &["127.0.0.1"]));
    let server = Server::answering(|request| {
        let line = request.lines().next().unwrap();
        let port = request.split("host: ").nth(1).and_then(|rest| rest.split([':', '\r']).nth(1)).unwrap();
        match line {
            "GET /1 HTTP/1.1" => redirect(302, "/2"),
            "GET /2 HTTP/1.1" => redirect(302, &format!("http://b.test:{port}/3")),
            "GET /3 HTTP/1.1" => redirect(302, &format!("http://a.test:{port}/4")),
            _ => ok(""),
        }
    })
    .await;
    let mut request = Request::get(server.url_as("a.test", "/1"));
    for name in ["Authorization", "Cookie", "Proxy-Authorization", "X-Other"] {
        request = with_header(request, name, "value");
    }
    egress_with(&["a.test", "b.test"], names()).fetch(request).await.unwrap();
    let has = |request: &String| {
        ["authorization: ", "cookie: ", "proxy-authorization: ", "x-other: "]
            .map(|name| request.contains(&format!("\r\n{name}")))
    };
    let seen: Vec<_> = server.requests().iter().map(has).collect();
    assert_eq!(seen, [[true; 4], [true; 4], [false, false, false, true], [false, false, false, true]]);
}
