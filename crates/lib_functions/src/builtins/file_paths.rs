//! Where the paths of scripts lead: into the project and the folders that `ONDATRA_FILE_ROOTS` names, nowhere else.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::failure;
use crate::explain::Stopped;
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

/// Paths that a pattern stands for, sorted, as the pattern is written: absolute or from the project's folder. A link
/// that leads nowhere is none.
pub(super) fn matching(function: &str, surroundings: &Surroundings, p: &str) -> starlark::Result<Vec<String>> {
    let root = &surroundings.host.options().root;
    if located(function, surroundings, &fixed_part(p))?.is_none() {
        return Ok(Vec::new());
    }
    let root_text = root.to_str().ok_or_else(|| failure(function, "the path of the project is not UTF-8"))?;
    let is_absolute = Path::new(p).is_absolute();
    let pattern = if is_absolute { p.to_owned() } else { format!("{}/{p}", glob::Pattern::escape(root_text)) };
    let options = glob::MatchOptions { require_literal_leading_dot: false, ..glob::MatchOptions::new() };
    let found = glob::glob_with(&pattern, options).map_err(|error| failure(function, format_args!("{p}: {error}")))?;
    let mut paths = Vec::new();
    for path in found {
        surroundings.stop.check().map_err(|_| starlark::Error::new_other(Stopped))?;
        // A folder that cannot be read would silently miss in the result.
        let path = path.map_err(|error| failure(function, format_args!("{p}: {error}")))?;
        let shown = if is_absolute { &path } else { path.strip_prefix(root).unwrap_or(&path) };
        let shown = shown.to_str().ok_or_else(|| failure(function, format_args!("{p}: a name is not UTF-8")))?;
        if located(function, surroundings, shown)?.is_some() {
            paths.push(shown.to_owned());
        }
    }
    paths.sort();
    paths.dedup();
    Ok(paths)
}

/// The folders at the beginning of a pattern that hold no sign of one.
fn fixed_part(p: &str) -> String {
    let is_plain = |part: &&str| !part.contains(['*', '?', '[']);
    let fixed: Vec<&str> = p.split('/').take_while(is_plain).collect();
    let slash = if p.starts_with('/') { "/" } else { "" };
    format!("{slash}{}", fixed.join("/"))
}

/// An error unless a path, links followed, lies where scripts may read.
fn confined(function: &str, surroundings: &Surroundings, shown: &str, found: &Path) -> starlark::Result<()> {
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
