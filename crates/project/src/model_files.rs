//! Finds and reads the model files of a project.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use model::{Finding, Model, Rule, parse_model};
use types::{Place, Target};

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
        for source in sources {
            match source.target {
                Err(finding) => models.findings.push(finding),
                Ok(target) => match read_model_file(root, &source.path, target)? {
                    Ok(model) => models.models.push(model),
                    Err(findings) => models.findings.extend(findings),
                },
            }
        }
        Ok(models)
    }
}

/// All `.sql` files below `models/`, in path order. Dot-files and other endings are ignored.
pub fn find_model_files(root: &Path) -> Result<Vec<ModelSource>, ProjectError> {
    let mut paths = Vec::new();
    let models = root.join("models");
    if models.is_dir() {
        walk(root, &models, &mut BTreeSet::new(), &mut paths)?;
    }
    paths.sort();
    let source = |path: PathBuf| {
        let target = target_of(path.strip_prefix("models").unwrap_or(&path)).map_err(|message| {
            let help = "rename the folder or file: letters, digits and single underscores, no digit first, no name of the engine's or the runtime's own";
            Finding::new(Rule::BadPath, Place::new(path.clone(), "".into(), 0..0), message, help)
        });
        ModelSource { path, target }
    };
    Ok(paths.into_iter().map(source).collect())
}

fn walk(root: &Path, dir: &Path, seen: &mut BTreeSet<PathBuf>, paths: &mut Vec<PathBuf>) -> Result<(), ProjectError> {
    let relative = |path: &Path| path.strip_prefix(root).unwrap_or(path).to_owned();
    let failed = |error: &std::io::Error| ProjectError::file("load models: read", &relative(dir), error);
    // Links to folders are followed, each real folder once, so that a circle of links ends.
    if !seen.insert(dir.canonicalize().map_err(|error| failed(&error))?) {
        return Ok(());
    }
    let entries = fs::read_dir(dir).map_err(|error| failed(&error))?;
    let paths_here = entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<BTreeSet<_>, _>>();
    for path in paths_here.map_err(|error| failed(&error))? {
        if path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b".")) {
            continue;
        }
        if path.is_dir() {
            walk(root, &path, seen, paths)?;
        } else if path.extension().is_some_and(|ending| ending == "sql") {
            // A pipe would be waited for without end, a link to nowhere is a mistake to be told.
            let kind = fs::metadata(&path)
                .map_err(|error| ProjectError::file("load models: read", &relative(&path), &error))?;
            if !kind.is_file() {
                let cause = "it is not a regular file".to_owned();
                return Err(ProjectError::File { action: "load models: read", path: relative(&path), cause });
            }
            paths.push(relative(&path));
        }
    }
    Ok(())
}

/// Reads and parses one model file; `path` is relative to the project.
pub fn read_model_file(root: &Path, path: &Path, target: Target) -> Result<Result<Model, Vec<Finding>>, ProjectError> {
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

    use super::Models;

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
}
