//! An authorization server for tests, with an API behind it (RFC 6749, RFC 7636, RFC 7523): it rotates refresh tokens,
//! and takes back everything when one comes twice.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rustls::SignatureScheme;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::http::{Answer, Seen, Server};

/// What the client is called there.
pub const CLIENT_ID: &str = "client-1";
/// Its secret.
pub const CLIENT_SECRET: &str = "cl1ent-s3cret/+value";

/// An authorization server on the loopback address. Clones are the same one.
#[derive(Clone)]
pub struct AuthorizationServer {
    /// Where it listens, and what it was asked.
    pub server: Server,
    state: Arc<Mutex<Known>>,
}

/// How it behaves; to be changed at any time.
#[derive(Debug, Clone)]
pub struct Behavior {
    /// How long it takes until a client hears of its tokens.
    pub pause: Duration,
    /// Whether each refresh gives another refresh token.
    pub rotates: bool,
    /// `expires_in`, as JSON.
    pub expires_in: &'static str,
    /// What is called back instead of a code.
    pub error: Option<&'static str>,
    /// Whether there is a refresh token at all.
    pub gives_refresh: bool,
    /// Whether codes are expired by the time they come.
    pub expires_codes: bool,
    /// The state that is called back, in place of the right one.
    pub state: Option<&'static str>,
}

struct Known {
    behavior: Behavior,
    /// What the token endpoint answers to the next requests, whatever they say.
    faults: VecDeque<Answer>,
    /// Codes that were given, with the challenge and the redirect URL that they are for.
    codes: BTreeMap<String, (String, String)>,
    /// The refresh token that is good.
    refresh: Option<String>,
    used: BTreeSet<String>,
    access: BTreeSet<String>,
    /// All codes and tokens.
    given: Vec<String>,
    refreshes: usize,
    revoked: bool,
    /// The public key of the service account, as PKCS#1, and how many tokens it got.
    account: Option<Vec<u8>>,
    assertions: Vec<Value>,
}

impl AuthorizationServer {
    /// A server that has authorized nobody.
    pub fn start() -> Self {
        let behavior = Behavior {
            pause: Duration::ZERO,
            rotates: true,
            expires_in: "3600",
            error: None,
            gives_refresh: true,
            expires_codes: false,
            state: None,
        };
        let known = Known {
            behavior,
            faults: VecDeque::new(),
            codes: BTreeMap::new(),
            refresh: None,
            used: BTreeSet::new(),
            access: BTreeSet::new(),
            given: Vec::new(),
            refreshes: 0,
            revoked: false,
            account: None,
            assertions: Vec::new(),
        };
        let state = Arc::new(Mutex::new(known));
        let serving = Arc::clone(&state);
        let server = Server::new(move |_, seen| match seen.path() {
            "/authorize" => lock(&serving).authorize(seen),
            "/token" => lock(&serving).token(seen),
            _ => lock(&serving).api(seen),
        });
        Self { server, state }
    }

    /// Changes how it behaves.
    pub fn behave(&self, change: impl FnOnce(&mut Behavior)) {
        change(&mut lock(&self.state).behavior);
    }

    /// Lets the token endpoint give these answers to the next requests.
    pub fn fail_with(&self, answers: impl IntoIterator<Item = Answer>) {
        lock(&self.state).faults.extend(answers);
    }

    /// Lines for `.env` that describe it as the provider with this prefix.
    pub fn variables(&self, prefix: &str) -> String {
        format!(
            "{prefix}_CLIENT_ID={CLIENT_ID}\n{prefix}_CLIENT_SECRET={CLIENT_SECRET}\n{prefix}_AUTH_URL={}\n\
             {prefix}_TOKEN_URL={}\n{prefix}_SCOPE=contacts.read deals.read\n",
            self.server.url("/authorize?access_type=offline"),
            self.server.url("/token"),
        )
    }

    /// Authorizes without a browser: the refresh token.
    pub fn authorized(&self) -> String {
        lock(&self.state).new_refresh()
    }

    /// Access tokens are good no more, as if their time were over.
    pub fn expire_access(&self) {
        lock(&self.state).access.clear();
    }

