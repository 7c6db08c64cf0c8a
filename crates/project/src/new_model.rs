//! What `new` makes: a model file with its folders, or folders alone (chapter 05 §3.3).

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use types::Target;

use crate::{ProjectError, find_model_files, target_of};

/// Endings that people try and that no model has.
const OTHER_ENDINGS: [&str; 14] =
    ["py", "sh", "ps1", "ts", "js", "go", "yaml", "yml", "json", "csv", "star", "toml", "md", "txt"];

/// Bytes of the longest name that the file systems of Linux take.
const NAME_BYTES_MAX: usize = 255;

/// What is to be made below `models/`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NewModel {
    /// A model file.
    File {
        /// Path relative to the project.
        path: PathBuf,
        /// The table that it will write.
        target: Target,
    },
    /// Folders.
    Folder {
        /// Path relative to the project.
        path: PathBuf,
    },
}

impl NewModel {
    /// Reads `staging.orders.sql`, `raw.api.orders.sql`, or `raw.api` for folders alone.
    ///
    /// # Errors
    /// What is wrong with it, for the person who typed it.
    pub fn parse(operand: &str) -> Result<Self, String> {
        let (names, is_file) = match operand.rsplit_once('.') {
            Some((names, ending)) if ending.eq_ignore_ascii_case("sql") => (names, true),
            Some((_, ending)) if is_other_ending(ending) => {
                return Err(format!("unsupported extension .{}: a model is a .sql file", ending.to_lowercase()));
            }
            _ => (operand, false),
        };
        let segments: Vec<&str> = names.split('.').collect();
        if segments.contains(&"") {
            return Err("empty path segment".into());
        }
        // A segment with a slash would be folders of its own to `target_of`.
        if let Some(bad) = segments.iter().find(|segment| segment.contains(['/', '\\'])) {
            return Err(format!("invalid path segment `{bad}`"));
        }
        let longest = segments.iter().map(|segment| segment.len()).max().unwrap_or(0) + ".sql".len();
        if longest > NAME_BYTES_MAX {
            return Err(format!(
                "a name is too long for a file: {longest} bytes with its ending, and {NAME_BYTES_MAX} are the most"
            ));
        }
        let below: PathBuf = segments.iter().collect();
        let path = Path::new("models").join(&below);
        if !is_file {
            target_of(&below.join("model.sql"))?;
            return Ok(Self::Folder { path });
        }
        if segments.len() < 2 {
            return Err(format!("`{operand}` must be schema.name, like staging.{names}.sql"));
        }
        let below = PathBuf::from(format!("{}.sql", below.display()));
        let target = target_of(&below)?;
        Ok(Self::File { path: Path::new("models").join(below), target })
    }

    /// Path relative to the project.
    pub fn path(&self) -> &Path {
        match self {
            Self::File { path, .. } | Self::Folder { path } => path,
        }
    }

    /// The schema of the models there: the first folder below `models/`.
    pub fn schema(&self) -> &str {
        let below = self.path().components().nth(1);
        below.and_then(|folder| folder.as_os_str().to_str()).unwrap_or_default()
    }

    /// Makes it in the project at `root`; folders that are there already are fine.
    ///
    /// # Errors
    /// There is a file for this target already, or the system refuses.
    pub fn create(&self, root: &Path) -> Result<(), ProjectError> {
        let failed = |path: &Path, error: &std::io::Error| ProjectError::file("create", path, error);
        match self {
            Self::Folder { path } => fs::create_dir_all(root.join(path)).map_err(|error| failed(path, &error)),
            Self::File { path, target } => {
                if let Some(path) = existing(root, path, target)? {
                    return Err(ProjectError::ModelExists { path, target: target.clone() });
                }
                let folder = path.parent().unwrap_or(path);
                fs::create_dir_all(root.join(folder)).map_err(|error| failed(folder, &error))?;
                write_new(&root.join(path), &text(target)).map_err(|error| failed(path, &error))
            }
        }
    }
}

