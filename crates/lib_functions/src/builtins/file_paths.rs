//! Where the paths of scripts lead: into the project and the folders that `ONDATRA_FILE_ROOTS` names, nowhere else.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::failure;
use crate::surroundings::Surroundings;

const ROOTS: &str = "ONDATRA_FILE_ROOTS";

/// A file that must be there.
pub(super) fn existing(function: &str, surroundings: &Surroundings, p: &str) -> starlark::Result<PathBuf> {
    match located(function, surroundings, p)? {
        Some(found) if found.is_file() => Ok(found),
        Some(_) => Err(failure(function, format_args!("{p} is no file"))),
        None => Err(failure(function, format_args!("{p}: there is no such file"))),
    }
}

/// Where a path leads, links followed; nothing if nothing is there.
///
/// # Errors
/// It leads outside, whether or not there is anything.
pub(super) fn located(function: &str, surroundings: &Surroundings, p: &str) -> starlark::Result<Option<PathBuf>> {
    let path = surroundings.host.options().root.join(p);
    match fs::canonicalize(&path) {
        Ok(found) => confined(function, surroundings, p, &found).map(|()| Some(found)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            let nearest = path.ancestors().skip(1).find_map(|folder| fs::canonicalize(folder).ok());
            confined(function, surroundings, p, &nearest.unwrap_or_default()).map(|()| None)
        }
        Err(error) => Err(failure(function, format_args!("{p}: {error}"))),
    }
}

/// An error unless a path, links followed, lies where scripts may read.
pub(super) fn confined(function: &str, surroundings: &Surroundings, shown: &str, found: &Path) -> starlark::Result<()> {
    let options = surroundings.host.options();
    // Not what scripts set: a script cannot allow itself more.
    let allowed = options.environment.get(ROOTS).unwrap_or_default();
    let roots = allowed.split(':').filter(|root| !root.is_empty()).map(|root| options.root.join(root));
    let mut roots = std::iter::once(options.root.clone()).chain(roots).filter_map(|root| fs::canonicalize(root).ok());
    if roots.any(|root| found.starts_with(root)) {
        return Ok(());
    }
    Err(failure(function, format_args!("{shown} lies outside of the project; {ROOTS} can allow its folder")))
}
