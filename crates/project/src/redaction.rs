//! Keeps secrets out of messages: of the variables that configuration or `.env` names, those whose name or
//! form says that they are secret, and passwords inside others (chapter 03 §3.3).

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::Environment;
use crate::expansion::variable_names;

/// Shorter values are no secrets (chapter 03 §3.3), and would turn up everywhere.
const BYTES_MIN: usize = 4;

/// Replaces secrets in texts by the names of their variables.
#[derive(Clone, Default)]
pub struct Redactor {
    /// Text → what stands for it, longest first.
    secrets: Vec<(String, String)>,
}

impl Redactor {
    /// Collects what must not be shown for the project at `root`.
    pub fn new(root: &Path, environment: &Environment) -> Self {
        let mut secrets = BTreeMap::new();
        for name in names_in_config(root) {
            add(&name, environment.get(&name).unwrap_or_default(), &mut secrets);
        }
        for (name, value) in environment.named_in_file() {
            add(name, value, &mut secrets);
        }
        let mut secrets: Vec<(String, String)> = secrets.into_iter().collect();
        secrets.sort_by_key(|(text, _)| std::cmp::Reverse(text.len()));
        Self { secrets }
    }

    /// `text` without secrets.
    pub fn redact(&self, text: &str) -> String {
        self.secrets.iter().fold(
            text.to_owned(),
            |text, (secret, name)| {
                if text.contains(secret) { text.replace(secret, name) } else { text }
            },
        )
    }
}

fn names_in_config(root: &Path) -> Vec<String> {
    let folders = ["config", "config/macros", "config/variables"];
    let files = folders.iter().flat_map(|folder| fs::read_dir(root.join(folder)).into_iter().flatten().flatten());
    let sql = files.map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|ending| ending == "sql"));
    // A file that cannot be read is reported where it is used.
    sql.filter_map(|path| fs::read_to_string(path).ok()).flat_map(|text| variable_names(&text)).collect()
}

/// Adds what of the value is secret: all of it if its name or its form says so, else a password inside it.
fn add(name: &str, value: &str, secrets: &mut BTreeMap<String, String>) {
    let secret = if has_secret_name(name) || looks_like_token(value) { Some(value) } else { embedded_password(value) };
    let Some(secret) = secret else { return };
    // An error may quote a piece of a password that broke a connection string or a statement.
    let parts = secret.split(|c: char| !c.is_alphanumeric());
    for text in parts.chain([secret]).filter(|text| text.len() >= BYTES_MIN) {
        for form in [text.to_owned(), text.replace('\'', "''")] {
            secrets.entry(form).or_insert_with(|| format!("${{{name}}}"));
        }
    }
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

/// The password inside a connection URL or a `password=…` string.
fn embedded_password(value: &str) -> Option<&str> {
    if let Some((_, rest)) = value.split_once("://") {
        return rest.rsplit_once('@')?.0.split_once(':').map(|(_, password)| password);
    }
    let (_, rest) = value.split_once("password=")?;
    Some(rest.split_whitespace().next().unwrap_or(rest))
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
            "near \"${PG_PW}@127\" ${PG_PW} at localhost"
        );
        assert_eq!(redactor.redact("hunter2 it''s@s3cret/x"), "${PG_PW}");
    }

    #[test]
    fn secrets_that_only_env_knows_are_replaced_and_other_words_stay() {
        let redactor = redactor(
            "API_TOKEN=abcd1234\nCOLOR=green\nX=a1b2c3d4e5f6a7b8c9\nURL=postgres://u:hunter2@h/lake\n",
            "-- ${URL}\n'${URL}'",
        );
        assert_eq!(
            redactor.redact("abcd1234 green a1b2c3d4e5f6a7b8c9 hunter2 lake"),
            "${API_TOKEN} green ${X} ${URL} lake"
        );
    }
}
