//! Which files are asked for (chapter 05 §3.11): a path is a file or a folder inside of `models/` or `lib/`, links
//! followed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Why a path cannot be validated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScopeError {
    /// There is nothing.
    #[error("path not found: {0}")]
    Missing(String),
    /// It is something else.
    #[error("out of scope: {0}")]
    Outside(String),
    /// A folder without files.
    #[error("no files to validate in {0}")]
    Empty(String),
}

impl ScopeError {
    /// What to do.
    pub fn help(&self) -> &'static str {
        match self {
            Self::Missing(_) => "name a file or a folder, from the current folder or from the project's",
            Self::Outside(_) => {
                "name .sql files below models/, .star files directly inside of lib/, or folders of them"
            }
            Self::Empty(_) => "model files end in .sql, lib files stand directly inside of lib/ and end in .star",
        }
    }
}

/// The files of the project that are reported.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Scope(Option<BTreeSet<PathBuf>>);

impl Scope {
    /// The scope of `paths`, each tried from `cwd`, then from `root`; without any, everything. `models` and `libs` are
    /// the files of the project, relative to it.
    pub(crate) fn of(
        root: &Path,
        cwd: &Path,
        paths: &[String],
        models: &[PathBuf],
        libs: &[PathBuf],
    ) -> Result<Self, ScopeError> {
        if paths.is_empty() {
            return Ok(Self(None));
        }
        let trees = [Tree::new(root, "models", "sql", models), Tree::new(root, "lib", "star", libs)];
        let mut files = BTreeSet::new();
        for path in paths {
            let found = [cwd.join(path), root.join(path)].into_iter().find(|path| path.exists());
            let found = found.ok_or_else(|| ScopeError::Missing(path.clone()))?;
            files.extend(files_of(&found, &trees, path)?);
        }
        Ok(Self(Some(files)))
    }

    pub(crate) fn covers(&self, path: &Path) -> bool {
        self.0.as_ref().is_none_or(|files| files.contains(path))
    }
}

/// `models/` or `lib/`.
struct Tree {
    /// Links followed; `None` if it is not there.
    real: Option<PathBuf>,
    ending: &'static str,
    files: Vec<TreeFile>,
}

struct TreeFile {
    path: PathBuf,
    /// With the links of its folders followed, but not its own: a linked file is the model of its own path.
    named: PathBuf,
    /// All links followed.
    real: PathBuf,
}

impl Tree {
    fn new(root: &Path, folder: &str, ending: &'static str, files: &[PathBuf]) -> Self {
        let file = |path: &PathBuf| {
            let full = root.join(path);
            Some(TreeFile { path: path.clone(), named: named(&full)?, real: full.canonicalize().ok()? })
        };
        let files = files.iter().filter_map(file).collect();
        Self { real: root.join(folder).canonicalize().ok(), ending, files }
    }

    fn holds(&self, real: &Path) -> bool {
        self.real.as_ref().is_some_and(|tree| real.starts_with(tree))
    }
}

fn named(path: &Path) -> Option<PathBuf> {
    Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?))
}

fn files_of(path: &Path, trees: &[Tree], written: &str) -> Result<Vec<PathBuf>, ScopeError> {
    let outside = || ScopeError::Outside(written.to_owned());
    let real = path.canonicalize().map_err(|_| ScopeError::Missing(written.to_owned()))?;
    let tree = trees.iter().find(|tree| tree.holds(&real)).ok_or_else(outside)?;
    if real.is_dir() {
        let inside = tree.files.iter().filter(|file| file.named.starts_with(&real));
        let inside: Vec<PathBuf> = inside.map(|file| file.path.clone()).collect();
        return if inside.is_empty() { Err(ScopeError::Empty(written.to_owned())) } else { Ok(inside) };
    }
    if path.extension().is_none_or(|ending| ending != tree.ending) {
        return Err(outside());
    }
    let own = named(path).and_then(|named| tree.files.iter().find(|file| file.named == named));
    let file = own.or_else(|| tree.files.iter().find(|file| file.real == real)).ok_or_else(outside)?;
    Ok(vec![file.path.clone()])
}
