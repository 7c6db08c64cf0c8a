//! Origins, and who may receive credentials.

use super::Target;
use crate::HttpError;
use std::fmt;

/// A scheme, a host and a port (RFC 6454).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Origin {
    pub(crate) secure: bool,
    /// In lower case; IPv6 addresses in brackets.
    pub(crate) host: String,
    pub(crate) port: u16,
}

impl Origin {
    /// The origin of an absolute URL.
    pub fn of(url: &str) -> Result<Self, HttpError> {
        Ok(Target::parse(url)?.origin)
    }

    /// Reads `host` or `host:port`.
    pub(super) fn read(secure: bool, place: &str) -> Result<Self, &'static str> {
        let (host, port) = split_port(place)?;
        if host.is_empty() {
            return Err("it has no host");
        }
        if !host.is_ascii() {
            return Err("its host has letters beyond ASCII: write it as punycode, xn--…");
        }
        let port = match port {
            None | Some("") => default_port(secure),
            Some(port) => {
                port.parse().ok().filter(|port| *port > 0).ok_or("its port is not a number from 1 to 65535")?
            }
        };
        Ok(Self { secure, host: host.to_ascii_lowercase(), port })
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", if self.secure { "https" } else { "http" }, self.host)?;
        if self.port == default_port(self.secure) { Ok(()) } else { write!(f, ":{}", self.port) }
    }
}

const fn default_port(secure: bool) -> u16 {
    if secure { 443 } else { 80 }
}

/// `host:port` as its two parts. A colon within brackets belongs to the host.
pub(crate) fn split_port(place: &str) -> Result<(&str, Option<&str>), &'static str> {
    let wrong = "its host is not one";
    let (host, rest) = if place.starts_with('[') {
        place.split_at(place.find(']').ok_or(wrong)? + 1)
    } else {
        place.split_at(place.find(':').unwrap_or(place.len()))
    };
    let is_host = |letter: char| !(letter.is_ascii_whitespace() || "\"<>\\^`{|}%@".contains(letter));
    if !host.chars().all(is_host) {
        return Err(wrong);
    }
    match rest.strip_prefix(':') {
        None if rest.is_empty() => Ok((host, None)),
        None => Err(wrong),
        port => Ok((host, port)),
    }
}

/// One who may get credentials.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receiver(Place);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    Origin(Origin),
    Host { host: String, port: Option<u16> },
}

impl Receiver {
    /// Reads an origin (`https://api.example.com`, of which a path is ignored), or a host with or without port.
    ///
    /// A host without port stands for all of its ports, and a host for both schemes.
    pub fn parse(text: &str) -> Result<Self, HttpError> {
        if text.contains("://") {
            return Ok(Self(Place::Origin(Origin::of(text)?)));
        }
        let invalid = |reason| HttpError::InvalidUrl { url: text.to_owned(), reason };
        let origin = Origin::read(false, text).map_err(invalid)?;
        let (_, port) = split_port(text).map_err(invalid)?;
        Ok(Self(Place::Host { host: origin.host, port: port.map(|_| origin.port) }))
    }

    /// Whether requests to `origin` may carry credentials.
    pub fn covers(&self, origin: &Origin) -> bool {
        match &self.0 {
            Place::Origin(own) => own == origin,
            Place::Host { host, port } => *host == origin.host && port.is_none_or(|port| port == origin.port),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_differ_by_scheme_host_and_port() {
        let origin = |url| Origin::of(url).unwrap();
        assert_eq!(origin("http://A/x"), origin("http://a:80/y?z"));
        assert_eq!(origin("https://a"), origin("https://a:443"));
        assert_ne!(origin("http://a"), origin("https://a"));
        assert_ne!(origin("http://a:81"), origin("http://a"));
        assert_ne!(origin("http://a.b"), origin("http://b"));
        assert_eq!(origin("https://a:8443/x").to_string(), "https://a:8443");
    }

    #[test]
    fn receivers_cover_what_they_name() {
        for (receiver, url, covered) in [
            ("https://a", "https://a/x", true),
            ("https://a", "http://a/x", false),
            ("https://a/v1", "https://a:444/", false),
            ("a", "http://a:81/", true),
            ("A", "https://a/", true),
            ("a", "https://b.a/", false),
            ("a:81", "http://a:81/", true),
            ("a:81", "http://a/", false),
            ("a:443", "https://a/", true),
            ("[::1]:81", "http://[::1]:81/", true),
        ] {
            let receiver = Receiver::parse(receiver).unwrap();
            assert_eq!(receiver.covers(&Origin::of(url).unwrap()), covered, "{receiver:?} {url}");
        }
        for wrong in ["", "a b", "a:x", "ftp://a", "https://"] {
            assert!(Receiver::parse(wrong).is_err(), "{wrong}");
        }
    }
}
