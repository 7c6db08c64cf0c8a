//! One request and its answer, without redirects and retries, on a thread that can be left behind.

use crate::decode::{self, BodyError};
use crate::header_names::canonical_header_name;
use crate::payload::Payload;
use crate::response::first;
use crate::stop::POLL;
use crate::transport::{forget_reuse, was_reused};
use crate::{Method, Stop, digest};
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};
use ureq::http::{HeaderMap, Request, Response, Uri};
use ureq::{Agent, Body, SendBody};

/// `ureq` ends a request by its timeout. Where it cannot, as while a name is looked up, it is left behind this much
/// later.
const GRACE: Duration = Duration::from_millis(250);
/// No clock overflows before.
const LONGEST: Duration = Duration::from_hours(24 * 365);
/// A body that nobody asks for is read up to this length, so that its connection can be used again.
const DRAINED: u64 = 64 * 1024;

/// What is sent, and how the answer is read.
pub(crate) struct Exchange {
    pub agent: Agent,
    pub method: Method,
    pub uri: Uri,
    pub headers: HeaderMap,
    pub payload: Payload,
    pub timeout: Duration,
    pub max_response_bytes: u64,
    /// A digest challenge is going to be answered: its body is not read.
    pub answers_digest: bool,
}

/// A complete answer. The body is empty if it is one that nobody asks for.
#[derive(Debug)]
pub(crate) struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

/// Why there is none.
#[derive(Debug)]
pub(crate) enum Broken {
    Stopped,
    Timeout,
    TooLarge,
    /// The file to upload.
    File(io::Error),
    Transport(String),
}

impl Answer {
    /// Where a redirect leads to, if it is one that is followed.
    pub(crate) fn location(&self) -> Option<&str> {
        location(self.status, &self.headers)
    }
}

