//! Which file `edit` is about (chapter 05 §3.4), told from its operand and from what there is in the project.

use std::fs;
use std::path::{Component, Path, PathBuf};

use types::Target;

use crate::ModelTree;

/// Files of `config/` that are called by a word.
const CONFIG_WORDS: [&str; 6] = ["catalog", "state", "sources", "secrets", "settings", "extensions"];
/// Folders of `config/` whose files are called `<folder>/<name>`.
const CONFIG_FOLDERS: [&str; 2] = ["macros", "variables"];

/// What is to be edited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EditTarget {
    /// `.env` or a file of `config/` that has its place; an editor may make it.
    Fixed(PathBuf),
    /// A file of `config/macros/` or `config/variables/`, which must be there.
    Existing(PathBuf),
    /// A model, as it was named.
    Model(String),
}

impl EditTarget {
    /// Reads the operand; `None` for one that names no file inside of the project.
    pub fn parse(operand: &str) -> Option<Self> {
        if operand == "env" || operand == ".env" {
            return Some(Self::Fixed(".env".into()));
        }
        if operand.contains("..") || operand.contains(|c: char| c == '\\' || c.is_control()) {
            return None;
        }
        let name = operand.strip_suffix(".sql").unwrap_or(operand);
        if CONFIG_WORDS.contains(&name) {
            return Some(Self::Fixed(format!("config/{name}.sql").into()));
        }
        let (folder, file) = name.split_once('/').map_or((None, name), |(folder, file)| (Some(folder), file));
        let is_name = !file.is_empty() && !file.contains('/') && !file.starts_with('.');
        match folder {
            _ if !is_name => None,
            None => Some(Self::Model(file.to_owned())),
            Some(folder) if CONFIG_FOLDERS.contains(&folder) => {
                Some(Self::Existing(format!("config/{folder}/{file}.sql").into()))
            }
            Some(_) => None,
        }
    }
}

/// The words that open a file of the configuration, as `edit` takes them: those that always do, then the files that the
/// project has.
pub fn edit_words(root: &Path) -> Vec<String> {
    let mut words: Vec<String> = ["env"].iter().chain(&CONFIG_WORDS).map(|&word| word.to_owned()).collect();
    for folder in CONFIG_FOLDERS {
        // For suggestions only: a folder that cannot be read has none to offer.
        let entries = fs::read_dir(root.join("config").join(folder)).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| Some(entry.file_name().to_str()?.strip_suffix(".sql")?.to_owned()));
        let mut found: Vec<String> = names.map(|name| format!("{folder}/{name}")).collect();
        found.sort();
        words.extend(found);
    }
    words
}

/// The file of the model of this name, relative to the project; exact, or else without regard to case. Other files may be
/// broken.
pub fn model_file(root: &Path, name: &str) -> Option<PathBuf> {
    let sources = ModelTree::walk(root).sources;
    let find = |fits: &dyn Fn(&Target) -> bool| {
        sources.iter().find(|source| source.target.as_ref().is_ok_and(fits)).map(|source| source.path.clone())
    };
    find(&|target| target.to_string() == name).or_else(|| find(&|target| target.key() == name.to_lowercase()))
}

/// The source file that a commit names, if it is a `.sql` file inside of the project. A commit may say anything.
pub fn committed_file(root: &Path, source_file: &str) -> Option<PathBuf> {
    let path = Path::new(source_file);
    let is_below = path.components().all(|part| matches!(part, Component::Normal(_)));
    let is_sql = path.extension().is_some_and(|ending| ending == "sql");
    (is_below && is_sql && root.join(path).is_file()).then(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::EditTarget::{Existing, Fixed, Model};
    use super::{EditTarget, committed_file, edit_words};

    #[test]
    fn words_are_files_of_the_configuration_and_all_else_a_model() {
        for (operand, expected) in [
            ("env", Fixed(".env".into())),
            (".env", Fixed(".env".into())),
            ("catalog", Fixed("config/catalog.sql".into())),
            ("state.sql", Fixed("config/state.sql".into())),
            ("macros/helpers", Existing("config/macros/helpers.sql".into())),
            ("variables/local.sql", Existing("config/variables/local.sql".into())),
            ("raw.orders", Model("raw.orders".into())),
            ("raw.api__orders.sql", Model("raw.api__orders".into())),
            ("catalog.orders", Model("catalog.orders".into())),
            ("nonsense", Model("nonsense".into())),
        ] {
            assert_eq!(EditTarget::parse(operand), Some(expected), "{operand}");
        }
    }

    #[test]
    fn nothing_outside_of_the_project_can_be_named() {
        for operand in [
            "",
            ".sql",
            "..",
            "../x",
            "macros/../catalog",
            "macros/",
            "macros/.sql",
            "macros/a/b",
            "/etc/passwd",
            "raw/orders",
            "raw\\orders",
            "raw..orders",
            "schemas/x",
            "a\nb",
        ] {
            assert_eq!(EditTarget::parse(operand), None, "{operand:?}");
        }
    }

    #[test]
    fn a_commit_names_no_file_outside_of_the_project() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("project");
        std::fs::create_dir_all(root.join("other")).unwrap();
        for path in ["out.sql", "project/other/a.sql", "project/other/a.txt"] {
            std::fs::write(dir.path().join(path), "").unwrap();
        }
        assert_eq!(committed_file(&root, "other/a.sql"), Some("other/a.sql".into()));
        let absolute = dir.path().join("out.sql").display().to_string();
        for path in ["../out.sql", &absolute, "other/a.txt", "other/b.sql", "other", ""] {
            assert_eq!(committed_file(&root, path), None, "{path}");
        }
    }

    #[test]
    fn every_word_that_is_offered_can_be_edited() {
        let dir = tempfile::tempdir().unwrap();
        for file in ["macros/b.sql", "macros/a.sql", "macros/notes.md", "variables/local.sql"] {
            let path = dir.path().join("config").join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        let words = edit_words(dir.path());
        assert_eq!(words[..2], ["env", "catalog"]);
        assert_eq!(words[7..], ["macros/a", "macros/b", "variables/local"]);
        assert!(words.iter().all(|word| matches!(EditTarget::parse(word), Some(Fixed(_) | Existing(_)))), "{words:?}");
    }
}
