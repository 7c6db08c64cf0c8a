//! Collectors behind TLS: roots and certificates of the client from the files that variables name.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use http_client::ClientOptions;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use telemetry::{Exporter, Outcome, Span, SpanId, TraceId, Tracing};
use testkit::http::{Answer, Server};

fn path(name: &str) -> String {
    format!("{}/../http_client/tests/certificates/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn certificate(name: &str) -> CertificateDer<'static> {
    CertificateDer::from_pem_file(path(name)).unwrap()
}

/// A collector that wants a certificate of its clients.
fn collector() -> Server {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut roots = RootCertStore::empty();
    roots.add(certificate("ca.pem")).unwrap();
    let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider)).build().unwrap();
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_client_cert_verifier(verifier)
        .with_single_cert(vec![certificate("server.pem")], PrivateKeyDer::from_pem_file(path("server.key")).unwrap());
    Server::secure(Arc::new(config.unwrap()), Answer::ok("{}"))
}

/// What becomes of one span, with these variables besides the endpoint.
fn export(collector: &Server, files: &[(&str, &str)]) -> std::io::Result<Option<String>> {
    let endpoint = collector.url("").replace("http:", "https:");
    let variable = |name: &str| match name.strip_prefix("OTEL_EXPORTER_OTLP_") {
        Some("ENDPOINT") => Some(endpoint.clone()),
        what => files.iter().find(|(own, _)| Some(*own) == what).map(|(_, file)| path(file)),
    };
    let settings = Tracing::from_variables(&variable, "1").settings.unwrap();
    let exporter = Exporter::start(&settings, "1", ClientOptions::default())?;
    exporter.add(Span {
        trace: TraceId::random(),
        id: SpanId::random(),
        parent: None,
        is_parent_remote: false,
        name: "one".into(),
        started: SystemTime::now(),
        ended: SystemTime::now(),
        attributes: Vec::new(),
        events: Vec::new(),
        outcome: Outcome::Ok,
    });
    Ok(exporter.finish(Duration::from_mins(1)))
}

const CLIENT: [(&str, &str); 2] = [("CLIENT_CERTIFICATE", "client.pem"), ("CLIENT_KEY", "client.key")];

#[test]
fn the_roots_and_the_certificate_of_the_variables_are_used() {
    let collector = collector();
    let all = [&CLIENT[..], &[("CERTIFICATE", "ca.pem")]].concat();
    assert_eq!(export(&collector, &all).unwrap(), None);
    assert_eq!(collector.only().path(), "/v1/traces");
}

#[test]
fn a_collector_that_does_not_prove_who_it_is_gets_nothing() {
    let collector = collector();
    let told = export(&collector, &[&CLIENT[..], &[("CERTIFICATE", "alone.pem")]].concat()).unwrap().unwrap();
    assert!(told.contains("invalid peer certificate"), "{told}");
    let told = export(&collector, &[("CERTIFICATE", "alone.pem")]).unwrap().unwrap();
    assert!(told.contains("invalid peer certificate"), "{told}");
    assert!(export(&collector, &[("CERTIFICATE", "ca.pem")]).unwrap().is_some(), "without a certificate of the client");
    assert!(collector.seen().is_empty());
}

#[test]
fn a_certificate_that_cannot_be_read_is_named() {
    let files = [("CLIENT_CERTIFICATE", "none.pem"), ("CLIENT_KEY", "client.key"), ("CERTIFICATE", "ca.pem")];
    let error = export(&collector(), &files).unwrap_err().to_string();
    assert!(error.contains("none.pem") && error.contains("No such file"), "{error}");
}
