//! Checks `config/state.sql` before anything is opened or created with it.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use model::{Code, TokenKind};

use crate::config_files::read;
use crate::{ConfigFile, Environment, ProjectError};

/// Length of the state file's key in bytes (AES-256).
const KEY_BYTES: usize = 32;

/// Reads `config/state.sql`; an error if it is missing, uses an undefined variable or holds a key of the wrong length.
pub fn check_state_key(root: &Path, environment: &Environment) -> Result<ConfigFile, ProjectError> {
    let file = read(root, "state.sql", "state.sql", environment)?.ok_or(ProjectError::StateRequired)?;
    check_key(&file)?;
    Ok(file)
}

/// The same for a file like `config/state.sql` that stands elsewhere; `path` is absolute.
pub fn read_state_file(root: &Path, path: &Path, environment: &Environment) -> Result<ConfigFile, ProjectError> {
    let shown = path.strip_prefix(root).unwrap_or(path);
    let source = std::fs::read_to_string(path).map_err(|error| ProjectError::file("read", shown, &error))?;
    let file = ConfigFile::new(&shown.display().to_string(), shown, source, environment)?;
    check_key(&file)?;
    Ok(file)
}

/// A new key for a state file, in base64.
pub fn draw_state_key() -> Result<String, ProjectError> {
    let mut key = [0; KEY_BYTES];
    getrandom::fill(&mut key).map_err(|error| ProjectError::File {
        action: "draw random bytes for",
        path: ".env".into(),
        cause: error.to_string(),
    })?;
    Ok(STANDARD.encode(key))
}

/// An error if the file holds a key of the wrong length.
fn check_key(file: &ConfigFile) -> Result<(), ProjectError> {
    if let Some((key, at)) = encryption_key(&file.expanded.text) {
        let problem = match STANDARD.decode(&key) {
            _ if key.is_empty() => Some("the ENCRYPTION_KEY is empty".to_owned()),
            Err(_) => Some("the ENCRYPTION_KEY is not base64".to_owned()),
            Ok(bytes) if bytes.len() != KEY_BYTES => {
                Some(format!("the ENCRYPTION_KEY decodes to {} bytes, it must be {KEY_BYTES}", bytes.len()))
            }
            Ok(_) => None,
        };
        if let Some(message) = problem {
            return Err(ProjectError::StateKey { message, place: Box::new(file.place(at)) });
        }
    }
    Ok(())
}

impl ConfigFile {
    /// The text after the word `ENCRYPTION_KEY`.
    pub fn encryption_key(&self) -> Option<String> {
        encryption_key(&self.expanded.text).map(|(key, _)| key)
    }

    /// The variable that is all of that text, as written.
    pub fn encryption_key_variable(&self) -> Option<String> {
        let (key, _) = encryption_key(&self.source)?;
        let name = key.strip_prefix("${")?.strip_suffix('}')?;
        types::is_identifier(name).then(|| name.to_owned())
    }
}

/// The text after the word `ENCRYPTION_KEY`, and its first byte.
fn encryption_key(sql: &str) -> Option<(String, usize)> {
    let code = Code::new(sql);
    let at = 1 + (0..code.len()).find(|&at| code.is(at, &["encryption_key"]))?;
    (code.kind(at) == Some(TokenKind::Text)).then(|| (code.value(at), code.start(at) + 1))
}