fn is_other_ending(ending: &str) -> bool {
    OTHER_ENDINGS.iter().any(|known| ending.eq_ignore_ascii_case(known))
}

/// The file that has this path or this target, in any case.
fn existing(root: &Path, path: &Path, target: &Target) -> Result<Option<PathBuf>, ProjectError> {
    if root.join(path).symlink_metadata().is_ok() {
        return Ok(Some(path.to_owned()));
    }
    let has_target = |other: &Result<Target, _>| other.as_ref().is_ok_and(|other| other.key() == target.key());
    Ok(find_model_files(root)?.into_iter().find(|source| has_target(&source.target)).map(|source| source.path))
}

/// Writes a file that must not be there; nothing is left of one that could not be written.
fn write_new(path: &Path, text: &str) -> std::io::Result<()> {
    let mut file = fs::File::create_new(path)?;
    file.write_all(text.as_bytes()).inspect_err(|_| {
        // The first error is the one to tell.
        let _ = fs::remove_file(path);
    })
}

fn text(target: &Target) -> String {
    format!("-- {target}\n-- @kind: table\n\nSELECT *\nFROM source_table\n")
}

#[cfg(test)]
mod tests {
    use super::NewModel;

    fn described(operand: &str) -> Result<String, String> {
        NewModel::parse(operand).map(|new| match new {
            NewModel::File { path, target } => format!("{} {target}", path.display()),
            NewModel::Folder { path } => format!("{}/", path.display()),
        })
    }

    #[test]
    fn points_part_folders() {
        for (operand, expected) in [
            ("staging.orders.sql", "models/staging/orders.sql staging.orders"),
            ("staging.Orders.SQL", "models/staging/Orders.sql staging.Orders"),
            ("raw.api.orders.sql", "models/raw/api/orders.sql raw.api__orders"),
            ("staging", "models/staging/"),
            ("raw.api", "models/raw/api/"),
            ("sql", "models/sql/"),
        ] {
            assert_eq!(described(operand).as_deref(), Ok(expected));
        }
    }

    #[test]
    fn the_first_folder_is_the_schema() {
        for (operand, schema) in [("staging.orders.sql", "staging"), ("raw.api.orders.sql", "raw"), ("mart", "mart")] {
            assert_eq!(NewModel::parse(operand).unwrap().schema(), schema);
        }
    }

    #[test]
    fn a_name_is_as_long_as_a_file_may_have() {
        let fits = "x".repeat(251);
        assert!(NewModel::parse(&format!("raw.{fits}.sql")).is_ok());
        for operand in [format!("raw.{fits}x.sql"), format!("{fits}x.a.sql"), format!("raw.{fits}{fits}")] {
            let message = NewModel::parse(&operand).unwrap_err();
            assert!(message.contains("too long for a file"), "{message}");
        }
    }

    #[test]
    fn what_gives_no_model_is_told() {
        for (operand, expected) in [
            ("orders.sql", "must be schema.name"),
            ("raw.api.star", "unsupported extension .star"),
            ("raw.x.TXT", "unsupported extension .txt"),
            ("raw.md", "unsupported extension .md"),
            ("", "empty path segment"),
            (".sql", "empty path segment"),
            ("raw..x.sql", "empty path segment"),
            ("raw.", "empty path segment"),
            ("raw.a__b.sql", "'__'"),
            ("raw.a__b", "'__'"),
            ("raw.1a.sql", "invalid path segment `1a`"),
            ("raw.a-b", "invalid path segment `a-b`"),
            ("../raw.x.sql", "empty path segment"),
            ("raw/x.y.sql", "invalid path segment `raw/x`"),
            ("raw.wör.sql", "invalid path segment `wör`"),
            ("temp.x.sql", "the engine's own"),
            ("raw._ondatra_x.sql", "reserved for the runtime"),
        ] {
            let message = described(operand).unwrap_err();
            assert!(message.contains(expected), "{operand}: {message}");
        }
    }
}
