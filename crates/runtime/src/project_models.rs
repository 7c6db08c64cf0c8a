//! Which models a run is about.

use std::path::Path;

use model::Model;
use project::{ModelSource, Models, duplicates, find_model_files, read_model_file, target_of};
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

/// The name of the model that `operand` means to a command that looks back: that of the model whose `.sql` file it is the
/// path of, tried from `cwd`, then from `root`; anything else is a name already. A path below `models/` without a file
/// means the model that it had.
///
/// # Errors
/// The file can be no model, or `models/` cannot be read.
pub fn named_model(root: &Path, cwd: &Path, operand: &str) -> Result<String, RunError> {
    if !is_sql_file(operand) {
        return Ok(operand.to_owned());
    }
    let paths = [cwd.join(operand), root.join(operand)];
    if let Some(path) = paths.iter().find(|path| path.is_file()) {
        let source = by_path(root, path, &find_model_files(root)?).ok_or_else(|| not_found(operand, None))?;
        return Ok(source.target?.to_string());
    }
    let models = root.join("models");
    // From the root first: `models/raw/x.sql` is meant so wherever it is typed.
    let gone = paths.iter().rev().find_map(|path| target_of(path.strip_prefix(&models).ok()?).ok());
    Ok(gone.map_or_else(|| operand.to_owned(), |target| target.to_string()))
}

fn is_sql_file(operand: &str) -> bool {
    Path::new(operand).extension().is_some_and(|ending| ending == "sql")
}

fn locate(root: &Path, cwd: &Path, operand: &str, sources: &[ModelSource]) -> Result<ModelSource, RunError> {
    if is_sql_file(operand) {
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

#[cfg(test)]
mod tests {
    use std::fs;

    use super::named_model;

    #[test]
    fn a_path_names_its_model_and_a_name_stays_one() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for path in ["models/raw/api/orders.sql", "models/x.sql", "lib/adhoc.v2.sql"] {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "SELECT 1").unwrap();
        }
        let below = root.join("models/raw");
        let absolute = root.join("models/raw/api/orders.sql").display().to_string();
        for (cwd, operand, name) in [
            (&root, "models/raw/api/orders.sql", "raw.api__orders"),
            (&root, "./models/raw/../raw/api/orders.sql", "raw.api__orders"),
            (&below, "api/orders.sql", "raw.api__orders"),
            (&below, "models/x.sql", "main.x"),
            (&below, "../x.sql", "main.x"),
            (&root, absolute.as_str(), "raw.api__orders"),
            // What `run` tries out.
            (&root, "lib/adhoc.v2.sql", "tmp.adhoc_v2"),
            // The file went, the table may be there.
            (&root, "models/raw/gone.sql", "raw.gone"),
            (&below, "gone.sql", "raw.gone"),
            (&below, "models/raw/gone.sql", "raw.gone"),
            // Not a file: a column may be called so.
            (&root, "mart.totals.sql", "mart.totals.sql"),
            (&root, "raw.orders", "raw.orders"),
            (&root, "overview", "overview"),
        ] {
            assert_eq!(named_model(&root, cwd, operand).unwrap(), name, "{operand}");
        }
        fs::write(root.join("models/raw/2.sql"), "SELECT 1").unwrap();
        assert!(
            named_model(&root, &root, "models/raw/2.sql").unwrap_err().to_string().contains("invalid path segment")
        );
    }
}
