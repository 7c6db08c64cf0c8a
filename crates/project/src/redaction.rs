//! Keeps secrets out of messages (chapter 03 §3.3): of the variables that configuration or `.env` names, those whose
//! name or form says that they are secret; passwords inside others; what is written into configuration as it is;
//! what a run learns, like tokens; and whatever stands where secrets use to stand.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use regex::{Captures, Regex};

use crate::Environment;
use crate::encoded::replaced;
use crate::expansion::variable_names;
use crate::secret_places::{blot_places, by_pattern, embedded_passwords, pattern, texts_of_secrets, written_secrets};

/// Shorter values are no secrets (chapter 03 §3.3), and would turn up everywhere.
pub(crate) const BYTES_MIN: usize = 4;
/// Shortest piece of a secret that is one itself.
const PIECE_MIN: usize = 8;
/// What stands for a secret.
pub const REDACTED: &str = "[REDACTED]";

/// Takes secrets out of texts. Clones share what they know.
#[derive(Clone, Default)]
pub struct Redactor {
    known: Arc<RwLock<Known>>,
}

#[derive(Default)]
struct Known {
    /// Longest first.
    secrets: Vec<String>,
}

impl Redactor {
    /// Collects what must not be shown for the project at `root`.
    pub fn new(root: &Path, environment: &Environment) -> Self {
        let redactor = Self::default();
        // A file that cannot be read is reported where it is used.
        for (path, text) in config_files(root).iter().filter_map(|path| Some((path, fs::read_to_string(path).ok()?))) {
            redactor.add_sql(&text, environment);
            if path.ends_with("config/secrets.sql") {
                redactor.add_all(texts_of_secrets(&text).iter().map(String::as_str));
            }
        }
        for (name, value) in environment.named_in_file() {
            redactor.add_named(name, value, environment);
        }
        redactor
    }

    /// Adds what a configuration file names and what is written into it.
    pub fn add_sql(&self, sql: &str, environment: &Environment) {
        for name in variable_names(sql) {
            self.add_named(&name, environment.get(&name).unwrap_or_default(), environment);
        }
        for literal in written_secrets(sql) {
            self.add_secret(&literal);
        }
    }

    fn add_named(&self, name: &str, value: &str, environment: &Environment) {
        if environment.is_file(name) { self.add_secret(value) } else { self.add_variable(name, value) }
    }

    /// Adds what of a variable is secret, by its name and its form.
    pub fn add_variable(&self, name: &str, value: &str) {
        self.add_all(secret_of(name, value));
    }

    /// Adds a value that a run learned, like a token.
    pub fn add_secret(&self, secret: &str) {
        self.add_all(Some(secret));
    }

    /// `text` without secrets.
    pub fn redact(&self, text: &str) -> String {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let redact = |text: String, secret: &String| replaced(&text, secret, |_| REDACTED.to_owned()).unwrap_or(text);
        let text = known.secrets.iter().fold(text.to_owned(), redact);
        by_pattern(&known.without_pieces(&text))
    }

    /// The text of a file of the user's, of the same length: secrets are blotted out.
    pub fn blot(&self, text: &str) -> String {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let blot =
            |text: String, secret: &String| replaced(&text, secret, |found| "*".repeat(found.len())).unwrap_or(text);
        let text = known.secrets.iter().fold(text.to_owned(), blot);
        blot_places(text)
    }

    fn add_all<'a>(&self, secrets: impl IntoIterator<Item = &'a str>) {
        let forms: Vec<String> = secrets.into_iter().flat_map(forms).collect();
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        for form in forms {
            if let Err(at) = known.secrets.binary_search_by_key(&order(&form), |known| order(known)) {
                known.secrets.insert(at, form);
            }
        }
    }
}

impl Known {
    /// `text` without pieces of secrets: an engine that does not understand a key quotes what it could not read.
    fn without_pieces(&self, text: &str) -> String {
        static WORDS: LazyLock<Regex> = LazyLock::new(|| pattern(&format!("[A-Za-z0-9]{{{PIECE_MIN},}}")));
        let is_piece = |word: &str| {
            // A word of a language is no piece of a key.
            word.bytes().any(|byte| byte.is_ascii_digit())
                && self.secrets.iter().any(|secret| secret.len() > word.len() && secret.contains(word))
        };
        let replaced =
            WORDS.replace_all(
                text,
                |found: &Captures<'_>| {
                    if is_piece(&found[0]) { REDACTED.to_owned() } else { found[0].to_owned() }
                },
            );
        replaced.into_owned()
    }
}

