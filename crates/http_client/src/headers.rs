//! The headers of a request: checked once, put together for each place that it is sent to.

use crate::header_names::{is_credential, is_framing};
use crate::payload::{ContentType, Payload};
use crate::proxy::Route;
use crate::{HttpError, Method, Request};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ureq::http::header::{
    ACCEPT_ENCODING, AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, PROXY_AUTHORIZATION, USER_AGENT,
};
use ureq::http::{HeaderMap, HeaderName, HeaderValue};

/// The headers of a request and of its secrets.
#[derive(Debug)]
pub(crate) struct Headers {
    own: HeaderMap,
    secret: HeaderMap,
}

/// What decides about headers besides the request.
pub(crate) struct Place<'a> {
    pub method: Method,
    pub payload: &'a Payload,
    /// No redirect led to another origin yet.
    pub is_trusted: bool,
    /// Secrets may be sent here.
    pub gets_secrets: bool,
    /// The user and the password of the URL.
    pub userinfo: Option<&'a (String, String)>,
    /// The answer to a digest challenge.
    pub digest: Option<&'a str>,
    pub route: &'a Route,
    pub user_agent: &'a str,
}

impl Headers {
    /// # Errors
    /// [`HttpError::InvalidHeader`] for a name or a value that cannot be sent.
    pub(crate) fn of(request: &Request) -> Result<Self, HttpError> {
        Ok(Self { own: checked(&request.headers)?, secret: checked(&request.secrets.headers)? })
    }

    /// The headers to send to a place.
    pub(crate) fn at(&self, place: &Place) -> Result<HeaderMap, HttpError> {
        let mut headers = self.own.clone();
        if !place.is_trusted {
            let lost =
                |name: &HeaderName| is_credential(name.as_str()) || name == "host" || self.secret.contains_key(name);
            remove_all(&mut headers, lost);
        }
        if place.gets_secrets {
            for (name, value) in &self.secret {
                headers.entry(name).or_insert_with(|| value.clone());
            }
        }
        if let Some((user, password)) = place.userinfo.filter(|_| !headers.contains_key(AUTHORIZATION)) {
            headers.insert(AUTHORIZATION, basic(user, password)?);
        }
        if let Some(answer) = place.digest {
            headers.insert(AUTHORIZATION, value("Authorization", answer)?);
        }
        if let Route::Forward(proxy) = place.route
            && let Some(user) = proxy.username()
        {
            headers.insert(PROXY_AUTHORIZATION, basic(user, proxy.password().unwrap_or_default())?);
        }
        let agent = headers.get(USER_AGENT).cloned().unwrap_or(value("User-Agent", place.user_agent)?);
        if agent.is_empty() {
            headers.remove(USER_AGENT);
        } else {
            headers.insert(USER_AGENT, agent);
        }
        headers.entry(ACCEPT_ENCODING).or_insert(HeaderValue::from_static("gzip, deflate"));
        describe_body(&mut headers, place)?;
        Ok(headers)
    }
}

/// What says what the body is and how long.
fn describe_body(headers: &mut HeaderMap, place: &Place) -> Result<(), HttpError> {
    let payload = place.payload;
    match &payload.content_type {
        Some(ContentType::Default(kind)) if !kind.is_empty() && !headers.contains_key(CONTENT_TYPE) => {
            headers.insert(CONTENT_TYPE, value("Content-Type", kind)?);
        }
        Some(ContentType::Fixed(kind)) => {
            headers.insert(CONTENT_TYPE, value("Content-Type", kind)?);
        }
        Some(ContentType::Default(_)) | None => {}
    }
    if !payload.is_none() || place.method.expects_body() {
        headers.insert(CONTENT_LENGTH, HeaderValue::from(payload.length()));
    }
    Ok(())
}

/// Removes what describes a body from the headers of a request that lost it.
pub(crate) fn without_body(headers: &mut Headers) {
    remove_all(&mut headers.own, |name| name.as_str().starts_with("content-"));
}

fn remove_all(headers: &mut HeaderMap, is_gone: impl Fn(&HeaderName) -> bool) {
    let gone: Vec<HeaderName> = headers.keys().filter(|name| is_gone(name)).cloned().collect();
    for name in gone {
        headers.remove(name);
    }
}

/// Whether a name and a value can be a header of a request.
///
/// # Errors
/// [`HttpError::InvalidHeader`], without the value.
pub fn check_header(name: &str, value: &str) -> Result<(), HttpError> {
    checked(&[(name.to_owned(), value.to_owned())]).map(drop)
}

fn checked(headers: &[(String, String)]) -> Result<HeaderMap, HttpError> {
    let mut map = HeaderMap::new();
    for (name, text) in headers.iter().filter(|(name, _)| !is_framing(name)) {
        let key = HeaderName::from_bytes(name.as_bytes()).map_err(|_| HttpError::InvalidHeader {
            name: name.escape_debug().to_string(),
            reason: "it is not a name that a header can have",
        })?;
        map.insert(key, value(name, text)?);
    }
    Ok(map)
}

fn value(name: &str, text: &str) -> Result<HeaderValue, HttpError> {
    let invalid = |reason| HttpError::InvalidHeader { name: name.to_owned(), reason };
    let text = text.trim_matches([' ', '\t']);
    let is_narrow = ["authorization", "host"].iter().any(|narrow| name.eq_ignore_ascii_case(narrow));
    if is_narrow && !text.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic()) {
        return Err(invalid("its value holds a letter beyond ASCII or a control character"));
    }
    HeaderValue::from_bytes(text.as_bytes())
        .map_err(|_| invalid("its value holds a control character, as a line break"))
}

fn basic(user: &str, password: &str) -> Result<HeaderValue, HttpError> {
    value("Authorization", &format!("Basic {}", STANDARD.encode(format!("{user}:{password}"))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn invalid(name: &str, value: &str) -> String {
        let mut request = Request::new(Method::Get, "http://a/");
        request.headers.push((name.to_owned(), value.to_owned()));
        Headers::of(&request).unwrap_err().to_string()
    }

    #[test]
    fn what_cannot_be_sent_is_refused_without_its_value() {
        for (name, value) in [
            ("X-Key", "a\r\nEvil: hunter2"),
            ("X-Key", "hunter2\0"),
            ("Authorization", "hunter2ü"),
            ("X Key", "hunter2"),
            ("", "hunter2"),
        ] {
            let message = invalid(name, value);
            assert!(message.contains("header \"") && !message.contains("hunter2"), "{message}");
        }
    }

    #[test]
    fn the_later_of_two_values_is_sent_and_framing_is_not() {
        let mut request = Request::new(Method::Get, "http://a/");
        for (name, value) in
            [("X-A", "1"), ("x-a", " 2\t"), ("Content-Length", "99"), ("Transfer-Encoding", "chunked"), ("expect", "x")]
        {
            request.headers.push((name.to_owned(), value.to_owned()));
        }
        let headers = Headers::of(&request).unwrap().own;
        assert_eq!(headers.len(), 1);
        assert_eq!(headers["x-a"], "2");
    }
}
