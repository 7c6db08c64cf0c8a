//! TLS: own roots, own certificates, and servers that must not be believed. `tests/certificates/make` made the files.

use crate::{failure, get, send};
use http_client::{ClientOptions, ClientTls, HttpError, Request};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use std::sync::Arc;
use std::time::Duration;
use testkit::http::{Answer, Server};

fn file(name: &str) -> Vec<u8> {
    std::fs::read(format!("{}/tests/certificates/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// A server with the certificate of that name, which wants one of the client if `asks` says so.
fn server(name: &str, asks: bool) -> Server {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder =
        ServerConfig::builder_with_provider(Arc::clone(&provider)).with_safe_default_protocol_versions().unwrap();
    let certificate = CertificateDer::from_pem_slice(&file(&format!("{name}.pem"))).unwrap();
    let key = PrivateKeyDer::from_pem_slice(&file(&format!("{name}.key"))).unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(&file("ca.pem")).unwrap()).unwrap();
    let config = if asks {
        let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build().unwrap();
        builder.with_client_cert_verifier(verifier)
    } else {
        builder.with_no_client_auth()
    };
    let config = config.with_single_cert(vec![certificate], key).unwrap();
    Server::secure(Arc::new(config), Answer::ok("secret"))
}

fn request(server: &Server, ca: Option<&str>) -> Request {
    let tls = ClientTls { cert: file("client.pem"), key: file("client.key"), ca: ca.map(file) };
    Request { tls: Some(Arc::new(tls)), ..get(&server.url("/").replace("http:", "https:")) }
}

#[test]
fn a_client_shows_its_certificate_to_a_server_of_its_own_roots() {
    let server = server("server", true);
    let client = crate::client();
    for _ in 0..2 {
        let response = client.send(&request(&server, Some("ca.pem")), &http_client::Stop::never()).unwrap();
        assert_eq!(response.body, b"secret");
    }
    assert_eq!(server.seen().iter().map(|seen| seen.connection).collect::<Vec<_>>(), [0, 0]);
    let without = Request { tls: None, ..request(&server, None) };
    assert!(failure(&without).starts_with("request failed after 1 attempts"));
}

#[test]
fn servers_that_do_not_prove_who_they_are_get_no_request() {
    for (name, ca, reason) in [
        ("server", None, "UnknownIssuer"),
        ("alone", Some("ca.pem"), "CaUsedAsEndEntity"),
        ("server", Some("alone.pem"), "UnknownIssuer"),
        ("other", Some("ca.pem"), "not valid for name"),
        ("expired", Some("expired.pem"), "expired"),
    ] {
        let server = server(name, false);
        let message = failure(&request(&server, ca));
        assert!(message.contains("invalid peer certificate") && message.contains(reason), "{name} {ca:?}: {message}");
        assert_eq!(server.seen().len(), 0, "{name} {ca:?}");
    }
}

#[test]
fn a_root_may_be_the_servers_own_certificate() {
    let alone = server("alone", false);
    assert_eq!(send(&request(&alone, Some("alone.pem"))).unwrap().body, b"secret");
    let wrong_name = alone.url("/").replace("http://127.0.0.1", "https://localhost");
    let message = failure(&Request { url: wrong_name, ..request(&alone, Some("alone.pem")) });
    assert!(message.contains("not valid for name"), "{message}");
}

#[test]
fn certificates_that_are_none_fail_before_anything_is_sent() {
    let server = server("server", false);
    let pem = |cert: &[u8], key: &[u8], ca: Option<&[u8]>| {
        let tls = ClientTls { cert: cert.to_vec(), key: key.to_vec(), ca: ca.map(<[u8]>::to_vec) };
        Request { tls: Some(Arc::new(tls)), retry: 3, ..request(&server, None) }
    };
    let (cert, key) = (file("client.pem"), file("client.key"));
    for (request, start) in [
        (pem(b"junk", &key, None), "cert: it holds no certificate"),
        (pem(&cert, b"junk", None), "key: it holds no private key"),
        (pem(&cert, &file("server.key"), None), "cert: "),
        (pem(&cert, &key, Some(b"")), "ca: it holds no certificate"),
        (pem(&cert, &key, Some(&key)), "ca: it holds no certificate"),
    ] {
        let error = send(&request).unwrap_err();
        assert!(matches!(error, HttpError::InvalidTls { .. }), "{error}");
        assert!(error.to_string().starts_with(start), "{error}");
    }
    assert_eq!(server.seen().len(), 0);
}

#[test]
fn a_server_without_tls_is_told_within_the_timeout() {
    let plain = Server::answers(vec![Answer::ok("plain")]);
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    for place in [plain.address, silent.local_addr().unwrap()] {
        let request = Request { timeout: Duration::from_millis(600), ..get(&format!("https://{place}/")) };
        assert!(failure(&request).starts_with("request failed after 1 attempts"));
    }
}

#[test]
fn the_roots_of_the_environment_are_trusted() {
    let server = server("server", false);
    let root_file = Some(format!("{}/tests/certificates/ca.pem", env!("CARGO_MANIFEST_DIR")).into());
    let request = Request { tls: None, ..request(&server, None) };
    let stop = http_client::Stop::never();
    let client = http_client::Client::new(ClientOptions { root_file, ..ClientOptions::default() });
    assert_eq!(client.send(&request, &stop).unwrap().body, b"secret");
    let client =
        http_client::Client::new(ClientOptions { root_file: Some("/nowhere".into()), ..ClientOptions::default() });
    let message = client.send(&request, &stop).unwrap_err().to_string();
    assert!(message.starts_with("SSL_CERT_FILE"), "{message}");
    // Without encryption there is nothing to be believed.
    let plain = Server::answers(vec![Answer::ok("plain")]);
    assert_eq!(client.send(&get(&plain.url("/")), &stop).unwrap().body, b"plain");
}
