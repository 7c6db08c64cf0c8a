//! Keeps secrets out of messages: values of the environment that configuration uses, and those of `.env`
//! that look like secrets (chapter 03 §3.3).

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::Environment;
use crate::expansion::variable_names;

/// Shorter values are no secrets, and would turn up everywhere.
const VALUE_BYTES_MIN: usize = 3;
/// Shorter parts of a value are common words.
const PART_BYTES_MIN: usize = 4;

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
            if has_secret_name(name) || looks_like_token(value) {
                add(name, value, &mut secrets);
            }
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

fn add(name: &str, value: &str, secrets: &mut BTreeMap<String, String>) {
    let shown = format!("${{{name}}}");
    let mut keep = |text: &str, bytes_min: usize| {
        if text.len() >= bytes_min {
            for form in [text.to_owned(), text.replace('\'', "''")] {
                secrets.entry(form).or_insert_with(|| shown.clone());
            }
        }
    };
    keep(value, VALUE_BYTES_MIN);
    // An error may quote a piece of a password that broke a connection string or a statement.
    let parts = |text: &str| text.split(|c: char| !c.is_alphanumeric()).map(str::to_owned).collect::<Vec<_>>();
    let password = if has_secret_name(name) { Some(value) } else { embedded_password(value) };
    for part in password.into_iter().flat_map(parts) {
        keep(&part, PART_BYTES_MIN);
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
            "near \"${PG_PW}@127\" ${PG_PW} at ${HOST}"
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
