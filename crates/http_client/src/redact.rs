//! Takes secrets out of what errors show: known values anywhere, and values of URL keys that name secrets.

use crate::{Request, Secrets};

const REDACTED: &str = "[REDACTED]";
/// Shorter values would take letters out of every word.
const SHORTEST_SECRET: usize = 4;
/// Query keys whose values are secrets (chapter 03 §3.3 *Redaction*).
const SECRET_KEYS: [&str; 10] = [
    "token",
    "secret",
    "password",
    "api_key",
    "apikey",
    "access_token",
    "client_secret",
    "authorization",
    "refresh_token",
    "key",
];
/// An error shows this many characters of a body.
const SHOWN_CHARACTERS: usize = 500;
/// … and as many of a URL.
const SHOWN_URL: usize = 1000;
/// Enough bytes for the characters that are shown, and for what is taken out of them.
const READ_BYTES: usize = 64 * 1024;

/// Knows the secrets of one request.
#[derive(Debug, Clone, Default)]
pub(crate) struct Redactor {
    keys: Vec<String>,
    /// The longest first, so that a part of one never leaves the rest of another.
    values: Vec<String>,
}

impl Redactor {
    pub(crate) fn of(request: &Request) -> Self {
        let Secrets { headers, params, .. } = &request.secrets;
        let own = request.headers.iter().filter(|(name, _)| crate::header_names::is_credential(name));
        let mut values: Vec<String> = params.iter().map(|(_, value)| value.clone()).collect();
        for (_, value) in headers.iter().chain(own) {
            // `Bearer x`: a server that tells the token back leaves the scheme out.
            values.extend(value.split_once(' ').map(|(_, rest)| rest.trim().to_owned()));
            values.push(value.clone());
        }
        values.extend(request.digest.iter().map(|credentials| credentials.password.clone()));
        values.retain(|value| value.len() >= SHORTEST_SECRET);
        let encoded: Vec<String> =
            values.iter().map(|value| form_urlencoded::byte_serialize(value.as_bytes()).collect()).collect();
        values.extend(encoded);
        values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        values.dedup();
        Self { keys: params.iter().map(|(name, _)| name.to_lowercase()).collect(), values }
    }

    /// A URL as an error may show it.
    pub(crate) fn url(&self, url: &str) -> String {
        let url = url.split('#').next().unwrap_or(url);
        let (base, query) = url.split_once('?').map_or((url, None), |(base, query)| (base, Some(query)));
        let mut shown = without_password(base);
        if let Some(query) = query {
            let pairs: Vec<String> = query.split('&').map(|pair| self.pair(pair)).collect();
            shown = format!("{shown}?{}", pairs.join("&"));
        }
        let shown = self.text(&shown);
        match shown.char_indices().nth(SHOWN_URL) {
            Some((end, _)) => format!("{}…", &shown[..end]),
            None => shown,
        }
    }

    fn pair(&self, pair: &str) -> String {
        let Some((key, _)) = pair.split_once('=') else { return pair.to_owned() };
        if self.is_secret(key) { format!("{key}={REDACTED}") } else { pair.to_owned() }
    }

    fn is_secret(&self, key: &str) -> bool {
        form_urlencoded::parse(key.as_bytes()).any(|(name, _)| {
            let name = name.to_lowercase();
            SECRET_KEYS.contains(&name.as_str()) || self.keys.contains(&name)
        })
    }

    /// A text without the values that are known to be secret.
    pub(crate) fn text(&self, text: &str) -> String {
        self.values.iter().fold(text.to_owned(), |text, value| text.replace(value.as_str(), REDACTED))
    }

    /// The beginning of a body as an error may show it.
    pub(crate) fn body(&self, body: &[u8]) -> String {
        let text = String::from_utf8_lossy(&body[..body.len().min(READ_BYTES)]);
        // Taken out before the text is cut: half a secret would not be found.
        self.text(text.trim()).chars().take(SHOWN_CHARACTERS).collect()
    }
}

/// `https://user:password@host` without the user and the password.
fn without_password(base: &str) -> String {
    let Some((scheme, rest)) = base.split_once("://") else { return base.to_owned() };
    let end = rest.find('/').unwrap_or(rest.len());
    match rest[..end].rfind('@') {
        Some(at) => format!("{scheme}://{REDACTED}@{}", &rest[at + 1..]),
        None => base.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Credentials, Method};

    fn redactor() -> Redactor {
        let mut request = Request::new(Method::Get, "http://a/");
        request.secrets.headers.push(("X-Sign".to_owned(), "Scheme s3cr3t value".to_owned()));
        request.secrets.params.push(("sig".to_owned(), "abc/def".to_owned()));
        request.headers.push(("Authorization".to_owned(), "Bearer t0k3n-t0k3n".to_owned()));
        request.digest = Some(Credentials { user: "u".to_owned(), password: "hunter22".to_owned() });
        Redactor::of(&request)
    }

    #[test]
    fn values_of_secret_keys_are_taken_out_of_urls() {
        for (url, shown) in [
            ("http://a/b?x=1&token=abc&y=2", "http://a/b?x=1&token=[REDACTED]&y=2"),
            ("http://a/b?API_KEY=abc#token=x", "http://a/b?API_KEY=[REDACTED]"),
            ("http://a/b?key=", "http://a/b?key=[REDACTED]"),
            ("http://a/b?%6Bey=1", "http://a/b?%6Bey=[REDACTED]"),
            ("http://a/b?sig=zzz", "http://a/b?sig=[REDACTED]"),
            ("http://a/b?keyword=abc&token", "http://a/b?keyword=abc&token"),
            ("http://me:pw@a/b", "http://[REDACTED]@a/b"),
            ("http://a/b?q=abc%2Fdef", "http://a/b?q=[REDACTED]"),
            ("not a url", "not a url"),
        ] {
            assert_eq!(redactor().url(url), shown, "{url}");
        }
        assert_eq!(redactor().url(&"ü".repeat(5000)).chars().count(), 1001);
    }

    #[test]
    fn known_values_are_taken_out_of_texts() {
        let text = redactor().text("s3cr3t value, t0k3n-t0k3n, hunter22, abc/def");
        assert_eq!(text, "[REDACTED], [REDACTED], [REDACTED], [REDACTED]");
    }

    #[test]
    fn a_body_is_cut_after_its_secrets_are_gone() {
        let body = format!("{}t0k3n-t0k3n", "é".repeat(495));
        assert_eq!(redactor().body(body.as_bytes()), format!("{}[REDA", "é".repeat(495)));
        assert_eq!(redactor().body(&[b'x'; 600]).len(), 500);
        assert_eq!(redactor().body(b"\xff"), "\u{fffd}");
    }
}
