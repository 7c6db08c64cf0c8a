//! Paths that a pattern stands for. A walk of our own, so that no folder is read outside of where scripts may read, links
//! are not followed in circles, and a stop of the run ends it.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use glob::{MatchOptions, Pattern};

use super::failure;
use super::file_paths::{confined, located};
use crate::explain::Stopped;
use crate::surroundings::Surroundings;

const OPTIONS: MatchOptions =
    MatchOptions { case_sensitive: true, require_literal_separator: false, require_literal_leading_dot: false };

/// A part of a pattern, between slashes.
enum Part<'p> {
    Name(&'p str),
    Pattern(Pattern),
    /// `**`: folders, as deep as there are any.
    Folders,
}

/// Paths that a pattern stands for, sorted, as the pattern is written: absolute or from the project's folder. A link
/// that leads nowhere is none.
pub(super) fn matching(function: &str, surroundings: &Surroundings, p: &str) -> starlark::Result<Vec<String>> {
    let wrong = |error: glob::PatternError| failure(function, format_args!("{p}: {error}"));
    Pattern::new(p).map_err(wrong)?;
    let mut parts: Vec<Part<'_>> = Vec::new();
    for part in p.split('/').filter(|part| !matches!(*part, "" | ".")) {
        match part {
            "**" if matches!(parts.last(), Some(Part::Folders)) => {}
            "**" => parts.push(Part::Folders),
            part if part.contains(['*', '?', '[']) => parts.push(Part::Pattern(Pattern::new(part).map_err(wrong)?)),
            name => parts.push(Part::Name(name)),
        }
    }
    let mut walk = Walk { function, surroundings, pattern: p, folders_only: p.ends_with('/'), found: Vec::new() };
    let start = if p.starts_with('/') { "/" } else { "" };
    walk.below(start, &parts)?;
    let mut paths = Vec::with_capacity(walk.found.len());
    for path in walk.found {
        surroundings.stop.check().map_err(|_| Stopped)?;
        if located(function, surroundings, &path)?.is_some() {
            paths.push(path);
        }
    }
    paths.sort();
    paths.dedup();
    Ok(paths)
}

struct Walk<'a> {
    function: &'a str,
    surroundings: &'a Surroundings,
    pattern: &'a str,
    folders_only: bool,
    found: Vec<String>,
}

impl Walk<'_> {
    /// Adds what the parts stand for below a folder.
    fn below(&mut self, folder: &str, parts: &[Part<'_>]) -> starlark::Result<()> {
        let Some((part, rest)) = parts.split_first() else { return Ok(()) };
        match part {
            Part::Name(name) => self.found_at(join(folder, name), rest),
            Part::Pattern(pattern) => {
                for (name, _) in self.entries(folder)? {
                    if pattern.matches_with(&name.to_string_lossy(), OPTIONS) {
                        self.found_at(self.inside(folder, &name)?, rest)?;
                    }
                }
                Ok(())
            }
            Part::Folders => {
                self.below(folder, rest)?;
                for (name, is_folder) in self.entries(folder)? {
                    if is_folder {
                        let path = self.inside(folder, &name)?;
                        self.below(&path, parts)?;
                        self.found.extend(rest.is_empty().then_some(path));
                    }
                }
                Ok(())
            }
        }
    }

    /// Goes on with what matches so far, if it is there.
    fn found_at(&mut self, path: String, rest: &[Part<'_>]) -> starlark::Result<()> {
        let real = self.real(&path);
        if rest.is_empty() {
            let is_there = if self.folders_only { real.is_dir() } else { real.symlink_metadata().is_ok() };
            self.found.extend(is_there.then_some(path));
        } else if real.is_dir() {
            self.below(&path, rest)?;
        }
        Ok(())
    }

    /// Names in a folder, and whether they are folders themselves; links are none.
    fn entries(&self, folder: &str) -> starlark::Result<Vec<(OsString, bool)>> {
        // A folder that cannot be read would silently miss in the result.
        let failed =
            |error: std::io::Error| failure(self.function, format_args!("{}: {folder}: {error}", self.pattern));
        let real = fs::canonicalize(self.real(folder)).map_err(failed)?;
        confined(self.function, self.surroundings, if folder.is_empty() { "." } else { folder }, &real)?;
        let mut entries = Vec::new();
        for entry in fs::read_dir(&real).map_err(failed)? {
            self.surroundings.stop.check().map_err(|_| Stopped)?;
            let entry = entry.map_err(failed)?;
            let is_folder = entry.file_type().map_err(failed)?.is_dir();
            entries.push((entry.file_name(), is_folder));
        }
        Ok(entries)
    }

    /// The path of an entry. One that scripts cannot write would silently miss in the result.
    fn inside(&self, folder: &str, name: &OsStr) -> starlark::Result<String> {
        let wrong = || failure(self.function, format_args!("{}: a name in {folder} is not UTF-8", self.pattern));
        name.to_str().map(|name| join(folder, name)).ok_or_else(wrong)
    }

    fn real(&self, path: &str) -> PathBuf {
        self.surroundings.host.options().root.join(Path::new(path))
    }
}

fn join(folder: &str, name: &str) -> String {
    let slash = if folder.is_empty() || folder.ends_with('/') { "" } else { "/" };
    format!("{folder}{slash}{name}")
}