/// A secret may hold another one: the longer one is looked for first.
fn order(secret: &str) -> (std::cmp::Reverse<usize>, String) {
    (std::cmp::Reverse(secret.len()), secret.to_owned())
}

fn config_files(root: &Path) -> Vec<std::path::PathBuf> {
    let folders = ["config", "config/macros", "config/variables"];
    let files = folders.iter().flat_map(|folder| fs::read_dir(root.join(folder)).into_iter().flatten().flatten());
    files.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|ending| ending == "sql")).collect()
}

/// What of a variable's value is secret: all of it if its name or its form says so, else a password inside it.
fn secret_of<'a>(name: &str, value: &'a str) -> Vec<&'a str> {
    if is_public_name(name) {
        return Vec::new();
    }
    if has_secret_name(name) || looks_like_token(value) { vec![value] } else { embedded_passwords(value) }
}

/// The forms in which a secret turns up. An error may quote a piece of a password that broke a connection string or
/// a statement, so its pieces count too.
fn forms(secret: &str) -> Vec<String> {
    let pieces = secret.split(|c: char| !c.is_alphanumeric()).filter(|piece| is_telling(piece));
    let texts: BTreeSet<&str> = pieces.chain([secret]).filter(|text| text.len() >= BYTES_MIN).collect();
    let encoded = if secret.len() >= PIECE_MIN { in_base64(secret) } else { Vec::new() };
    texts.into_iter().map(str::to_owned).chain(encoded).collect()
}

/// A secret in base64, alone and within what else is encoded with it; what fills it up may be there or not.
fn in_base64(secret: &str) -> Vec<String> {
    let engines = [&STANDARD_NO_PAD, &URL_SAFE_NO_PAD];
    let alone = engines.into_iter().map(|engine| engine.encode(secret));
    let within = engines.into_iter().flat_map(|engine| (0..3).map(move |before| (engine, before)));
    let within = within.map(|(engine, before)| {
        let encoded = engine.encode(["\0\0\0".get(..before).unwrap_or_default(), secret].concat());
        // A character is six bits. What it shares with bytes around the secret differs with them.
        encoded[(before * 8).div_ceil(6)..(before + secret.len()) * 8 / 6].to_owned()
    });
    alone.chain(within).collect()
}

/// Whether a piece of a secret says something of it alone: words and numbers stand in messages for other reasons.
fn is_telling(piece: &str) -> bool {
    let has_digit = piece.chars().any(char::is_numeric);
    let has_letter = piece.chars().any(char::is_alphabetic);
    let is_word = !has_digit && piece.chars().skip(1).all(char::is_lowercase);
    has_digit && has_letter || piece.len() >= PIECE_MIN && !is_word
}

/// What `auth` has to show of a provider.
fn is_public_name(name: &str) -> bool {
    ["_AUTH_URL", "_TOKEN_URL", "_CLIENT_ID", "_SCOPE", "_REDIRECT_PORT"].iter().any(|ending| name.ends_with(ending))
}

fn has_secret_name(name: &str) -> bool {
    let name = name.to_uppercase();
    ["KEY", "TOKEN", "SECRET", "PASS", "PW", "AUTH", "CRED"].iter().any(|word| name.contains(word))
}

