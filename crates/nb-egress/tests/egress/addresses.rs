use std::sync::Arc;

use nb_egress::{EgressError, HostScope, Request};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::support::{Names, Server, egress, egress_to, egress_with, ok, refusal};

#[tokio::test]
async fn a_url_that_disguises_an_address_is_refused() {
    let egress = egress::<&str>(&[]);
    let cases = [
        ("http://127.0.0.1:80#@8.8.8.8/", "127.0.0.1", "loopback"),
        ("http://127.0.0.1?@8.8.8.8/", "127.0.0.1", "loopback"),
        ("http://127.0.0.1\\@8.8.8.8/", "127.0.0.1", "loopback"),
        ("http://0x7f.1/", "127.0.0.1", "loopback"),
        ("http://2130706433/", "127.0.0.1", "loopback"),
        ("http://0177.0.0.1/", "127.0.0.1", "loopback"),
        ("http://127.1/", "127.0.0.1", "loopback"),
        ("http://%31%32%37.0.0.1/", "127.0.0.1", "loopback"),
        ("http://１２７.0.0.1/", "127.0.0.1", "loopback"),
        ("http://127.0.0.1./", "127.0.0.1", "loopback"),
        ("http://12\n7.0.0.1/", "127.0.0.1", "loopback"),
        ("http:/\\127.0.0.1/", "127.0.0.1", "loopback"),
        ("http:127.0.0.1/", "127.0.0.1", "loopback"),
        ("http://0/", "0.0.0.0", "unspecified"),
        ("http://[::ffff:127.0.0.1]/", "[::ffff:7f00:1]", "IPv4-mapped"),
        ("http://[::]/", "[::]", "unspecified"),
        ("http://[64:ff9b::a9fe:a9fe]/", "[64:ff9b::a9fe:a9fe]", "NAT64"),
        ("https://169.254.169.254/latest/meta-data/", "169.254.169.254", "link-local"),
    ];
    for (url, host, kind) in cases {
        let expected = format!(
            "host {host} is not a public address ({kind}); the operator can allow it with egress.allow"
        );
        assert_eq!(refusal(&egress, Request::get(url)).await, expected, "{url}");
    }
}

#[tokio::test]
async fn a_name_is_refused_when_any_of_its_addresses_is_not_public() {
    let names = Names::default()
        .with("private.example", &["10.0.0.1"])
        .with("both.example", &["8.8.8.8", "192.168.0.1"])
        .with("both6.example", &["2606:4700:4700::1111", "::1"]);
    let egress = egress_with::<&str>(&[], Arc::new(names));
    for (url, address, kind) in [
        ("http://private.example/", "10.0.0.1", "private"),
        ("http://both.example/", "192.168.0.1", "private"),
        ("https://both6.example/", "::1", "loopback"),
    ] {
        let text = refusal(&egress, Request::get(url)).await;
        let expected = format!("leads to {address}, which is not a public address ({kind})");
        assert!(text.contains(&expected), "{url}: {text}");
    }
}

#[tokio::test]
async fn the_name_localhost_is_refused_with_the_resolver_of_the_machine() {
    let egress = nb_egress::Egress::new(nb_egress::EgressConfig::default()).unwrap();
    let error = egress.fetch(Request::get("http://localhost/")).await.unwrap_err();
    assert!(matches!(error, EgressError::ResolvesToNotPublic { reason: "loopback", .. }), "{error}");
}

#[tokio::test]
async fn an_allowed_address_is_reached_on_its_port_and_no_other() {
    let open = Server::answering(|_| ok("open")).await;
    let closed = Server::answering(|_| ok("closed")).await;
    let egress = egress_to(&[&open]);
    assert_eq!(egress.fetch(Request::get(open.url("/"))).await.unwrap().body, b"open");
    let text = refusal(&egress, Request::get(closed.url("/"))).await;
    assert!(text.contains("is not a public address (loopback)"), "{text}");
    assert!(closed.requests().is_empty());
}

