//! What operands may be, in the project around the current folder. What cannot be read has nothing to offer.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use clap_complete::CompletionCandidate;
use clap_complete::engine::{PathCompleter, ValueCompleter};
use lib_functions::Registry;
use project::{Environment, ModelTree, edit_words, find_root};

use crate::args::described;
use crate::invocation::{current_folder, process_environment};

/// Models by their names, and as files once something is typed.
pub(super) fn models(current: &OsStr) -> Vec<CompletionCandidate> {
    let mut found = starting_with(current, model_names());
    if !current.is_empty() {
        found.extend(files(current, &["models"]));
    }
    found
}

/// What there may be lineage of, without the columns: those only the lake knows.
pub(super) fn lineages(current: &OsStr) -> Vec<CompletionCandidate> {
    let mut found = starting_with(current, vec!["overview".into()]);
    found.extend(models(current));
    found
}

/// What `validate` looks at.
pub(super) fn paths(current: &OsStr) -> Vec<CompletionCandidate> {
    files(current, &["models", "lib"])
}

/// What `edit` opens.
pub(super) fn edited() -> Vec<CompletionCandidate> {
    let words = root().map(|root| edit_words(&root)).unwrap_or_default();
    words.into_iter().chain(model_names()).map(CompletionCandidate::new).collect()
}

/// The functions of `lib/`.
pub(super) fn blueprints() -> Vec<CompletionCandidate> {
    let Some(registry) = root().and_then(|root| Registry::read(&root, |_| false).ok()) else { return Vec::new() };
    registry.libs().map(|lib| CompletionCandidate::new(lib.name.clone())).collect()
}

/// The OAuth providers that variables describe.
pub(super) fn providers() -> Vec<CompletionCandidate> {
    let environment = current_folder().and_then(|folder| {
        let root = find_root(&folder).unwrap_or(folder);
        Environment::load(&root, process_environment())
    });
    let names = environment.map(|environment| oauth::configured_providers(&environment)).unwrap_or_default();
    names.into_iter().map(|name| CompletionCandidate::new(name.to_string())).collect()
}

/// The commands that `help` explains.
pub(super) fn commands() -> Vec<CompletionCandidate> {
    let line = described();
    let shown = line.get_subcommands().filter(|command| !command.is_hide_set());
    shown.map(|command| CompletionCandidate::new(command.get_name()).help(command.get_about().cloned())).collect()
}

fn model_names() -> Vec<String> {
    let sources = root().map(|root| ModelTree::walk(&root).sources).unwrap_or_default();
    sources.into_iter().filter_map(|file| Some(file.target.ok()?.to_string())).collect()
}

fn starting_with(current: &OsStr, names: Vec<String>) -> Vec<CompletionCandidate> {
    let current = current.to_string_lossy();
    names.into_iter().filter(|name| name.starts_with(&*current)).map(CompletionCandidate::new).collect()
}

/// Files that a command may be about, below folders of the project, and the folders on the way to them.
fn files(current: &OsStr, folders: &[&str]) -> Vec<CompletionCandidate> {
    let (Some(root), Ok(cwd)) = (root(), current_folder()) else { return Vec::new() };
    let folders: Vec<PathBuf> = folders.iter().filter_map(|name| root.join(name).canonicalize().ok()).collect();
    let is_wanted = |path: &Path| {
        let Ok(real) = path.canonicalize() else { return false };
        let is_below = folders.iter().any(|folder| real.starts_with(folder));
        if real.is_dir() {
            return is_below || folders.iter().any(|folder| folder.starts_with(&real));
        }
        is_below && real.extension().is_some_and(|ending| ending == "sql" || ending == "star")
    };
    let found = PathCompleter::any().complete(current).into_iter();
    found.filter(|path| path.get_value() != "." && is_wanted(&cwd.join(path.get_value()))).collect()
}

fn root() -> Option<PathBuf> {
    find_root(&current_folder().ok()?).ok()
}
