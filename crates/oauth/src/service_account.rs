//! Service accounts: a signed assertion in exchange for an access token (RFC 7523, chapter 03 §3.5).

use std::fs;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http_client::{Origin, Stop};
use project::Redactor;
use rustls::SignatureScheme;
use rustls::crypto::ring::sign::any_supported_type;
use rustls::pki_types::PrivateKeyDer;
use rustls::pki_types::pem::PemObject;
use serde_json::{Value, json};

use crate::OAuthError;
use crate::single_flight::Access;
use crate::token_endpoint::{Refusal, TokenEndpoint};

const GRANT_TYPE: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const DEFAULT_TOKEN_URI: &str = "https://oauth2.googleapis.com/token";
/// How long an assertion is good for, in seconds.
const LIFE_SECONDS: u64 = 3600;

/// A service account, as its key file describes it.
pub(crate) struct ServiceAccount {
    client_email: String,
    private_key: String,
    private_key_id: Option<String>,
    token_uri: String,
}

impl ServiceAccount {
    /// Reads a key file, whose path begins at `root`; `key` may be the text of one as well, as variables hold it.
    pub(crate) fn read(root: &Path, key: &str, redactor: &Redactor) -> Result<Self, OAuthError> {
        let is_text = key.trim_start().starts_with('{');
        let shown = if is_text { "key" } else { key };
        let text = if is_text { Ok(key.to_owned()) } else { fs::read_to_string(root.join(key)) };
        let text = text.map_err(|error| {
            failed(
                format!("read service_account {shown}: {error}"),
                "put the key file there; its path begins at the project's folder",
            )
        })?;
        let parsed: Value = serde_json::from_str(&text).map_err(|error| {
            // The reader's own message quotes nothing of the text.
            not_one(shown, &format!("it is no JSON: {error}"))
        })?;
        let field = |name: &str| parsed.get(name).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
        let required =
            |name: &str| field(name).map(str::to_owned).ok_or_else(|| not_one(shown, &format!("it has no {name}")));
        let token_uri = match parsed.get("token_uri") {
            None => DEFAULT_TOKEN_URI.to_owned(),
            Some(_) => field("token_uri").ok_or_else(|| not_one(shown, "its token_uri is no text"))?.to_owned(),
        };
        let account = Self {
            client_email: required("client_email")?,
            // Who carries a key through a variable often has its line breaks as two characters.
            private_key: required("private_key")?.replace("\\n", "\n"),
            private_key_id: field("private_key_id").map(str::to_owned),
            token_uri,
        };
        redactor.add_secret(&account.private_key);
        // An error may quote a line of it.
        for line in account.private_key.lines() {
            redactor.add_secret(line);
        }
        match Origin::of(&account.token_uri) {
            Ok(_) => Ok(account),
            Err(_) => Err(not_one(shown, "its token_uri is no URL")),
        }
    }

    /// Asks for an access token.
    pub(crate) fn token(&self, scope: &str, endpoint: &TokenEndpoint, stop: &Stop) -> Result<Access, OAuthError> {
        let assertion = self.assertion(scope, SystemTime::now())?;
        endpoint.redactor.add_secret(&assertion);
        let form = [("grant_type", GRANT_TYPE), ("assertion", assertion.as_str())];
        let grant = endpoint.ask(&self.token_uri, &form, stop).map_err(|refusal| match refusal {
            Refusal::Stopped => OAuthError::Stopped,
            Refusal::InvalidGrant(message) | Refusal::Failed(message) => failed(
                format!("service account {}: {message}", self.client_email),
                "see that the account exists, has this key and may have the scope, and that the clock of this machine is \
                 right",
            ),
        })?;
        let life = grant.left();
        Ok(Access::new(grant.access_token, life, life))
    }

    /// A JWT, signed with RS256 (RFC 7515, RFC 7519).
    fn assertion(&self, scope: &str, now: SystemTime) -> Result<String, OAuthError> {
        let now = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let mut header = json!({"alg": "RS256", "typ": "JWT"});
        if let Some(id) = &self.private_key_id {
            header["kid"] = json!(id);
        }
        let claims = json!({
            "iss": self.client_email,
            "scope": scope,
            "aud": self.token_uri,
            "iat": now,
            "exp": now + LIFE_SECONDS,
        });
        let encoded = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let signed = format!("{}.{}", encoded(&header), encoded(&claims));
        let signature = URL_SAFE_NO_PAD.encode(self.sign(signed.as_bytes())?);
        Ok(format!("{signed}.{signature}"))
    }

    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, OAuthError> {
        let bad = |why: &str| {
            failed(
                format!("service account {}: its private_key {why}", self.client_email),
                "get a new key file from the provider: it holds an RSA key as PEM (PKCS#8 or PKCS#1)",
            )
        };
        let key =
            PrivateKeyDer::from_pem_slice(self.private_key.as_bytes()).map_err(|_| bad("is no private key as PEM"))?;
        let key = any_supported_type(&key).map_err(|_| bad("cannot be used: it must have 2048 bits or more"))?;
        let signer = key.choose_scheme(&[SignatureScheme::RSA_PKCS1_SHA256]).ok_or_else(|| bad("is no RSA key"))?;
        signer.sign(message).map_err(|_| bad("cannot sign"))
    }
}

fn not_one(shown: &str, why: &str) -> OAuthError {
    failed(format!("parse service_account {shown}: {why}"), "use the key file as the provider gave it, a JSON object")
}

