//! An absolute URL, taken apart and checked.

use super::Origin;
use crate::HttpError;
use crate::redact::Redactor;
use ureq::http::Uri;

/// Where a request goes.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub origin: Origin,
    /// The path and the query as they are sent: with `/` at the beginning, without fragment.
    pub path: String,
    /// The user and the password that the URL holds, decoded.
    pub userinfo: Option<(String, String)>,
    pub uri: Uri,
}

impl Target {
    /// Takes an absolute `http` or `https` URL apart.
    ///
    /// The path and the query stay as they are but for bytes that no request may hold; those are percent-encoded.
    pub(crate) fn parse(url: &str) -> Result<Self, HttpError> {
        Self::read(url).map_err(|reason| HttpError::InvalidUrl { url: Redactor::default().url(url), reason })
    }

    fn read(url: &str) -> Result<Self, &'static str> {
        if url.bytes().any(|byte| byte.is_ascii_control()) {
            return Err("it holds a control character");
        }
        let (scheme, rest) =
            url.split_once("://").ok_or("it is not absolute: it must begin with http:// or https://")?;
        let secure = match scheme.to_ascii_lowercase().as_str() {
            "http" => false,
            "https" => true,
            _ => return Err("its scheme is neither http nor https"),
        };
        let rest = rest.split('#').next().unwrap_or(rest);
        let end = rest.find(['/', '?', '\\']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        let (userinfo, place) = match authority.rsplit_once('@') {
            Some((userinfo, place)) => (Some(userinfo), place),
            None => (None, authority),
        };
        let origin = Origin::read(secure, place)?;
        let path = escaped(path);
        let uri = format!("{origin}{path}").parse().map_err(|_| "it holds characters that a URL cannot hold")?;
        Ok(Self { origin, path, userinfo: userinfo.map(user_and_password), uri })
    }

    /// The URL in one piece, without user and password.
    pub(crate) fn url(&self) -> String {
        format!("{}{}", self.origin, self.path)
    }
}

fn user_and_password(userinfo: &str) -> (String, String) {
    let (user, password) = userinfo.split_once(':').unwrap_or((userinfo, ""));
    (percent_decoded(user), percent_decoded(password))
}

fn percent_decoded(text: &str) -> String {
    let hex = |byte: Option<&u8>| byte.and_then(|byte| char::from(*byte).to_digit(16));
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        match (bytes[at], hex(bytes.get(at + 1)), hex(bytes.get(at + 2))) {
            (b'%', Some(high), Some(low)) => {
                decoded.extend(u8::try_from(high * 16 + low));
                at += 3;
            }
            (byte, ..) => {
                decoded.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

/// A path and a query with what cannot stand in a request line percent-encoded, and nothing else.
fn escaped(path_and_query: &str) -> String {
    let slash = if path_and_query.starts_with('/') { "" } else { "/" };
    let mut escaped = slash.to_owned();
    let mut in_query = false;
    for byte in path_and_query.bytes() {
        in_query |= byte == b'?';
        let refused = match byte {
            b'"' | b'<' | b'>' => true,
            b'`' | b'{' | b'}' | b'^' | b'\\' | b'|' => !in_query,
            _ => !byte.is_ascii_graphic(),
        };
        if refused {
            escaped.push_str(&format!("%{byte:02X}"));
        } else {
            escaped.push(char::from(byte));
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_sent_as_they_are_written() {
        for (url, sent) in [
            ("http://a", "http://a/"),
            ("HTTPS://Example.COM:443/a", "https://example.com/a"),
            ("http://a:80?x", "http://a/?x"),
            ("http://a:8080/%2e/../b?c=%zz&d='e'#f", "http://a:8080/%2e/../b?c=%zz&d='e'"),
            ("http://a/a b/ü?q=a b&r=ü&s={x}|`^", "http://a/a%20b/%C3%BC?q=a%20b&r=%C3%BC&s={x}|`^"),
            ("http://a/{x}?\"<>", "http://a/%7Bx%7D?%22%3C%3E"),
            ("http://u:p@a/", "http://a/"),
            ("http://[::1]:99/x", "http://[::1]:99/x"),
            ("http://a:/x", "http://a/x"),
            ("http://evil\\@good/", "http://evil/%5C@good/"),
        ] {
            assert_eq!(Target::parse(url).unwrap().url(), sent, "{url}");
        }
    }

    #[test]
    fn other_urls_are_refused() {
        for (url, reason) in [
            ("", "not absolute"),
            ("/path", "not absolute"),
            ("//host/path", "not absolute"),
            ("ftp://a/", "neither http nor https"),
            ("file:///etc/passwd", "neither http nor https"),
            ("http:///x", "no host"),
            ("http://:80/x", "no host"),
            ("http://a:99999/", "port"),
            ("http://a:0/", "port"),
            ("http://a:b/", "port"),
            ("http://a b/", "host"),
            ("http://bücher.example/", "punycode"),
            ("http://[::1/", "host"),
            ("http://[::1]x/", "host"),
            ("http://a/\r\nX: y", "control"),
            ("http://a/\0", "control"),
        ] {
            let message = Target::parse(url).unwrap_err().to_string();
            assert!(message.contains("invalid URL") && message.contains(reason), "{url}: {message}");
        }
        let message = Target::parse("ftp://me:hunter2@a/?token=abc").unwrap_err().to_string();
        assert!(!message.contains("hunter2") && !message.contains("abc"), "{message}");
        assert!(Target::parse(&format!("http://a/{}", "x".repeat(70_000))).is_err());
    }

    #[test]
    fn user_and_password_are_decoded() {
        let userinfo = |url: &str| Target::parse(url).unwrap().userinfo;
        assert_eq!(userinfo("http://a%40b:p%3aw%zz@c/"), Some(("a@b".to_owned(), "p:w%zz".to_owned())));
        assert_eq!(userinfo("http://a@c/"), Some(("a".to_owned(), String::new())));
        assert_eq!(userinfo("http://c/@"), None);
    }
}
