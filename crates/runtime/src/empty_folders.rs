//! Folders of the lake's data in which no file is left: their names may be values (`v=rejected`), and the lake removes
//! files alone, after a rollback as in maintenance.
//!
//! Only of data on this machine; what cannot be removed stays, and nothing is said of it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use model::code_words;
use types::Target;

use crate::Session;

/// What removes files that the lake does not need.
const CLEANING: [&str; 3] = ["ducklake_cleanup_old_files", "ducklake_delete_orphaned_files", "checkpoint"];

/// Removes the empty folders of a table that nobody else writes.
pub(crate) fn remove_of_table(session: &Session, target: &Target) {
    if let Some(data) = data_folder(session) {
        let table = data.join(&target.schema).join(&target.name);
        // A name with `..` in it is no folder of the lake's.
        if table.components().count() == data.components().count() + 2 {
            remove_empty(&table, &|_| true);
            // With the first table, its schema was rolled back.
            let _ = fs::remove_dir(data.join(&target.schema));
        }
    }
}

/// The folders with something in them before a statement that removes files; `None` if the statement does not.
pub(crate) struct Filled {
    data: PathBuf,
    folders: BTreeSet<PathBuf>,
}

impl Filled {
    pub(crate) fn before(session: &Session, sql: &str) -> Option<Self> {
        let words = code_words(sql);
        if !words.iter().any(|word| CLEANING.contains(&word.as_str())) {
            return None;
        }
        let data = data_folder(session)?;
        let mut folders = BTreeSet::new();
        collect(&data, &mut folders);
        Some(Self { data, folders })
    }

    /// Removes those that are empty now. One that was empty before may be that of a file to come.
    pub(crate) fn remove_emptied(&self) {
        let was_filled = |folder: &Path| self.folders.contains(folder);
        for folder in subfolders(&self.data) {
            remove_empty(&folder, &was_filled);
        }
    }
}

/// Where the lake keeps its files, if that is on this machine.
fn data_folder(session: &Session) -> Option<PathBuf> {
    let sql =
        format!("SELECT value FROM {}.ducklake_metadata WHERE key = 'data_path' AND scope IS NULL", session.metadata);
    let path = PathBuf::from(session.connection.query_value(&sql).ok()?.into_text()?);
    path.is_dir().then_some(path)
}

fn subfolders(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    // Links are not followed: what they lead to is not the lake's.
    entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).map(|entry| entry.path()).collect()
}

fn collect(folder: &Path, filled: &mut BTreeSet<PathBuf>) {
    for inner in subfolders(folder) {
        collect(&inner, filled);
        if fs::read_dir(&inner).is_ok_and(|mut entries| entries.next().is_some()) {
            filled.insert(inner);
        }
    }
}

/// Removes empty folders from the inside out. The system refuses to remove one that has anything in it.
fn remove_empty(folder: &Path, may_go: &dyn Fn(&Path) -> bool) {
    for inner in subfolders(folder) {
        remove_empty(&inner, may_go);
    }
    if may_go(folder) {
        let _ = fs::remove_dir(folder);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;

    use super::{Filled, collect};

    #[test]
    fn only_what_was_filled_and_is_empty_goes() {
        let root = tempfile::tempdir().unwrap();
        let data = root.path().to_owned();
        for folder in ["raw/a/v=1", "raw/a/v=2", "raw/coming", "raw/b"] {
            fs::create_dir_all(data.join(folder)).unwrap();
        }
        for file in ["raw/a/v=1/x", "raw/a/v=2/y", "raw/b/z"] {
            fs::write(data.join(file), "").unwrap();
        }
        std::os::unix::fs::symlink(data.join("raw/coming"), data.join("raw/b/link")).unwrap();
        let mut filled = Filled { data: data.clone(), folders: BTreeSet::new() };
        collect(&data, &mut filled.folders);
        fs::remove_file(data.join("raw/a/v=1/x")).unwrap();
        fs::remove_file(data.join("raw/b/z")).unwrap();
        filled.remove_emptied();
        let exists = |path: &str| data.join(path).exists();
        assert!(!exists("raw/a/v=1") && exists("raw/a/v=2/y") && exists("raw/coming") && exists("raw/b/link"));
        fs::remove_file(data.join("raw/a/v=2/y")).unwrap();
        filled.remove_emptied();
        assert!(!exists("raw/a") && exists("raw"));
    }
}