/// 16 characters or more, letters and digits mixed.
fn looks_like_token(value: &str) -> bool {
    value.len() >= 16
        && value.chars().all(|c| c.is_ascii_alphanumeric() || "_+=-".contains(c))
        && value.chars().any(|c| c.is_ascii_digit())
        && value.chars().any(|c| c.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::Redactor;
    use crate::Environment;

    fn redactor(env: &str, config: &str) -> Redactor {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("config")).unwrap();
        fs::write(dir.path().join("config/catalog.sql"), config).unwrap();
        fs::write(dir.path().join(".env"), env).unwrap();
        Redactor::new(dir.path(), &Environment::load(dir.path(), []).unwrap())
    }

    #[test]
    fn values_and_the_parts_of_passwords_are_replaced() {
        let redactor = redactor("PG_PW=hunter2 it's@s3cret/x\nHOST=localhost\n", "ATTACH '${PG_PW} ${HOST}'");
        assert_eq!(
            redactor.redact("near \"s3cret@127\" hunter2 at localhost"),
            "near \"[REDACTED]@127\" [REDACTED] at localhost"
        );
        assert_eq!(redactor.redact("hunter2 it''s@s3cret/x"), "[REDACTED]");
        assert_eq!(redactor.redact("?p=hunter2%20it%27s%40s3cret%2Fx&a"), "?p=[REDACTED]&a");
    }

    #[test]
    fn secrets_that_only_env_knows_are_replaced_and_other_words_stay() {
        let redactor = redactor(
            "API_TOKEN=abcd1234\nCOLOR=green\nX=a1b2c3d4e5f6a7b8c9\nURL=postgres://u:hunter2@h/lake\n\
             CRM_TOKEN_URL=https://crm.example.com/f1b2c3d4\nCRM_CLIENT_ID=a1b2c3d4e5f6a7b8c0\n",
            "-- ${URL}\n'${URL}'",
        );
        assert_eq!(
            redactor.redact("abcd1234 green a1b2c3d4e5f6a7b8c9 hunter2 lake"),
            "[REDACTED] green [REDACTED] [REDACTED] lake"
        );
        let shown = "https://crm.example.com/f1b2c3d4 a1b2c3d4e5f6a7b8c0";
        assert_eq!(redactor.redact(shown), shown);
    }

    #[test]
    fn what_is_written_into_configuration_is_replaced_and_blotted_out() {
        let sql = "ATTACH 'dbname=x password=opensesame user=u'; CREATE SECRET s (TYPE s3, SECRET 'it''s-mine', \
                   KEY_ID 'AKIA'); ATTACH 'postgresql://u:pa55@h/x'; ATTACH 'q' (TOKEN '${T}', PASSWORD 'abc')";
        let redactor = redactor("", sql);
        assert_eq!(redactor.redact("opensesame it''s-mine AKIA pa55 abc"), "[REDACTED] [REDACTED] AKIA [REDACTED] abc");
        let blotted = redactor.blot(sql);
        assert_eq!(blotted.len(), sql.len());
        assert!(!blotted.contains("opensesame") && !blotted.contains("it''s-mine") && !blotted.contains("pa55"));
        assert!(blotted.contains("dbname=x") && blotted.contains("${T}"));
    }

    #[test]
    fn whatever_secrets_sql_does_not_name_as_public_is_secret() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("config")).unwrap();
        let sql = "CREATE SECRET a (TYPE s3, PROVIDER 'config', KEY_ID 'AKIA', SECRETT 'TypoValue', REGION 'eu-north-1');\n\
                   CREATE SECRET b (TYPE postgres, HOST 'db.example', PASSWORD $$DollarPw$$, x e'EscPw\\'efgh');\n\
                   CREATE SECRET c (TYPE azure, CONNECTION_STRING 'AccountName=n;AccountKey=AccKeyAbc==', \
                   SECRET /* c */\n'MultiLine', EXTRA_HTTP_HEADERS MAP {'Authorization': 'Bearrer x1'}, TOKEN '${T}')";
        fs::write(dir.path().join("config/secrets.sql"), sql).unwrap();
        let redactor = Redactor::new(dir.path(), &Environment::load(dir.path(), []).unwrap());
        let stars = |length: usize| "*".repeat(length);
        let mut blotted = sql.to_owned();
        for secret in
            ["TypoValue", "DollarPw", "EscPw\\'efgh", "AccountName=n;AccountKey=AccKeyAbc==", "MultiLine", "Bearrer x1"]
        {
            blotted = blotted.replace(secret, &stars(secret.len()));
        }
        assert_eq!(redactor.blot(sql), blotted);
    }

    #[test]
    fn passwords_inside_values_and_pieces_of_keys_are_replaced() {
        for (value, secret) in [
            ("host=h password='two words99'", "words99"),
            ("host=h password = spaced1", "spaced1"),
            ("postgresql://h:1/s1?user=u&password=query77", "query77"),
            ("password=first1 sslpassword=second2", "second2"),
            ("PASSWORD=upper33", "upper33"),
            ("postgresql://postgres:p@ssw0/ord@h/x", "ssw0"),
        ] {
            let redactor = redactor(&format!("DSN={value}\n"), "'${DSN}'");
            assert_eq!(redactor.redact(&format!("near {secret}!")), "near [REDACTED]!", "{value}");
        }
        let redactor = redactor("ONDATRA_STATE_KEY=7Xzkdc4KIulSMb2PQWZm944WmBQxP5qzvPgJaR3iJj0=\n", "");
        let text = "syntax error at or near \"Xzkdc4KIulSMb2PQWZm944WmBQxP5qzvPgJaR3iJj0\"";
        assert_eq!(redactor.redact(text), "syntax error at or near \"[REDACTED]\"");
    }

    #[test]
    fn words_in_a_secret_stay_where_they_stand_alone() {
        let redactor = redactor("API_TOKEN=s3cr3tTok/en+value-2026-Connection==\n", "");
        let text = "the value 2026 of a Connection";
        assert_eq!(redactor.redact(text), text);
        assert_eq!(redactor.redact("near s3cr3tTok"), "near [REDACTED]");
    }

    #[test]
    fn secrets_in_urls_are_replaced_and_blotted_out() {
        let redactor = Redactor::default();
        for (text, shown, blotted) in [
            (
                "'http://h/e?api_key=QKey-12ab').ok",
                "'http://h/e?api_key=[REDACTED]').ok",
                "'http://h/e?api_key=*********').ok",
            ),
            ("\"?a=1&key=abc&b\"", "\"?a=1&key=[REDACTED]&b\"", "\"?a=1&key=***&b\""),
            ("https://me:pa55@h/x", "https://me:[REDACTED]@h/x", "https://me:****@h/x"),
            ("https://h:80/a@b", "https://h:80/a@b", "https://h:80/a@b"),
        ] {
            assert_eq!((redactor.redact(text).as_str(), redactor.blot(text).as_str()), (shown, blotted));
        }
        for code in ["f'http://{user}:{password}@h/?token={token}'", "'?key=%s' % token", "token = env.get('T')"] {
            assert_eq!(redactor.blot(code), code);
        }
    }

    #[test]
    fn what_a_script_sets_is_secret_by_its_name() {
        let redactor = Redactor::default();
        redactor.add_variable("MY_API_TOKEN", "dyn-Tok3n-9");
        redactor.add_variable("COLOR", "dark green");
        assert_eq!(redactor.redact("dyn-Tok3n-9 dark green"), "[REDACTED] dark green");
    }

    #[test]
    fn what_a_run_learns_is_replaced_everywhere() {
        let redactor = Redactor::default();
        let shared = redactor.clone();
        redactor.add_secret("tok/en+1");
        redactor.add_secret("abc");
        assert_eq!(shared.redact("x tok/en+1 tok%2Fen%2B1 abc"), "x [REDACTED] [REDACTED] abc");
    }

    #[test]
    fn secrets_in_base64_are_replaced() {
        let redactor = Redactor::default();
        redactor.add_secret("s3cret?>value~1");
        redactor.add_secret("short77");
        let text = "czNjcmV0Pz52YWx1ZX4x czNjcmV0Pz52YWx1ZX4x czNjcmV0Pz52YWx1ZX4x== c2hvcnQ3Nw==";
        assert_eq!(redactor.redact(text), "[REDACTED] [REDACTED] [REDACTED]== c2hvcnQ3Nw==");
        redactor.add_secret("?>?>?>?>??");
        assert_eq!(redactor.redact("Pz4/Pj8+Pz4/Pw== Pz4_Pj8-Pz4_Pw"), "[REDACTED]== [REDACTED]");
    }

    #[test]
    fn what_a_file_holds_is_secret_whatever_its_variable_is_called() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("secret"), "plain words\n").unwrap();
        fs::write(dir.path().join(".env"), "COLOR=file:secret\n").unwrap();
        let redactor = Redactor::new(dir.path(), &Environment::load(dir.path(), []).unwrap());
        assert_eq!(redactor.redact("the plain words"), "the [REDACTED]");
    }

    #[test]
    fn places_of_secrets_are_emptied() {
        let redactor = Redactor::default();
        for (text, expected) in [
            ("Authorization: Bearer a.b-c", "Authorization: Bearer [REDACTED]"),
            ("authorization: Basic dXNlcjpwYXNz!", "authorization: Basic [REDACTED]!"),
            ("basic information", "basic information"),
            ("{\"access_token\": \"x1\", \"n\": 1}", "{\"access_token\": \"[REDACTED]\", \"n\": 1}"),
            ("https://h/p?key=1&a=2&api_key=3#f", "https://h/p?key=[REDACTED]&a=2&api_key=[REDACTED]"),
            ("password=${PG_PW} token: ", "password=${PG_PW} token: "),
            ("a token is missing, the key: 5", "a token is missing, the key: 5"),
        ] {
            assert_eq!(redactor.redact(text), expected);
        }
    }
}
