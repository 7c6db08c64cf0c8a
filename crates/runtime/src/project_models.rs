//! Which models a run is about.

use std::path::{Path, PathBuf};

use model::Model;
use project::{Models, find_model_files, read_model_file, target_of};
use types::Target;

use crate::RunError;

/// Every model of the project; an error at the first file that does not parse.
pub fn load_models(root: &Path) -> Result<Vec<Model>, RunError> {
    let models = Models::read(root)?;
    match models.findings.into_iter().next() {
        Some(finding) => Err(finding.into()),
        None => Ok(models.models),
    }
}

/// The model named by `operand`, a target or the path of a `.sql` file, tried from `cwd`, then from `root`.
/// Other files may be broken.
pub fn select_model(root: &Path, cwd: &Path, operand: &str) -> Result<Model, RunError> {
    let (path, target) = locate(root, cwd, operand)?;
    match read_model_file(root, &path, target)? {
        Ok(model) => Ok(model),
        Err(findings) => match findings.into_iter().next() {
            Some(finding) => Err(finding.into()),
            None => Err(not_found(operand, None)),
        },
    }
}

fn locate(root: &Path, cwd: &Path, operand: &str) -> Result<(PathBuf, Target), RunError> {
    if Path::new(operand).extension().is_some_and(|ending| ending == "sql") {
        let file = [cwd.join(operand), root.join(operand)].into_iter().find(|path| path.is_file());
        return file.and_then(|path| by_path(root, &path)).ok_or_else(|| not_found(operand, None));
    }
    let known = find_model_files(root)?.into_iter().filter_map(|source| Some((source.path, source.target.ok()?)));
    let known: Vec<(PathBuf, Target)> = known.collect();
    let exact = known.iter().find(|(_, target)| target.to_string() == operand);
    let any_case = || known.iter().find(|(_, target)| target.key() == operand.to_lowercase());
    match exact.or_else(any_case) {
        Some(found) => Ok(found.clone()),
        None => Err(not_found(operand, closest(operand, known.iter().map(|(_, target)| target.to_string())))),
    }
}

/// A file below `models/` has the target of its path; any other is tried out as `tmp.<name>`.
fn by_path(root: &Path, path: &Path) -> Option<(PathBuf, Target)> {
    let path = path.canonicalize().ok()?;
    let root = root.canonicalize().ok()?;
    let inside = path.strip_prefix(&root).map_or_else(|_| path.clone(), Path::to_owned);
    if let Ok(below) = inside.strip_prefix("models") {
        let target = target_of(below).ok()?;
        return Some((inside, target));
    }
    let name = path.file_stem()?.to_str()?.replace('.', "_");
    Some((inside, Target::new("tmp", name)))
}

fn not_found(operand: &str, suggestion: Option<String>) -> RunError {
    RunError::ModelNotFound { name: operand.to_owned(), suggestion }
}

fn closest(name: &str, known: impl Iterator<Item = String>) -> Option<String> {
    let name = name.to_lowercase();
    let rated = known.map(|other| (strsim::damerau_levenshtein(&name, &other.to_lowercase()), other));
    rated.min().filter(|(distance, _)| *distance <= 3).map(|(_, other)| other)
}