fn failed(message: String, help: &str) -> OAuthError {
    OAuthError::ServiceAccount { message, help: help.to_owned() }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::ServiceAccount;
    use crate::token_endpoint::TokenEndpoint;
    use http_client::{Client, ClientOptions, Stop};
    use project::Redactor;
    use serde_json::{Value, json};
    use testkit::http::Answer;
    use testkit::{AuthorizationServer, keys};

    fn key_file(server: &AuthorizationServer, private_key: &str) -> Value {
        json!({
            "type": "service_account",
            "client_email": "robot@project.example",
            "private_key": private_key,
            "private_key_id": "key-1",
            "token_uri": server.server.url("/token"),
        })
    }

    /// The token for the scope `s`, by a key file of this text.
    fn token(text: &str) -> Result<String, String> {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("keys")).unwrap();
        std::fs::write(dir.path().join("keys/robot.json"), text).unwrap();
        let redactor = Redactor::default();
        let endpoint = TokenEndpoint::new(Client::new(ClientOptions::default()), redactor.clone());
        let account = ServiceAccount::read(dir.path(), "keys/robot.json", &redactor);
        let access = account.and_then(|account| account.token("s", &endpoint, &Stop::never()));
        access.map(|access| access.token).map_err(|error| error.to_string())
    }

    fn trusting() -> AuthorizationServer {
        let server = AuthorizationServer::start();
        server.trust(keys::PUBLIC);
        server
    }

    #[test]
    fn an_assertion_is_signed_and_gets_a_token() {
        for private_key in [keys::PKCS8, keys::PKCS1] {
            let server = trusting();
            token(&key_file(&server, private_key).to_string()).unwrap();
            let [claims] = &server.assertions()[..] else { panic!("one assertion") };
            assert_eq!(claims["header"], json!({"alg": "RS256", "typ": "JWT", "kid": "key-1"}));
            assert_eq!((&claims["iss"], &claims["scope"]), (&json!("robot@project.example"), &json!("s")));
        }
        // It may have no id.
        let server = trusting();
        let mut file = key_file(&server, keys::PKCS8);
        file.as_object_mut().unwrap().remove("private_key_id");
        token(&file.to_string()).unwrap();
        assert_eq!(server.assertions()[0]["header"], json!({"alg": "RS256", "typ": "JWT"}));
    }

    #[test]
    fn another_key_gets_none() {
        let server = AuthorizationServer::start();
        server.trust(&keys::PUBLIC.iter().rev().copied().collect::<Vec<u8>>());
        let error = token(&key_file(&server, keys::PKCS8).to_string()).unwrap_err();
        assert!(error.starts_with("service account robot@project.example: the token endpoint answered 400"), "{error}");
    }

    #[test]
    fn what_is_wrong_with_a_key_file_is_told_without_the_key() {
        let server = trusting();
        let with = |field: &str, value: Value| {
            let mut file = key_file(&server, keys::PKCS8);
            file[field] = value;
            file.to_string()
        };
        for (text, told) in [
            ("{\"private_key\": \"s3cret".to_owned(), "parse service_account keys/robot.json: it is no JSON: "),
            ("[]".into(), "parse service_account keys/robot.json: it has no client_email"),
            (with("client_email", json!("")), "parse service_account keys/robot.json: it has no client_email"),
            (with("private_key", json!(5)), "parse service_account keys/robot.json: it has no private_key"),
            (with("token_uri", json!("ftp://x")), "parse service_account keys/robot.json: its token_uri is no URL"),
            (
                with("private_key", json!("s3cret")),
                "service account robot@project.example: its private_key is no private key as PEM",
            ),
            (
                with("private_key", json!(keys::EC)),
                "service account robot@project.example: its private_key is no RSA key",
            ),
            (
                with("private_key", json!(keys::PKCS8.replace("MII", "MIX"))),
                "service account robot@project.example: its private_key cannot be used",
            ),
        ] {
            let error = token(&text).unwrap_err();
            assert!(error.starts_with(told) && !error.contains("s3cret"), "{error}");
        }
        assert!(server.server.seen().is_empty());
        let error =
            ServiceAccount::read(std::path::Path::new("/nowhere"), "k.json", &Redactor::default()).err().unwrap();
        assert!(error.to_string().starts_with("read service_account k.json: "), "{error}");
    }

    #[test]
    fn the_text_of_a_key_file_does_as_well() {
        let text = format!("\n{}", key_file(&trusting(), keys::PKCS8));
        let account = ServiceAccount::read(std::path::Path::new("/nowhere"), &text, &Redactor::default()).unwrap();
        assert_eq!(account.client_email, "robot@project.example");
        let error = ServiceAccount::read(std::path::Path::new("/nowhere"), "{\"a\": \"s3cret", &Redactor::default());
        assert!(error.err().unwrap().to_string().starts_with("parse service_account key: it is no JSON"));
    }

    /// A machine whose clock is wrong is told so by the provider.
    #[test]
    fn a_refused_assertion_tells_what_the_provider_says() {
        let server = trusting();
        let body = r#"{"error": "invalid_grant", "error_description": "Invalid JWT: iat is in the future"}"#;
        server.fail_with([Answer::new(400, &[], body)]);
        let error = token(&key_file(&server, keys::PKCS8).to_string()).unwrap_err();
        assert!(error.contains("iat is in the future"), "{error}");
    }

    #[test]
    fn the_claims_are_those_of_the_moment() {
        let account = serde_json::to_string(&key_file(&trusting(), keys::PKCS8)).unwrap();
        let account = ServiceAccount::read(std::path::Path::new("/"), &account, &Redactor::default()).unwrap();
        let now = SystemTime::UNIX_EPOCH + Duration::from_hours(500_000);
        let (one, two) = (account.assertion("a", now).unwrap(), account.assertion("a", now).unwrap());
        assert_eq!(one, two);
        assert_ne!(one, account.assertion("a", now + Duration::from_secs(1)).unwrap());
    }
}