/// Sends a request and waits for its answer. At the wish to stop and some time after its timeout it is left behind.
pub(crate) fn run(exchange: Exchange, stop: &Stop) -> Result<Answer, Broken> {
    let deadline = Instant::now().checked_add(exchange.timeout.saturating_add(GRACE));
    let is_abandoned = Arc::new(AtomicBool::new(false));
    let (sender, receiver) = sync_channel(1);
    let seen = Arc::clone(&is_abandoned);
    let thread = std::thread::Builder::new().name("http".to_owned());
    let work = move || {
        // Nobody listens anymore after a stop.
        let _ = sender.send(perform(&exchange, &seen));
    };
    thread.spawn(work).map_err(|error| Broken::Transport(format!("cannot start a thread: {error}")))?;
    let broken = loop {
        match receiver.recv_timeout(POLL) {
            Ok(result) => return result,
            Err(RecvTimeoutError::Disconnected) => break Broken::Transport("the request broke off".to_owned()),
            Err(RecvTimeoutError::Timeout) if stop.is_requested() => break Broken::Stopped,
            Err(RecvTimeoutError::Timeout) if deadline.is_some_and(|deadline| Instant::now() > deadline) => {
                break Broken::Timeout;
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
    };
    is_abandoned.store(true, Ordering::Relaxed);
    Err(broken)
}

fn perform(exchange: &Exchange, is_abandoned: &Arc<AtomicBool>) -> Result<Answer, Broken> {
    let started = Instant::now();
    let response = match send(exchange, exchange.timeout, false) {
        // The server closed a quiet connection at the moment when it was used again.
        Err(Failure::Http(ureq::Error::Io(_))) if was_reused() && exchange.method.is_idempotent() => {
            forget_reuse();
            send(exchange, exchange.timeout.saturating_sub(started.elapsed()), true)
        }
        result => result,
    };
    let response = response.map_err(|failure| match failure {
        Failure::File(error) => Broken::File(error),
        Failure::Http(error) => broken(error),
    })?;
    let status = response.status().as_u16();
    let mut headers = received(response.headers());
    if location(status, &headers).is_some()
        || exchange.answers_digest && status == 401 && digest::find(&headers).is_some()
    {
        drain(response.into_body());
        return Ok(Answer { status, headers, body: Vec::new() });
    }
    let encoding = content_encoding(&headers);
    let length = response.body().content_length();
    if encoding.is_empty() && length.is_some_and(|length| length > exchange.max_response_bytes) {
        return Err(Broken::TooLarge);
    }
    let abandoned = || is_abandoned.load(Ordering::Relaxed);
    let reader = response.into_body().into_reader();
    let body = match decode::read(reader, &encoding, exchange.max_response_bytes, abandoned) {
        Ok(body) => body,
        Err(BodyError::TooLarge) => return Err(Broken::TooLarge),
        Err(BodyError::Abandoned) => return Err(Broken::Stopped),
        Err(BodyError::Broken(error)) => return Err(broken(error.into())),
        Err(BodyError::Packing) => {
            let message = format!("the body is not valid {encoding} data, as which Content-Encoding declares it");
            return Err(Broken::Transport(message));
        }
    };
    if !encoding.is_empty() {
        // They describe the body as it was sent.
        headers.retain(|(name, _)| name != "Content-Encoding" && name != "Content-Length");
    }
    Ok(Answer { status, headers, body })
}

enum Failure {
    File(io::Error),
    Http(ureq::Error),
}

fn send(exchange: &Exchange, timeout: Duration, freshly: bool) -> Result<Response<Body>, Failure> {
    let body = if exchange.payload.is_none() {
        SendBody::none()
    } else {
        SendBody::from_owned_reader(exchange.payload.open().map_err(Failure::File)?)
    };
    let mut request = Request::new(body);
    *request.method_mut() = match exchange.method {
        Method::Get => ureq::http::Method::GET,
        Method::Post => ureq::http::Method::POST,
        Method::Put => ureq::http::Method::PUT,
        Method::Patch => ureq::http::Method::PATCH,
        Method::Delete => ureq::http::Method::DELETE,
    };
    *request.uri_mut() = exchange.uri.clone();
    *request.headers_mut() = exchange.headers.clone();
    let mut config = exchange.agent.configure_request(request).timeout_global(Some(timeout.min(LONGEST)));
    if freshly {
        config = config.max_idle_age(Duration::ZERO);
    }
    exchange.agent.run(config.build()).map_err(Failure::Http)
}

fn broken(error: ureq::Error) -> Broken {
    match error {
        ureq::Error::Timeout(_) => Broken::Timeout,
        ureq::Error::Io(error) if error.kind() == io::ErrorKind::TimedOut => Broken::Timeout,
        ureq::Error::Io(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            Broken::Transport("the connection ended before the answer did".to_owned())
        }
        ureq::Error::Io(error) => Broken::Transport(error.to_string()),
        ureq::Error::Protocol(error) => Broken::Transport(format!("the answer is not valid HTTP: {error}")),
        error => Broken::Transport(error.to_string()),
    }
}

fn location(status: u16, headers: &[(String, String)]) -> Option<&str> {
    [301, 302, 303, 307, 308].contains(&status).then(|| first(headers, "Location")).flatten()
}

/// The packing of a body that can be undone. Other bodies stay as they are.
fn content_encoding(headers: &[(String, String)]) -> String {
    let values = headers.iter().filter(|(name, _)| name == "Content-Encoding").map(|(_, value)| value.as_str());
    let encoding = values.collect::<Vec<_>>().join(",");
    if decode::is_known(&encoding) && !encoding.eq_ignore_ascii_case("identity") { encoding } else { String::new() }
}

fn received(headers: &HeaderMap) -> Vec<(String, String)> {
    headers.iter().map(|(name, value)| (canonical_header_name(name.as_str()), text(value.as_bytes()))).collect()
}

/// UTF-8, or else ISO-8859-1, in which every byte is a letter (RFC 9110 §5.5).
fn text(value: &[u8]) -> String {
    String::from_utf8(value.to_vec()).unwrap_or_else(|_| value.iter().map(|byte| char::from(*byte)).collect())
}

fn drain(body: Body) {
    if body.content_length().is_some_and(|length| length <= DRAINED) {
        // A failure costs the connection, which is closed then.
        let _ = io::copy(&mut body.into_reader().take(DRAINED), &mut io::sink());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_headers_are_utf8_or_latin_1() {
        assert_eq!(text(b"plain"), "plain");
        assert_eq!(text("grün".as_bytes()), "grün");
        assert_eq!(text(b"gr\xfcn"), "grün");
    }

    #[test]
    fn only_packings_that_can_be_undone_are_undone() {
        let encoding = |values: &[&str]| {
            let headers: Vec<_> =
                values.iter().map(|value| ("Content-Encoding".to_owned(), (*value).to_owned())).collect();
            content_encoding(&headers)
        };
        assert_eq!(encoding(&["gzip"]), "gzip");
        assert_eq!(encoding(&["deflate", "gzip"]), "deflate,gzip");
        assert_eq!(encoding(&["br"]), "");
        assert_eq!(encoding(&["identity"]), "");
        assert_eq!(encoding(&[]), "");
    }
}