#[tokio::test]
async fn a_rule_for_an_address_does_not_open_names_that_lead_to_it() {
    let server = Server::answering(|_| ok("")).await;
    let names = Names::default().with("rebind.example", &["127.0.0.1"]);
    let egress = egress_with(&["127.0.0.1"], Arc::new(names));
    refusal(&egress, Request::get(server.url_as("rebind.example", "/"))).await;
    refusal(&egress, Request::get(server.url_as("[::ffff:127.0.0.1]", "/"))).await;
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn a_name_is_looked_up_once_and_the_answer_is_connected_to() {
    let server = Server::answering(|_| ok("here")).await;
    let names = Arc::new(Names::default().with("nas.local", &["127.0.0.1"]));
    let egress = egress_with(&["nas.local"], names.clone());
    let response = egress.fetch(Request::get(server.url_as("nas.local", "/x"))).await.unwrap();
    assert_eq!(response.body, b"here");
    assert_eq!(names.asked(), ["nas.local"]);
    assert!(server.requests()[0].contains(&format!("host: nas.local:{}\r\n", server.port())));
}

#[tokio::test]
async fn an_open_connection_is_used_again() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    // One connection for two requests: a second one would never be answered.
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        for body in ["first", "again"] {
            let mut request = [0; 4096];
            assert!(stream.read(&mut request).await.unwrap() > 0);
            stream.write_all(ok(body).as_bytes()).await.unwrap();
        }
    });
    let egress = egress(&[address.to_string()]);
    for body in ["first", "again"] {
        let response = egress.clone().fetch(Request::get(format!("http://{address}/"))).await.unwrap();
        assert_eq!(response.body, body.as_bytes());
    }
}

#[tokio::test]
async fn a_second_address_is_tried_when_the_first_does_not_answer() {
    let server = Server::answering(|_| ok("second")).await;
    let names = Arc::new(Names::default().with("nas.local", &["127.0.0.2", "127.0.0.1"]));
    let egress = egress_with(&["nas.local"], names);
    let response = egress.fetch(Request::get(server.url_as("nas.local", "/"))).await.unwrap();
    assert_eq!(response.body, b"second");
}

#[tokio::test]
async fn a_host_out_of_scope_is_refused_before_it_is_looked_up() {
    let names = Arc::new(Names::default().with("evil.example", &["8.8.8.8"]));
    let egress = egress_with::<&str>(&[], names.clone());
    let mut request = Request::get("https://evil.example/");
    request.scope =
        HostScope::Hosts(vec!["*.example.com".parse().unwrap(), "b.example:8443".parse().unwrap()]);
    assert_eq!(
        refusal(&egress, request.clone()).await,
        "host evil.example is outside of what was granted: *.example.com, b.example:8443"
    );
    request.scope = HostScope::Hosts(Vec::new());
    assert_eq!(refusal(&egress, request).await, "host evil.example is outside of what was granted: no host");
    assert!(names.asked().is_empty());
}

#[tokio::test]
async fn the_scope_does_not_replace_the_address_check() {
    let mut request = Request::get("http://127.0.0.1/");
    request.scope = HostScope::Hosts(vec!["127.0.0.1".parse().unwrap()]);
    let text = refusal(&egress::<&str>(&[]), request).await;
    assert!(text.contains("is not a public address"), "{text}");
}

#[tokio::test]
async fn a_name_without_an_address_is_said_to_be_not_found() {
    let egress = egress_with::<&str>(&[], Arc::new(Names::default().with("empty.example", &[])));
    assert_eq!(
        refusal(&egress, Request::get("https://nowhere.example/")).await,
        "host nowhere.example was not found: no such name"
    );
    assert_eq!(
        refusal(&egress, Request::get("https://empty.example/")).await,
        "host empty.example was not found: the name has no address"
    );
}

#[tokio::test]
async fn what_is_not_an_http_url_is_refused() {
    let egress = egress::<&str>(&[]);
    for (url, expected) in [
        ("file:///etc/passwd", "`file` URLs cannot be fetched; use http or https"),
        ("ftp://example.com/", "`ftp` URLs cannot be fetched; use http or https"),
        ("gopher://127.0.0.1:6379/_x", "`gopher` URLs cannot be fetched; use http or https"),
        ("data:text/plain,x", "`data` URLs cannot be fetched; use http or https"),
        ("/path", "`/path` is not a URL that can be fetched: relative URL without a base"),
        ("", "`` is not a URL that can be fetched: relative URL without a base"),
        ("http://", "`http://` is not a URL that can be fetched: empty host"),
        ("http://a b/", "`http://a b/` is not a URL that can be fetched: invalid international domain name"),
    ] {
        assert_eq!(refusal(&egress, Request::get(url)).await, expected, "{url}");
    }
}

#[tokio::test]
async fn a_user_name_or_password_in_a_url_is_refused_and_not_repeated() {
    for url in
        ["https://user:hunter2@example.com/", "https://hunter2@example.com/", "https://:hunter2@example.com/"]
    {
        let text = refusal(&egress::<&str>(&[]), Request::get(url)).await;
        assert!(text.starts_with("the URL for host example.com holds a user name or password"), "{text}");
        assert!(!text.contains("hunter2"), "{text}");
    }
}

#[tokio::test]
async fn refusals_can_be_told_from_failures() {
    let egress = egress::<&str>(&[]);
    assert!(egress.fetch(Request::get("http://10.0.0.1/")).await.unwrap_err().is_refusal());
    assert!(!egress.fetch(Request::get("http://nowhere.example/")).await.unwrap_err().is_refusal());
}
