//! `cert`, `key` and `ca`: which go together, and where they may lie. That they work is shown in `http_client`.

use crate::scene::Scene;

fn error(arguments: &str) -> String {
    let certificates = format!("{}/../http_client/tests/certificates", env!("CARGO_MANIFEST_DIR"));
    let read = |name: &str| std::fs::read_to_string(format!("{certificates}/{name}")).unwrap();
    Scene::new("", &format!("http.get(\"https://127.0.0.1:9/\", {arguments})"))
        .file("tls/client.pem", read("client.pem"))
        .file("tls/client.key", read("client.key"))
        .file("tls/ca.pem", read("ca.pem"))
        .file("tls/junk.pem", "junk")
        .error()
}

#[test]
fn files_that_do_not_go_together_are_refused() {
    let (cert, key, ca) = ("cert=\"tls/client.pem\"", "key=\"tls/client.key\"", "ca=\"tls/ca.pem\"");
    for (arguments, expected) in [
        (cert.to_owned(), "http.get: `cert` and `key` must be provided together"),
        (key.to_owned(), "must be provided together"),
        (format!("{cert}, {ca}"), "must be provided together"),
        (ca.to_owned(), "http.get: `ca` requires cert and key"),
        (format!("{cert}, key=\"tls/none.key\""), "http.get: tls/none.key: "),
        (format!("{cert}, key=\"/etc/passwd\""), "http.get: /etc/passwd lies outside of the project"),
        (format!("cert=\"/etc/passwd\", {key}"), "outside of the project"),
        (format!("{cert}, {key}, ca=\"/etc/passwd\""), "outside of the project"),
        (format!("cert=\"tls/junk.pem\", {key}"), "http.get: cert: "),
        (format!("{cert}, key=\"tls/junk.pem\""), "http.get: key: "),
        (format!("{cert}, {key}, ca=\"tls/junk.pem\""), "http.get: ca: "),
        (format!("cert=5, {key}"), "http.get: `cert` must be str, not int"),
        // Good ones get as far as the connection.
        (format!("{cert}, {key}, {ca}"), "http.get: request failed after 1 attempts"),
        (format!("{cert}, {key}"), "http.get: request failed after 1 attempts"),
    ] {
        let error = error(&arguments);
        assert!(error.contains(expected), "{arguments}: {error}");
    }
}