    /// Takes back what was authorized.
    pub fn revoke(&self) {
        lock(&self.state).revoke();
    }

    /// Whether everything was taken back, by a refresh token that came twice or by [`Self::revoke`].
    pub fn is_revoked(&self) -> bool {
        lock(&self.state).revoked
    }

    /// How often an access token was given for a refresh token.
    pub fn refreshes(&self) -> usize {
        lock(&self.state).refreshes
    }

    /// Takes assertions that the owner of this key signed, a public one as PKCS#1.
    pub fn trust(&self, public_key: &[u8]) {
        lock(&self.state).account = Some(public_key.to_vec());
    }

    /// The claims of all assertions that were good, each with its header as `header`.
    pub fn assertions(&self) -> Vec<Value> {
        lock(&self.state).assertions.clone()
    }

    /// Every code and token that it gave, and the client's secret.
    pub fn secrets(&self) -> Vec<String> {
        lock(&self.state).given.iter().cloned().chain([CLIENT_SECRET.to_owned()]).collect()
    }
}

impl Known {
    fn next(&mut self, what: &str) -> String {
        let number = self.given.len() + 1;
        // Long enough to be nothing else.
        let digest = Sha256::digest(format!("{what} {number}"));
        let next = format!("{what}-{number}-{}", &URL_SAFE_NO_PAD.encode(digest)[..12]);
        self.given.push(next.clone());
        next
    }

    fn new_refresh(&mut self) -> String {
        let refresh = self.next("refresh");
        self.refresh = Some(refresh.clone());
        self.revoked = false;
        refresh
    }

    fn revoke(&mut self) {
        self.used.extend(self.refresh.take());
        self.access.clear();
        self.revoked = true;
    }

    /// Says yes or no at once, where a person would look at a page first.
    fn authorize(&mut self, seen: &Seen) -> Answer {
        let of = |name: &str| seen.parameter(name).unwrap_or_default();
        let is_good = of("client_id") == CLIENT_ID
            && of("response_type") == "code"
            && of("code_challenge_method") == "S256"
            && of("access_type") == "offline"
            && of("state").len() >= 43;
        if !is_good {
            return Answer::new(400, &[], format!("bad request: {}", seen.target()));
        }
        let state = self.behavior.state.map_or_else(|| of("state"), str::to_owned);
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.append_pair("state", &state);
        if let Some(error) = self.behavior.error {
            query.append_pair("error", error).append_pair("error_description", "the user said no");
        } else {
            let code = self.next("code");
            query.append_pair("code", &code);
            self.codes.insert(code, (of("code_challenge"), of("redirect_uri")));
        }
        Answer::redirect(302, &format!("{}?{}", of("redirect_uri"), query.finish()))
    }

    fn token(&mut self, seen: &Seen) -> Answer {
        if let Some(fault) = self.faults.pop_front() {
            return fault;
        }
        let form: BTreeMap<String, String> = form_urlencoded::parse(&seen.body).into_owned().collect();
        let of = |name: &str| form.get(name).map_or("", String::as_str);
        let is_client = of("client_id") == CLIENT_ID && of("client_secret") == CLIENT_SECRET;
        match of("grant_type") {
            "urn:ietf:params:oauth:grant-type:jwt-bearer" => self.assertion(seen, of("assertion")),
            _ if !is_client => refused(401, "invalid_client", "unknown client"),
            "authorization_code" => {
                let Some((challenge, redirect)) = self.codes.remove(of("code")) else {
                    return refused(400, "invalid_grant", "unknown code");
                };
                let proof = URL_SAFE_NO_PAD.encode(Sha256::digest(of("code_verifier")));
                if self.behavior.expires_codes || proof != challenge || redirect != of("redirect_uri") {
                    return refused(400, "invalid_grant", &format!("the code {} is expired", of("code")));
                }
                let refresh = self.behavior.gives_refresh.then(|| self.new_refresh());
                self.tokens(refresh)
            }
            "refresh_token" => {
                let given = of("refresh_token").to_owned();
                if self.used.contains(&given) {
                    // Somebody has stolen it: RFC 9700 §4.14.2.
                    self.revoke();
                }
                if self.refresh.as_ref() != Some(&given) {
                    return refused(400, "invalid_grant", &format!("the refresh token {given} is revoked"));
                }
                self.refreshes += 1;
                let rotated = self.behavior.rotates.then(|| {
                    self.used.insert(given);
                    self.new_refresh()
                });
                self.tokens(rotated)
            }
            _ => refused(400, "unsupported_grant_type", ""),
        }
    }

