//! The answer to a challenge: the value of `Authorization`.

use super::challenge::{Challenge, Hash, Quality};
use crate::Credentials;
use md5::Md5;
use sha2::{Digest, Sha256};
use std::io::Read;

/// What is asked of the server, and by whom.
pub(crate) struct Question<'a> {
    pub credentials: &'a Credentials,
    pub method: &'static str,
    /// The path and the query as they are sent.
    pub uri: &'a str,
    /// A number that the server did not choose.
    pub cnonce: &'a str,
}

/// Answers a challenge. `body` is read for `auth-int` only.
///
/// # Errors
/// Those of reading the body.
pub(crate) fn answer(
    challenge: &Challenge,
    question: &Question,
    body: impl FnOnce() -> std::io::Result<Box<dyn Read + Send>>,
) -> std::io::Result<String> {
    let Question { credentials, method, uri, cnonce } = question;
    let Challenge { realm, nonce, quality, .. } = challenge;
    let hash = |text: String| challenge.hash.of(&mut text.as_bytes());
    let mut secret = hash(format!("{}:{realm}:{}", credentials.user, credentials.password))?;
    if challenge.session {
        secret = hash(format!("{secret}:{nonce}:{cnonce}"))?;
    }
    let asked = match quality {
        Some(Quality::AuthInt) => hash(format!("{method}:{uri}:{}", challenge.hash.of(&mut body()?)?))?,
        _ => hash(format!("{method}:{uri}"))?,
    };
    // Every answer is the first one to its challenge: challenges are not kept.
    let count = "00000001";
    let response = match quality {
        Some(quality) => hash(format!("{secret}:{nonce}:{count}:{cnonce}:{}:{asked}", quality.as_str()))?,
        None => hash(format!("{secret}:{nonce}:{asked}"))?,
    };
    let user =
        if challenge.hashed_user { hash(format!("{}:{realm}", credentials.user))? } else { credentials.user.clone() };

    let quoted = |name: &str, value: &str| format!("{name}=\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""));
    let mut parts = vec![quoted("username", &user), quoted("realm", realm), quoted("nonce", nonce)];
    parts.extend([quoted("uri", uri), quoted("response", &response)]);
    parts.extend(challenge.algorithm.as_ref().map(|name| format!("algorithm={name}")));
    parts.extend(quality.map(|quality| format!("qop={}, nc={count}", quality.as_str())));
    if quality.is_some() || challenge.session {
        parts.push(quoted("cnonce", cnonce));
    }
    parts.extend(challenge.opaque.as_ref().map(|opaque| quoted("opaque", opaque)));
    parts.extend(challenge.hashed_user.then(|| "userhash=true".to_owned()));
    Ok(format!("Digest {}", parts.join(", ")))
}

impl Hash {
    /// The hash of all that `text` gives, in lower hex.
    fn of(self, text: &mut impl Read) -> std::io::Result<String> {
        match self {
            Self::Md5 => hashed::<Md5>(text),
            Self::Sha256 => hashed::<Sha256>(text),
        }
    }
}

fn hashed<D: Digest>(text: &mut impl Read) -> std::io::Result<String> {
    let mut digest = D::new();
    let mut buffer = [0; 8192];
    loop {
        match text.read(&mut buffer)? {
            0 => break,
            read => digest.update(&buffer[..read]),
        }
    }
    Ok(digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::super::find;
    use super::*;

    fn answered(header: &str, user: (&str, &str), uri: &str, cnonce: &str, body: &'static [u8]) -> String {
        let headers = [("Www-Authenticate".to_owned(), header.to_owned())];
        let credentials = Credentials { user: user.0.to_owned(), password: user.1.to_owned() };
        let question = Question { credentials: &credentials, method: "GET", uri, cnonce };
        answer(&find(&headers).unwrap().unwrap(), &question, || Ok(Box::new(body))).unwrap()
    }

    const MUFASA: (&str, &str) = ("Mufasa", "Circle of Life");
    const RFC_7616: &str = "Digest realm=\"http-auth@example.org\", qop=\"auth, auth-int\", \
        nonce=\"7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v\", opaque=\"FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS\"";
    const CNONCE: &str = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ";

    /// RFC 7616 §3.9.1.
    #[test]
    fn the_examples_of_the_standard_come_out() {
        for (algorithm, response) in [
            ("MD5", "8ca523f5e9506fed4657c9700eebdbec"),
            ("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
        ] {
            let header = format!("{RFC_7616}, algorithm={algorithm}");
            let answer = answered(&header, MUFASA, "/dir/index.html", CNONCE, b"");
            assert!(answer.contains(&format!("response=\"{response}\"")), "{answer}");
            assert!(answer.contains("qop=auth, nc=00000001") && answer.contains(&format!("algorithm={algorithm}")));
            assert!(answer.contains("uri=\"/dir/index.html\"") && answer.contains("opaque=\"FQhe/"));
        }
    }

    /// RFC 2617 §3.5, which has another password, and RFC 2069 §2.4 as corrected by its errata, without qop.
    #[test]
    fn older_examples_come_out() {
        let header = "Digest realm=\"testrealm@host.com\", qop=\"auth,auth-int\", \
            nonce=\"dcd98b7102dd2f0e8b11d0f600bfb0c093\", opaque=\"5ccc069c403ebaf9f0171e9517f40e41\"";
        let answer = answered(header, ("Mufasa", "Circle Of Life"), "/dir/index.html", "0a4f113b", b"");
        assert!(answer.contains("response=\"6629fae49393a05397450978507c4ef1\""), "{answer}");
        assert!(!answer.contains("algorithm"), "{answer}");

        let header = "Digest realm=\"testrealm@host.com\", nonce=\"dcd98b7102dd2f0e8b11d0f600bfb0c093\"";
        let answer = answered(header, ("Mufasa", "CircleOfLife"), "/dir/index.html", "x", b"");
        assert!(answer.contains("response=\"1949323746fe6a43ef61f9606e7febea\""), "{answer}");
        assert!(!answer.contains("cnonce") && !answer.contains("nc="), "{answer}");
    }

    /// Sums made with Python's hashlib.
    #[test]
    fn auth_int_hashes_the_body_and_sess_the_nonces() {
        let base = "Digest realm=\"r\", nonce=\"n\"";
        let response = |rest: &str, body| answered(&format!("{base}, {rest}"), ("u", "p"), "/x?y=1", "c", body);
        for (rest, body, sum) in [
            ("qop=auth-int", &b"hello"[..], "155ce17c59d21e4abe3fa8f5a114700b"),
            (
                "qop=auth-int, algorithm=SHA-256",
                b"",
                "5b57fc39261035d8978ee3067e351266c9894d7a1a00d11b494c7a4a3cbcd0f1",
            ),
            ("qop=auth, algorithm=MD5-sess", b"hello", "a70dc86ec07fe4406da622b3556379d2"),
            (
                "qop=auth, algorithm=SHA-256-sess",
                b"hello",
                "f590a788d69dba5e1b62f2b5ec8a21ba8915a1b6d4ebcdb07089c309883f9a7c",
            ),
        ] {
            let answer = response(rest, body);
            assert!(answer.contains(&format!("response=\"{sum}\"")), "{rest}: {answer}");
        }
    }

    #[test]
    fn names_are_escaped_or_hashed() {
        let answer = answered("Digest realm=\"a\\\"b\", nonce=n", ("q\"u", "p"), "/", "c", b"");
        assert!(answer.starts_with("Digest username=\"q\\\"u\", realm=\"a\\\"b\", nonce=\"n\""), "{answer}");
        // RFC 7616 §3.9.2 has the form; the sum is made with Python's hashlib.
        let answer = answered("Digest realm=\"r\", nonce=n, userhash=true", ("u", "p"), "/", "c", b"");
        assert!(
            answer.contains("username=\"ba84be203fdfc7d34e054a76d285d0c9\"") && answer.contains("userhash=true"),
            "{answer}"
        );
    }
}
