//! Finds and reads the model files of a project.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::fs;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::available_parallelism;

use model::{Finding, Model, parse_model};
use types::{Place, Rule, Target};

use crate::{ProjectError, target_of};

/// A model file with its target, or why it has none.
#[derive(Debug, Clone)]
pub struct ModelSource {
    /// Path relative to the project.
    pub path: PathBuf,
    /// The target.
    pub target: Result<Target, Finding>,
}

/// The models of a project, and what is wrong with the files that are none.
#[derive(Debug, Default)]
pub struct Models {
    /// Models in path order.
    pub models: Vec<Model>,
    /// Findings in path order.
    pub findings: Vec<Finding>,
}

impl Models {
    /// Reads every model file of the project.
    pub fn read(root: &Path) -> Result<Self, ProjectError> {
        let mut models = Self::default();
        let sources = find_model_files(root)?;
        models.findings.extend(duplicates(&sources).into_iter().map(|twin| twin.finding));
        for (_, read) in read_model_files(root, &sources) {
            match read? {
                Ok(model) => models.models.push(model),
                Err(findings) => models.findings.extend(findings),
            }
        }
        Ok(models)
    }
}

/// All `.sql` files below `models/`, in path order. Dot-files and other endings are ignored.
pub fn find_model_files(root: &Path) -> Result<Vec<ModelSource>, ProjectError> {
    let tree = ModelTree::walk(root);
    match tree.skipped.into_iter().next() {
        Some(skipped) => Err(skipped.error),
        None => Ok(tree.sources),
    }
}

/// What is below `models/`.
#[derive(Debug, Default)]
pub struct ModelTree {
    /// The model files, in path order.
    pub sources: Vec<ModelSource>,
    /// What could not be looked into.
    pub skipped: Vec<Skipped>,
}

/// A folder that cannot be read, or what is named like a model and is no file.
#[derive(Debug)]
pub struct Skipped {
    /// Path relative to the project.
    pub path: PathBuf,
    /// The rule that it breaks.
    pub rule: Rule,
    /// Why.
    pub error: ProjectError,
}

impl ModelTree {
    /// Looks through `models/`; what is in the way of one file is not in that of others.
    pub fn walk(root: &Path) -> Self {
        let mut walk = Walk { root, seen: BTreeSet::new(), paths: Vec::new(), skipped: Vec::new() };
        let models = root.join("models");
        if models.is_dir() {
            walk.folder(&models);
        } else if models.is_symlink() {
            walk.skip(&models, Rule::WalkSkipped, &"it is a link to no folder");
        }
        walk.paths.sort();
        Self { sources: walk.paths.into_iter().map(source).collect(), skipped: walk.skipped }
    }
}

fn source(path: PathBuf) -> ModelSource {
    let target = target_of(path.strip_prefix("models").unwrap_or(&path)).map_err(|message| {
        let help = "rename the folder or file: letters, digits and single underscores, no digit first, no name of the engine's or the runtime's own";
        Finding::new(Rule::BadPath, Place::new(path.clone(), "".into(), 0..0), message, help)
    });
    ModelSource { path, target }
}

struct Walk<'a> {
    root: &'a Path,
    /// Links to folders are followed, each real folder once, so that a circle of links ends.
    seen: BTreeSet<PathBuf>,
    paths: Vec<PathBuf>,
    skipped: Vec<Skipped>,
}

impl Walk<'_> {
    fn folder(&mut self, dir: &Path) {
        let entries = match dir.canonicalize().and_then(|real| Ok((real, sorted_entries(dir)?))) {
            Ok((real, entries)) => {
                if self.seen.insert(real) {
                    entries
                } else {
                    return;
                }
            }
            Err(error) => return self.skip(dir, Rule::WalkSkipped, &error),
        };
        for path in entries {
            if path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b".")) {
                continue;
            }
            if path.is_dir() {
                self.folder(&path);
            } else if path.extension().is_some_and(|ending| ending == "sql") {
                self.file(&path);
            }
        }
    }

    fn file(&mut self, path: &Path) {
        match fs::metadata(path) {
            Ok(kind) if kind.is_file() => self.paths.push(self.relative(path)),
            // A pipe would be waited for without end.
            Ok(_) => self.skip(path, Rule::UnreadableModel, &"it is not a regular file"),
            // A link to nowhere is a mistake to be told.
            Err(error) => self.skip(path, Rule::WalkSkipped, &error),
        }
    }

    fn skip(&mut self, path: &Path, rule: Rule, cause: &dyn Display) {
        let path = self.relative(path);
        let error = ProjectError::File { action: "load models: read", path: path.clone(), cause: cause.to_string() };
        self.skipped.push(Skipped { path, rule, error });
    }

    fn relative(&self, path: &Path) -> PathBuf {
        path.strip_prefix(self.root).unwrap_or(path).to_owned()
    }
}