    fn tokens(&mut self, refresh: Option<String>) -> Answer {
        let access = self.next("access");
        self.access.insert(access.clone());
        let refresh = refresh.map_or(String::new(), |refresh| format!(", \"refresh_token\": \"{refresh}\""));
        let expires_in = self.behavior.expires_in;
        let body = format!(
            "{{\"access_token\": \"{access}\", \"token_type\": \"bearer\", \"expires_in\": {expires_in}{refresh}}}"
        );
        Answer::new(200, &[("Content-Type", "application/json")], body).after(self.behavior.pause)
    }

    fn assertion(&mut self, seen: &Seen, assertion: &str) -> Answer {
        let bad = |why: &str| refused(400, "invalid_grant", why);
        let Some(claims) = self.account.as_ref().and_then(|key| verified(key, assertion)) else {
            return bad("the signature is not good");
        };
        let audience = format!("http://{}/token", seen.header("host"));
        let life = claims["exp"].as_u64().zip(claims["iat"].as_u64()).map(|(end, begin)| end - begin);
        if claims["aud"] != json!(audience) || life != Some(3600) {
            return bad("the claims are not good");
        }
        self.assertions.push(claims);
        self.tokens(None)
    }

    /// An API that takes live access tokens. It gives two rows, and takes what is pushed.
    fn api(&self, seen: &Seen) -> Answer {
        let token =
            seen.all("authorization").first().and_then(|value| value.strip_prefix("Bearer ")).unwrap_or_default();
        if !self.access.contains(token) {
            return Answer::new(401, &[], format!("the token {token} is not good"));
        }
        Answer::new(200, &[("Content-Type", "application/json")], r#"[{"id": 1}, {"id": 2}]"#)
    }
}

fn refused(status: u16, error: &str, description: &str) -> Answer {
    let body = json!({"error": error, "error_description": description}).to_string();
    Answer::new(status, &[("Content-Type", "application/json")], body)
}

/// The claims of an assertion that this key signed with RS256.
fn verified(public_key: &[u8], assertion: &str) -> Option<Value> {
    let (signed, signature) = assertion.rsplit_once('.')?;
    let (header, claims) = signed.split_once('.')?;
    let decoded = |text: &str| serde_json::from_slice::<Value>(&URL_SAFE_NO_PAD.decode(text).ok()?).ok();
    let header = decoded(header).filter(|header| header["alg"] == "RS256" && header["typ"] == "JWT")?;
    let known = rustls::crypto::ring::default_provider().signature_verification_algorithms;
    let (_, algorithms) = known.mapping.iter().find(|(scheme, _)| *scheme == SignatureScheme::RSA_PKCS1_SHA256)?;
    let signature = URL_SAFE_NO_PAD.decode(signature).ok()?;
    algorithms.iter().find(|one| one.verify_signature(public_key, signed.as_bytes(), &signature).is_ok())?;
    let mut claims = decoded(claims)?;
    claims["header"] = header;
    Some(claims)
}

/// Opens a URL as a browser would, and goes where it is sent, once: the status and the body of the last answer.
pub fn browse(url: &str) -> (u16, String) {
    let (status, head, body) = get(url);
    let location = head.lines().find_map(|line| line.strip_prefix("Location: ").map(str::to_owned));
    match location.filter(|_| status == 302) {
        Some(location) => {
            let (status, _, body) = get(&location);
            (status, body)
        }
        None => (status, body),
    }
}

fn get(url: &str) -> (u16, String, String) {
    let (address, target) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET /{target} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.split(' ').nth(1).unwrap().parse().unwrap(), head.to_owned(), body.to_owned())
}

fn lock(known: &Mutex<Known>) -> MutexGuard<'_, Known> {
    known.lock().unwrap_or_else(PoisonError::into_inner)
}
