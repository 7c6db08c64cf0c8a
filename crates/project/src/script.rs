//! The scripts of `sql/`: `ondatrasql <name>` runs `sql/<name>.sql` (chapter 05 §3.14).

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::ProjectError;

/// A script, as it stands in its file. Nothing in it is expanded.
pub struct Script {
    /// What it is called by.
    pub name: String,
    /// Path relative to the project.
    pub path: PathBuf,
    /// The text as written.
    pub text: Arc<str>,
}

impl Script {
    /// Whether a script may have this name: ASCII letters, digits, `_` and `-`.
    pub fn is_name(name: &str) -> bool {
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
    }

    /// Whether the project has a script of this name.
    pub fn exists(root: &Path, name: &str) -> bool {
        Self::is_name(name) && root.join(path(name)).is_file()
    }

    /// Reads the script of this name.
    pub fn read(root: &Path, name: &str) -> Result<Self, ProjectError> {
        let path = path(name);
        let text = fs::read_to_string(root.join(&path)).map_err(|error| ProjectError::file("read", &path, &error))?;
        Ok(Self { name: name.to_owned(), path, text: text.into() })
    }
}

fn path(name: &str) -> PathBuf {
    Path::new("sql").join(format!("{name}.sql"))
}

/// The names of the project's scripts, sorted.
pub fn script_names(root: &Path) -> Vec<String> {
    // For suggestions only: a folder that cannot be read has none to offer.
    let entries = fs::read_dir(root.join("sql")).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| Some(entry.file_name().to_str()?.strip_suffix(".sql")?.to_owned()));
    let mut names: Vec<String> = names.filter(|name| Script::exists(root, name)).collect();
    names.sort();
    names
}
