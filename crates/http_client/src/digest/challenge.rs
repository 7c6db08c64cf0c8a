//! Challenges, as they stand in `WWW-Authenticate`.

/// A digest challenge that can be answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Challenge {
    pub realm: String,
    pub nonce: String,
    pub opaque: Option<String>,
    pub hash: Hash,
    pub session: bool,
    /// The name of the algorithm as the server wrote it.
    pub algorithm: Option<String>,
    pub quality: Option<Quality>,
    /// The server wants the user's name hashed.
    pub hashed_user: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hash {
    Md5,
    Sha256,
}

/// The quality of protection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quality {
    Auth,
    AuthInt,
}

impl Quality {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Auth => "auth",
            Self::AuthInt => "auth-int",
        }
    }
}

/// The first challenge among all headers that can be answered: the server names the best one first. Nothing if there
/// is no digest challenge, an error if there is none that can be answered.
pub(crate) fn find(headers: &[(String, String)]) -> Option<Result<Challenge, String>> {
    let values = headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("www-authenticate"));
    let mut first_error = None;
    for params in values.flat_map(|(_, value)| digest_challenges(value)) {
        match read(&params) {
            Ok(challenge) => return Some(Ok(challenge)),
            Err(reason) => first_error = first_error.or(Some(reason)),
        }
    }
    first_error.map(Err)
}

type Params = Vec<(String, String)>;

fn read(params: &Params) -> Result<Challenge, String> {
    let get = |name: &str| params.iter().find(|(own, _)| own == name).map(|(_, value)| value.clone());
    let algorithm = get("algorithm");
    let lower = algorithm.as_deref().unwrap_or("MD5").to_ascii_lowercase();
    let (hash, session) = match lower.as_str() {
        "md5" => (Hash::Md5, false),
        "md5-sess" => (Hash::Md5, true),
        "sha-256" => (Hash::Sha256, false),
        "sha-256-sess" => (Hash::Sha256, true),
        _ => return Err(format!("unknown algorithm \"{}\"", lower.escape_debug())),
    };
    let quality = match get("qop") {
        None => None,
        Some(list) => Some(best_quality(&list).ok_or_else(|| format!("unknown qop \"{}\"", list.escape_debug()))?),
    };
    let nonce = get("nonce").ok_or("it has no nonce")?;
    let hashed_user = get("userhash").is_some_and(|value| value.eq_ignore_ascii_case("true"));
    let realm = get("realm").unwrap_or_default();
    Ok(Challenge { realm, nonce, opaque: get("opaque"), hash, session, algorithm, quality, hashed_user })
}

/// `auth` where it is offered: it needs no second look at the body.
fn best_quality(list: &str) -> Option<Quality> {
    let offered = |quality: Quality| list.split(',').any(|one| one.trim().eq_ignore_ascii_case(quality.as_str()));
    [Quality::Auth, Quality::AuthInt].into_iter().find(|quality| offered(*quality))
}

/// The parameters of each digest challenge of one header, which may hold challenges of several schemes, separated by
/// the same commas as their parameters (RFC 9110 §11.6.1).
fn digest_challenges(value: &str) -> Vec<Params> {
    let mut challenges: Vec<(bool, Params)> = Vec::new();
    for part in crate::links::split_outside_quotes(value, ',') {
        let mut part = part.trim();
        if let Some((scheme, rest)) = scheme(part) {
            challenges.push((scheme.eq_ignore_ascii_case("digest"), Vec::new()));
            part = rest;
        }
        if let (Some((_, params)), Some((name, value))) = (challenges.last_mut(), part.split_once('=')) {
            params.push((name.trim().to_ascii_lowercase(), crate::links::unquoted(value.trim())));
        }
    }
    challenges.into_iter().filter(|(digest, _)| *digest).map(|(_, params)| params).collect()
}

/// A scheme at the beginning of a part: a word that no `=` follows.
fn scheme(part: &str) -> Option<(&str, &str)> {
    let end = part.find(|letter: char| letter.is_ascii_whitespace() || letter == '=').unwrap_or(part.len());
    let (word, rest) = part.split_at(end);
    let rest = rest.trim_start();
    (!word.is_empty() && !rest.starts_with('=')).then_some((word, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find_in(values: &[&str]) -> Option<Result<Challenge, String>> {
        let headers: Vec<_> = values.iter().map(|value| ("Www-Authenticate".to_owned(), (*value).to_owned())).collect();
        find(&headers)
    }

    #[test]
    fn a_challenge_is_read_with_all_its_parts() {
        let header = "Digest realm=\"a, \\\"b\\\"\", NONCE = \"n==\",opaque=\"o\", qop=\"auth-int, auth\", \
                      algorithm=SHA-256-sess, userhash=true, stale=FALSE";
        let challenge = find_in(&[header]).unwrap().unwrap();
        let expected = Challenge {
            realm: "a, \"b\"".to_owned(),
            nonce: "n==".to_owned(),
            opaque: Some("o".to_owned()),
            hash: Hash::Sha256,
            session: true,
            algorithm: Some("SHA-256-sess".to_owned()),
            quality: Some(Quality::Auth),
            hashed_user: true,
        };
        assert_eq!(challenge, expected);
    }

    #[test]
    fn the_first_challenge_that_can_be_answered_is_taken() {
        let hash = |values: &[&str]| find_in(values).unwrap().map(|challenge| challenge.hash);
        assert_eq!(hash(&["Basic realm=\"x\", Digest nonce=1, realm=\"y\""]), Ok(Hash::Md5));
        assert_eq!(
            hash(&["Digest nonce=1, algorithm=SHA-512-256, Digest nonce=2, algorithm=SHA-256"]),
            Ok(Hash::Sha256)
        );
        assert_eq!(hash(&["Bearer", "digest nonce=1,algorithm=md5"]), Ok(Hash::Md5));
        assert_eq!(hash(&["Negotiate abc==, Digest nonce=1, Basic"]), Ok(Hash::Md5));
    }

    #[test]
    fn what_cannot_be_answered_says_why() {
        for (header, reason) in [
            ("Digest nonce=1, algorithm=SHA-512-256", "sha-512-256"),
            ("Digest nonce=1, qop=\"other\"", "qop \"other\""),
            ("Digest realm=\"x\"", "no nonce"),
        ] {
            let message = find_in(&[header]).unwrap().unwrap_err();
            assert!(message.contains(reason), "{message}");
        }
        assert_eq!(find_in(&["Basic realm=\"Digest nonce=1\""]), None);
        assert_eq!(find_in(&[]), None);
    }

    #[test]
    fn auth_int_is_taken_when_nothing_else_is_offered() {
        let quality = |list: &str| find_in(&[&format!("Digest nonce=1, qop={list}")]).unwrap().unwrap().quality;
        assert_eq!(quality("auth-int"), Some(Quality::AuthInt));
        assert_eq!(quality("\"auth,auth-int\""), Some(Quality::Auth));
    }
}
