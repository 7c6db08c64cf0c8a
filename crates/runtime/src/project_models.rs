//! Which models a run is about.

use std::path::Path;

use model::Model;
use project::{ModelSource, Models, duplicates, find_model_files, read_model_file};
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
/// Other files may be broken, but none may have the same target.
pub fn select_model(root: &Path, cwd: &Path, operand: &str) -> Result<Model, RunError> {
    let sources = find_model_files(root)?;
    let source = locate(root, cwd, operand, &sources)?;
    let target = source.target?;
    if let Some(twin) = duplicates(&sources).into_iter().find(|twin| twin.target.key() == target.key()) {
        return Err(twin.finding.into());
    }
    match read_model_file(root, &source.path, target)? {
        Ok(model) => Ok(model),
        Err(findings) => match findings.into_iter().next() {
            Some(finding) => Err(finding.into()),
            None => Err(not_found(operand, None)),
        },
    }
}

fn locate(root: &Path, cwd: &Path, operand: &str, sources: &[ModelSource]) -> Result<ModelSource, RunError> {
    if Path::new(operand).extension().is_some_and(|ending| ending == "sql") {
        let file = [cwd.join(operand), root.join(operand)].into_iter().find(|path| path.is_file());
        return file.and_then(|path| by_path(root, &path, sources)).ok_or_else(|| not_found(operand, None));
    }
    let known = || sources.iter().filter_map(|source| Some((source, source.target.as_ref().ok()?)));
    let exact = known().find(|(_, target)| target.to_string() == operand);
    let any_case = || known().find(|(_, target)| target.key() == operand.to_lowercase());
    match exact.or_else(any_case) {
        Some((source, _)) => Ok(source.clone()),
        None => Err(not_found(operand, closest(operand, known().map(|(_, target)| target.to_string())))),
    }
}

/// A file below `models/` has the target of its path; any other is tried out as `tmp.<name>`.
fn by_path(root: &Path, path: &Path, sources: &[ModelSource]) -> Option<ModelSource> {
    // The folder's links are resolved, the file's own is not: a linked model is the model of its own path.
    let folder = path.parent()?.canonicalize().ok()?;
    let named = folder.join(path.file_name()?);
    let same = |source: &&ModelSource| {
        let other = root.join(&source.path);
        other.file_name() == path.file_name()
            && other.parent().is_some_and(|dir| dir.canonicalize().is_ok_and(|dir| dir == folder))
    };
    if let Some(source) = sources.iter().find(same) {
        return Some(source.clone());
    }
    let path = named.as_path();
    let name = path.file_stem()?.to_str()?.replace('.', "_");
    let inside = root.canonicalize().ok().and_then(|root| path.strip_prefix(root).ok().map(Path::to_owned));
    Some(ModelSource { path: inside.unwrap_or_else(|| path.to_owned()), target: Ok(Target::new("tmp", name)) })
}

fn not_found(operand: &str, suggestion: Option<String>) -> RunError {
    RunError::ModelNotFound { name: operand.to_owned(), suggestion }
}

/// The known name that is most like one that is not known.
pub(crate) fn closest(name: &str, known: impl Iterator<Item = String>) -> Option<String> {
    let name = name.to_lowercase();
    let distance = |other: &String| {
        let other = other.to_lowercase();
        // A table named without its schema.
        let bare = other.split_once('.').map_or("", |(_, table)| table);
        if bare == name { 0 } else { strsim::damerau_levenshtein(&name, &other) }
    };
    let rated = known.map(|other| (distance(&other), other));
    rated.min().filter(|(distance, _)| *distance <= 3).map(|(_, other)| other)
}
