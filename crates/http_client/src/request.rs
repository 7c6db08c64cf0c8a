//! What is asked: the request with all that decides how it is sent.

use crate::{RateLimiter, Receiver};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// The methods that there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// `GET`
    Get,
    /// `POST`
    Post,
    /// `PUT`
    Put,
    /// `PATCH`
    Patch,
    /// `DELETE`
    Delete,
}

impl Method {
    /// As it stands in a request.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }

    /// Whether sending it twice does what sending it once does (RFC 9110 §9.2.2).
    pub(crate) const fn is_idempotent(self) -> bool {
        matches!(self, Self::Get | Self::Put | Self::Delete)
    }

    /// Whether it says its length even if it has no body (RFC 9110 §8.6).
    pub(crate) const fn expects_body(self) -> bool {
        matches!(self, Self::Post | Self::Put | Self::Patch)
    }
}

/// A request. What is not set has the defaults of [`Request::new`].
#[derive(Clone)]
pub struct Request {
    /// The method.
    pub method: Method,
    /// An absolute `http` or `https` URL; see [`crate::join`].
    pub url: String,
    /// Pairs that are put into the URL's query, in place of those of the same name.
    pub query: Vec<(String, String)>,
    /// Headers. Of two with one name, in any case, the later one is sent. An empty `User-Agent` is not sent.
    /// `Content-Length`, `Transfer-Encoding` and `Expect` are left out: they follow from the body.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Body,
    /// The time that one attempt may take, all of it: connecting, redirects, a digest answer, the body. Waiting for
    /// the limiter does not count.
    pub timeout: Duration,
    /// How often it is tried again.
    pub retry: u32,
    /// Whether it is also tried again when no answer came in time. What counts only once may have been done.
    pub retries_timeouts: bool,
    /// The wait before the first retry. Each further one is twice as long.
    pub backoff: Duration,
    /// Whether a redirect is followed; it is an error otherwise, for bodies that only one origin may get.
    pub follows_redirects: bool,
    /// Answers a digest challenge with these.
    pub digest: Option<Credentials>,
    /// Own certificates.
    pub tls: Option<Arc<ClientTls>>,
    /// The bound of a response's body after it is unpacked, in bytes.
    pub max_response_bytes: u64,
    /// Every start of a request waits for it: retries, redirects and digest answers, too.
    pub limiter: Option<Arc<RateLimiter>>,
    /// Paused by every 429 that says for how long (`Retry-After`), for five minutes at most. The request does not wait
    /// for it: it stands for others.
    pub pauses: Option<Arc<RateLimiter>>,
    /// Credentials, and who may get them.
    pub secrets: Secrets,
}

impl Request {
    /// No body, 30 s, no retry, 1 s of backoff, 256 MiB at most.
    pub fn new(method: Method, url: impl Into<String>) -> Self {
        Self {
            method,
            url: url.into(),
            query: Vec::new(),
            headers: Vec::new(),
            body: Body::None,
            timeout: Duration::from_secs(30),
            retry: 0,
            retries_timeouts: true,
            backoff: Duration::from_secs(1),
            follows_redirects: true,
            digest: None,
            tls: None,
            max_response_bytes: 256 * 1024 * 1024,
            limiter: None,
            pauses: None,
            secrets: Secrets::default(),
        }
    }
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request").field("method", &self.method).finish_non_exhaustive()
    }
}

/// What a request carries.
#[derive(Debug, Clone, Default)]
pub enum Body {
    /// Nothing.
    #[default]
    None,
    /// Bytes, with the content type that is sent unless a header says another. An empty one is not sent.
    Bytes(Arc<[u8]>, String),
    /// A file and fields as `multipart/form-data` (RFC 7578). The file is read while it is sent.
    Multipart {
        /// Names and values, sent before the file.
        fields: Vec<(String, String)>,
        /// The file.
        file: PathBuf,
        /// The name of the file's field.
        field: String,
        /// The name that the server is told.
        filename: String,
    },
}

/// A user and a password.
#[derive(Clone)]
pub struct Credentials {
    /// The user.
    pub user: String,
    /// The password.
    pub password: String,
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credentials")
    }
}

/// Own certificates, as PEM.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct ClientTls {
    /// The client's certificate, followed by those that lead to its root.
    pub cert: Vec<u8>,
    /// Its private key: PKCS#8, PKCS#1 or SEC1.
    pub key: Vec<u8>,
    /// The roots to trust instead of the public ones.
    pub ca: Option<Vec<u8>>,
}

impl fmt::Debug for ClientTls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ClientTls")
    }
}

/// Credentials that are added to a request if its URL leads to one who may get them.
///
/// After a redirect to another origin they are gone, even if that one is listed.
#[derive(Clone, Default)]
pub struct Secrets {
    /// Headers. One that [`Request::headers`] has, too, is left out.
    pub headers: Vec<(String, String)>,
    /// Query parameters. Each is set once and replaces what the URL has by that name.
    pub params: Vec<(String, String)>,
    /// Who may get them; nothing stands for everyone.
    pub receivers: Option<Vec<Receiver>>,
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Secrets").field("receivers", &self.receivers).finish_non_exhaustive()
    }
}
