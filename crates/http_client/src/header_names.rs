//! Names of headers: how they are written, and which carry credentials.

/// A name as people write it: `content-type` becomes `Content-Type`, `ETag` becomes `Etag`.
pub(crate) fn canonical_header_name(name: &str) -> String {
    let mut starts = true;
    name.chars()
        .map(|letter| {
            let written = if starts { letter.to_ascii_uppercase() } else { letter.to_ascii_lowercase() };
            starts = letter == '-';
            written
        })
        .collect()
}

/// Whether a header proves who asks, by its name alone. Another origin must not get it.
///
/// APIs invent names for keys, so more is taken for a credential than the standards name.
pub(crate) fn is_credential(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let words = ["authorization", "token", "secret", "password", "cookie", "credential"];
    let keys = ["api-key", "apikey", "access-key", "private-key", "subscription-key"];
    name.split('-').any(|part| part == "auth") || words.iter().chain(&keys).any(|part| name.contains(part))
}

/// Whether the client alone may write a header, because it says how the message is framed.
pub(crate) fn is_framing(name: &str) -> bool {
    ["content-length", "transfer-encoding", "expect"].iter().any(|framing| name.eq_ignore_ascii_case(framing))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_written_with_capitals() {
        for (name, written) in [
            ("content-type", "Content-Type"),
            ("ETag", "Etag"),
            ("X-RateLimit-Remaining", "X-Ratelimit-Remaining"),
            ("WWW-AUTHENTICATE", "Www-Authenticate"),
            ("x--a", "X--A"),
            ("", ""),
        ] {
            assert_eq!(canonical_header_name(name), written);
        }
    }

    #[test]
    fn credentials_are_known_by_name() {
        for name in [
            "Authorization",
            "Proxy-Authorization",
            "COOKIE",
            "X-Api-Key",
            "apikey",
            "X-Auth-Token",
            "Private-Token",
            "Ocp-Apim-Subscription-Key",
            "X-Amz-Security-Token",
        ] {
            assert!(is_credential(name), "{name}");
        }
        for name in ["Accept", "X-Trace", "Idempotency-Key", "X-Author", "If-None-Match", "Content-Type"] {
            assert!(!is_credential(name), "{name}");
        }
    }
}
