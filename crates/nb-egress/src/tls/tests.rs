use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, TcpListener};
use std::sync::{Arc, LazyLock};
use std::time::Instant;

use futures_util::future::BoxFuture;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::*;
use crate::{Egress, EgressConfig, Request, Resolve};

/// A certificate that signs itself, for the name `tls.test`, and its key. Made anew in each run of the tests.
struct Own {
    certificate: Vec<u8>,
    key: Vec<u8>,
}

static OWN: LazyLock<Own> = LazyLock::new(|| {
    let made = rcgen::generate_simple_self_signed(["tls.test".to_owned()]).unwrap();
    Own { certificate: made.cert.der().to_vec(), key: made.signing_key.serialize_der() }
});

/// Every name is this machine.
struct Here;

impl Resolve for Here {
    fn resolve(&self, _: &str) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        Box::pin(std::future::ready(Ok(vec![IpAddr::V4(Ipv4Addr::LOCALHOST)])))
    }
}

/// Answers one request over TLS; its port.
fn server(answer: &'static str) -> u16 {
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(OWN.key.clone()));
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![CertificateDer::from(OWN.certificate.clone())], key)
        .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || -> io::Result<()> {
        let (stream, _) = listener.accept()?;
        let mut stream = StreamOwned::new(ServerConnection::new(Arc::new(config)).unwrap(), stream);
        let mut request = [0; 4096];
        if stream.read(&mut request)? > 0 {
            stream.write_all(answer.as_bytes())?;
        }
        stream.conn.send_close_notify();
        stream.flush()
    });
    port
}

async fn fetch(tls: Tls, url: String) -> Result<crate::Response, String> {
    let allow =
        vec!["tls.test".parse().unwrap(), "other.test".parse().unwrap(), "127.0.0.1".parse().unwrap()];
    let egress =
        Egress::assemble(EgressConfig { allow, ..EgressConfig::default() }, Arc::new(Here), tls).unwrap();
    egress.fetch(Request::get(url)).await.map_err(|error| error.to_string())
}

const OK: &str = "HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nsecure";

#[tokio::test]
async fn https_works_with_a_trusted_certificate() {
    let url = format!("https://tls.test:{}/", server(OK));
    let response = fetch(Tls::trusting(&[&OWN.certificate]), url).await.unwrap();
    assert_eq!((response.status, response.body.as_slice()), (200, b"secure".as_slice()));
}

#[tokio::test]
async fn a_certificate_of_a_stranger_is_refused_in_words() {
    let port = server(OK);
    let error = fetch(Tls::trusting(&[]), format!("https://tls.test:{port}/")).await.unwrap_err();
    assert_eq!(
        error,
        "no secure connection to host tls.test: its certificate was not issued by an authority that this machine trusts"
    );
}

#[tokio::test]
async fn a_certificate_for_another_name_is_refused_in_words() {
    for host in ["other.test", "127.0.0.1"] {
        let url = format!("https://{host}:{}/", server(OK));
        let error = fetch(Tls::trusting(&[&OWN.certificate]), url).await.unwrap_err();
        assert_eq!(
            error,
            format!("no secure connection to host {host}: its certificate is for another name")
        );
    }
}

#[tokio::test]
async fn a_server_that_does_not_speak_tls_is_an_error_of_the_secure_connection() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || listener.accept().and_then(|(mut stream, _)| stream.write_all(OK.as_bytes())));
    let error =
        fetch(Tls::trusting(&[&OWN.certificate]), format!("https://tls.test:{port}/")).await.unwrap_err();
    assert!(error.starts_with("no secure connection to host tls.test: "), "{error}");
}

#[tokio::test]
async fn a_redirect_from_https_to_http_is_not_followed() {
    let port =
        server("HTTP/1.1 302 Found\r\nlocation: http://tls.test/plain?x=1\r\ncontent-length: 0\r\n\r\n");
    let error = fetch(Tls::trusting(&[&OWN.certificate]), format!("https://tls.test:{port}/a?x=1"))
        .await
        .unwrap_err();
    assert_eq!(
        error,
        format!(
            "https://tls.test:{port}/a redirects from https to http, to host tls.test; this is never followed"
        )
    );
}

#[tokio::test]
async fn authorities_are_loaded_late() {
    let tls = Tls::new().unwrap();
    assert!(tls.for_https.get().is_none());
    let begin = Instant::now();
    match tls.for_https().await {
        Ok(_) => println!("authorities loaded in {:?}", begin.elapsed()),
        Err(error) => assert!(matches!(error, EgressError::NoAuthorities { .. }), "{error}"),
    }
}
