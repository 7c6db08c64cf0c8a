//! Where secrets use to stand: in connection strings, in statements, in lib files, and in texts of anybody.

use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use model::{Code, TokenKind};
use regex::{Captures, Regex};

use crate::redaction::{BYTES_MIN, REDACTED};

/// Passwords inside a connection URL or a `password=…` string.
pub(crate) fn embedded_passwords(value: &str) -> Vec<&str> {
    static PLACES: LazyLock<[Regex; 3]> = LazyLock::new(|| {
        [
            pattern(r"(?i)password\s*=\s*'((?:[^'\\]|\\.)*)'"),
            pattern(r"(?i)password\s*=\s*([^\s'&;]+)"),
            pattern(r"://[^/'@:]*:(.*)@"),
        ]
    });
    let found = PLACES.iter().flat_map(|place| place.captures_iter(value)).filter_map(|found| found.get(1));
    found.map(|found| found.as_str()).collect()
}

/// What secrets are called where they have names (chapter 03 §3.3).
const NAMES: &str = r"(?:access_|refresh_)?token|(?:client_)?secret|password|api_?key|authorization";
/// The password of a URL, `://user:password@`.
const USER_INFO: &str = r#"(://[^\s/?#@:"']*:)([^\s/?#@"'{%$\[][^\s/?#@"']*)@"#;

/// Literal secrets in files: `"pass": "…"`, `Bearer …`.
static PLACES_IN_FILES: LazyLock<[Regex; 4]> = LazyLock::new(|| {
    [
        pattern(
            r#"(?i)(["'](?:pass|password|secret|token|api_?key|authorization|x-api-key)["']\s*:\s*["'])([^"'\n]+)"#,
        ),
        pattern(r"(?i)(\bbearer\s+)([A-Za-z0-9._~+/=-]{4,})"),
        // In URLs. What a script puts in there is no secret yet: `{token}`, `%s`.
        pattern(&format!(r#"(?i)([?&](?:key|{NAMES})=)([^\s&#"'{{%$\[][^\s&#"']*)"#)),
        pattern(USER_INFO),
    ]
});

/// Blots out what stands where secrets use to stand: in a lib file they may be written out.
pub(crate) fn blot_places(text: String) -> String {
    PLACES_IN_FILES.iter().fold(text, |text, place| {
        let stars = |found: &Captures<'_>| {
            let is_none = found[2].contains("${") || found[2].is_empty();
            let stars = format!("{}{}", &found[1], "*".repeat(found[2].len()));
            if is_none { found[0].to_owned() } else { format!("{stars}{}", &found[0][stars.len()..]) }
        };
        place.replace_all(&text, stars).into_owned()
    })
}

pub(crate) fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a pattern of ours is valid")
}

/// Secrets that stand in SQL as they are: values of options, and passwords inside connection strings.
pub(crate) fn written_secrets(sql: &str) -> Vec<String> {
    static PLACES: LazyLock<[Regex; 3]> = LazyLock::new(|| {
        [
            pattern(r"(?i)\b(?:\w*password|\w*secret|\w*token|encryption_key)\b\s*(?:=>|:=|=)?\s*'((?:[^']|'')*)'"),
            pattern(r"(?i)\w*password\s*=\s*(?:'')?([^\s';&]+)"),
            pattern(r"://[^\s/'@:]*:([^\s']+)@"),
        ]
    });
    let found = PLACES.iter().flat_map(|place| place.captures_iter(sql)).filter_map(|found| found.get(1));
    found
        .map(|found| found.as_str().to_owned())
        .filter(|text| text.len() >= BYTES_MIN && !text.contains("${"))
        .collect()
}

/// Options of a secret whose values may be shown.
const PUBLIC_OPTIONS: [&str; 23] = [
    "type",
    "provider",
    "scope",
    "region",
    "endpoint",
    "key_id",
    "url_style",
    "use_ssl",
    "host",
    "hostaddr",
    "port",
    "user",
    "username",
    "database",
    "dbname",
    "socket",
    "ssl_mode",
    "account_name",
    "tenant_id",
    "client_id",
    "chain",
    "profile",
    "account_id",
];

/// The texts of `config/secrets.sql`, but for values that are no secrets: a key that is mistyped holds one as well.
pub(crate) fn texts_of_secrets(sql: &str) -> Vec<String> {
    let code = Code::new(sql);
    let is_text = |at: usize| code.kind(at) == Some(TokenKind::Text);
    let option =
        |at: usize| (0..at).rev().find(|&at| matches!(code.kind(at), Some(TokenKind::Word | TokenKind::QuotedName)));
    let is_public = |at: usize| option(at).is_some_and(|at| code.is(at, &PUBLIC_OPTIONS));
    // The names of a MAP or a STRUCT are none either.
    let secret = |&at: &usize| is_text(at) && !is_public(at) && code.text(at + 1) != ":";
    let texts = (0..code.len()).filter(secret).map(|at| code.value(at));
    texts.filter(|text| text.len() >= BYTES_MIN && !text.contains("${")).collect()
}

/// Takes out what stands where secrets use to stand.
pub(crate) fn by_pattern(text: &str) -> String {
    static BEARER: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?i)\b(bearer\s+)[A-Za-z0-9._~+/=-]+"));
    static BASIC: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?i)\b(basic\s+)([A-Za-z0-9+/=]+)"));
    static NAMED: LazyLock<Regex> =
        LazyLock::new(|| pattern(&format!(r#"(?i)\b({NAMES})(["']?\s*[=:]\s*["']?)([^\s"'&,;)}}\]]+)"#)));
    static PASSWORD: LazyLock<Regex> = LazyLock::new(|| pattern(USER_INFO));
    static QUERY: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?i)([?&]key=)([^\s&#]+)"));
    let text = BEARER.replace_all(text, format!("${{1}}{REDACTED}")).into_owned();
    let text = BASIC.replace_all(&text, |found: &Captures<'_>| {
        let is_pair = STANDARD.decode(&found[2]).is_ok_and(|pair| pair.contains(&b':'));
        if is_pair { format!("{}{REDACTED}", &found[1]) } else { found[0].to_owned() }
    });
    let text = NAMED.replace_all(&text, |found: &Captures<'_>| {
        // A variable's name is no secret, and what is redacted is.
        let is_known = ["${", "[REDACTED", "bearer", "basic"]
            .iter()
            .any(|start| found[3].get(..start.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(start)));
        if is_known { found[0].to_owned() } else { format!("{}{}{REDACTED}", &found[1], &found[2]) }
    });
    let text = QUERY.replace_all(&text, format!("${{1}}{REDACTED}"));
    PASSWORD.replace_all(&text, format!("${{1}}{REDACTED}@")).into_owned()
}
