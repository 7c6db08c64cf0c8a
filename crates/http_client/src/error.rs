//! What a request can fail with. No message holds a secret that was handed in.

use std::path::PathBuf;
use std::time::Duration;
use thiserror::Error;

/// A request that gave no response.
///
/// URLs are redacted: values of query keys that name secrets, and passwords, are gone.
#[derive(Debug, Error)]
pub enum HttpError {
    /// Asked to stop while it ran or waited.
    #[error("stopped before the request was answered")]
    Stopped,
    /// Not a URL that a request can be sent to.
    #[error("invalid URL \"{url}\": {reason}")]
    InvalidUrl {
        /// The URL, redacted.
        url: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A name or a value that cannot be a header. The value is not shown.
    #[error("header \"{name}\": {reason}")]
    InvalidHeader {
        /// The header's name.
        name: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// `timeout` is zero.
    #[error("timeout must be greater than 0")]
    InvalidTimeout,
    /// A certificate, a key or an authority that cannot be used.
    #[error("{what}: {reason}")]
    InvalidTls {
        /// `cert`, `key` or `ca`.
        what: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// The proxy that the environment names cannot be used. Its URL is not shown: it may hold a password.
    #[error("the proxy for {scheme} URLs is not usable: {reason}")]
    InvalidProxy {
        /// `http` or `https`.
        scheme: &'static str,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The file to upload cannot be read.
    #[error("cannot read \"{}\" for the upload: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// All attempts failed, or one in a way that waiting does not help.
    #[error("request failed after {attempts} attempts: {method} {url}: {cause}")]
    Failed {
        /// How many times it was tried.
        attempts: u32,
        /// `GET`, `POST`…
        method: &'static str,
        /// The URL, redacted.
        url: String,
        /// What the last attempt ended with.
        cause: Cause,
    },
    /// The body, unpacked, is larger than allowed. It is not tried again.
    #[error("response body is larger than max_response_bytes ({limit} bytes): {method} {url}")]
    BodyTooLarge {
        /// `GET`, `POST`…
        method: &'static str,
        /// The URL, redacted.
        url: String,
        /// The bound.
        limit: u64,
    },
    /// More than ten redirects, or one to where no request can go.
    #[error("{method} {url}: {reason}")]
    Redirect {
        /// `GET`, `POST`…
        method: &'static str,
        /// The URL of the request, redacted.
        url: String,
        /// What went wrong.
        reason: String,
    },
    /// A digest challenge that cannot be answered.
    #[error("{method} {url}: cannot answer the digest challenge: {reason}")]
    Digest {
        /// `GET`, `POST`…
        method: &'static str,
        /// The URL, redacted.
        url: String,
        /// What it asks for.
        reason: String,
    },
}

/// How one attempt failed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Cause {
    /// The server answered with 429 or 5xx.
    #[error("status {status}{}{}", shown_wait(*retry_after), shown_body(body))]
    Status {
        /// The status.
        status: u16,
        /// The first 500 characters of the body, redacted.
        body: String,
        /// Set when the server asks to wait for longer than five minutes.
        retry_after: Option<Duration>,
    },
    /// No answer, or not all of it, in time.
    #[error("no complete answer within the timeout of {} s", .0.as_secs_f64())]
    Timeout(Duration),
    /// No connection, or it broke.
    #[error("{0}")]
    Transport(String),
}

fn shown_wait(retry_after: Option<Duration>) -> String {
    retry_after
        .map_or_else(String::new, |wait| format!(" (Retry-After asks to wait {} s, more than 300 s)", wait.as_secs()))
}

fn shown_body(body: &str) -> String {
    if body.is_empty() { String::new() } else { format!(": {body}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_tells_attempts_method_url_status_and_body() {
        let cause = Cause::Status { status: 503, body: "busy".to_owned(), retry_after: None };
        let error = HttpError::Failed { attempts: 3, method: "GET", url: "http://a/".to_owned(), cause };
        assert_eq!(error.to_string(), "request failed after 3 attempts: GET http://a/: status 503: busy");
        let cause = Cause::Status { status: 429, body: String::new(), retry_after: Some(Duration::from_hours(24)) };
        assert_eq!(cause.to_string(), "status 429 (Retry-After asks to wait 86400 s, more than 300 s)");
        assert_eq!(
            Cause::Timeout(Duration::from_millis(1500)).to_string(),
            "no complete answer within the timeout of 1.5 s"
        );
    }
}