fn sorted_entries(dir: &Path) -> std::io::Result<BTreeSet<PathBuf>> {
    fs::read_dir(dir)?.map(|entry| entry.map(|entry| entry.path())).collect()
}

/// What reading a model file gives: a model, what is wrong with it, or why it cannot be read.
pub type ReadModel = Result<Result<Model, Vec<Finding>>, ProjectError>;

/// Files that one thread reads before it is worth it to have another beside it.
const FILES_PER_THREAD: usize = 200;

/// Reads and parses model files, with their paths, in the order of `sources`. Many are read side by side.
pub fn read_model_files(root: &Path, sources: &[ModelSource]) -> Vec<(PathBuf, ReadModel)> {
    let read = |ModelSource { path, target }: &ModelSource| {
        let read = match target {
            Ok(target) => read_model_file(root, path, target.clone()),
            Err(finding) => Ok(Err(vec![finding.clone()])),
        };
        (path.clone(), read)
    };
    let threads = available_parallelism().map_or(1, usize::from).min(sources.len() / FILES_PER_THREAD);
    if threads < 2 {
        return sources.iter().map(read).collect();
    }
    std::thread::scope(|scope| {
        let parts = sources.chunks(sources.len().div_ceil(threads));
        let threads: Vec<_> =
            parts.map(|part| scope.spawn(move || part.iter().map(read).collect::<Vec<_>>())).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
    })
}

/// Reads and parses one model file; `path` is relative to the project.
pub fn read_model_file(root: &Path, path: &Path, target: Target) -> ReadModel {
    let failed = |error: &std::io::Error| ProjectError::file("load models: read", path, error);
    let source: Arc<str> = fs::read_to_string(root.join(path)).map_err(|error| failed(&error))?.into();
    Ok(parse_model(path, source, target))
}

/// A target that a file before it has too.
pub struct Duplicate {
    /// The target.
    pub target: Target,
    /// What is wrong with the second file.
    pub finding: Finding,
}

/// Files whose targets DuckDB could not tell apart from those of files before them.
pub fn duplicates(sources: &[ModelSource]) -> Vec<Duplicate> {
    let mut first: BTreeMap<String, &Path> = BTreeMap::new();
    let mut findings = Vec::new();
    for source in sources {
        let Ok(target) = &source.target else { continue };
        match first.get(&target.key()) {
            None => {
                first.insert(target.key(), &source.path);
            }
            Some(other) => {
                let place = Place::new(source.path.clone(), "".into(), 0..0);
                let message = format!(
                    "duplicate target {target}: {} has it too (names are compared without case)",
                    other.display()
                );
                let help = "rename or delete one of the two files";
                let finding = Finding::new(Rule::DuplicateTarget, place, message, help);
                findings.push(Duplicate { target: target.clone(), finding });
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{FILES_PER_THREAD, Models};

    #[test]
    fn only_sql_files_count_and_duplicates_by_case_are_found() {
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in [
            ("models/raw/orders.sql", "SELECT 1"),
            ("models/raw/Orders.sql", "SELECT 1"),
            ("models/orders.sql", "SELECT 1"),
            ("models/main/orders.sql", "SELECT 1"),
            ("models/raw/a_/b.sql", "SELECT 1"),
            ("models/raw/a/_b.sql", "SELECT 1"),
            ("models/raw/.#x.sql", "nonsense"),
            ("models/raw/x.SQL", "nonsense"),
            ("models/raw/notes.md", "nonsense"),
        ] {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let models = Models::read(dir.path()).unwrap();
        assert_eq!(models.models.len(), 6);
        let messages: Vec<String> = models.findings.iter().map(ToString::to_string).collect();
        assert_eq!(messages.len(), 3, "{messages:?}");
        assert!(messages.iter().all(|message| message.contains("duplicate target")));
        assert!(messages.iter().any(|message| message.contains("raw.a___b")));
    }

    #[test]
    fn many_files_are_told_in_path_order_with_the_broken_ones_between_them() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("models/raw")).unwrap();
        for at in 0..FILES_PER_THREAD * 4 + 3 {
            let text = if at % 100 == 7 { "-- @kind: nonsense\nSELECT 1".to_owned() } else { format!("SELECT {at}") };
            fs::write(dir.path().join(format!("models/raw/t{at:04}.sql")), text).unwrap();
        }
        let models = Models::read(dir.path()).unwrap();
        let targets: Vec<String> = models.models.iter().map(|model| model.target.to_string()).collect();
        assert!(targets.is_sorted(), "{targets:?}");
        assert_eq!((models.models.len(), models.findings.len()), (FILES_PER_THREAD * 4 + 3 - 8, 8));
        let places: Vec<String> = models.findings.iter().map(|one| one.place.file().display().to_string()).collect();
        assert!(places.is_sorted() && places[0].ends_with("t0007.sql"), "{places:?}");
    }
}
