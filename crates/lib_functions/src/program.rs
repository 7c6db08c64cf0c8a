//! A lib file with all that it loads, read but not executed.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::LibError;
use crate::literal::Problem;
use crate::parse::parse;
use crate::source::Source;

/// Largest file, in bytes.
const FILE_BYTES_MAX: u64 = 16 << 20;

/// The modules of a lib function; what is loaded comes before those that load it.
#[derive(Debug, Clone)]
pub(crate) struct Program {
    modules: Vec<Module>,
}

/// A module.
#[derive(Debug, Clone)]
pub(crate) struct Module {
    pub source: Source,
    /// What it loads: the text of the `load`, and which file that is.
    pub loads: BTreeMap<String, PathBuf>,
}

impl Program {
    /// Reads the file at `path`, relative to `root`, and all that it loads.
    pub(crate) fn read(root: &Path, path: &Path) -> Result<Self, LibError> {
        let mut reading = Reading { root, modules: Vec::new(), open: Vec::new() };
        reading.module(path, None)?;
        Ok(Self { modules: reading.modules })
    }

    /// All modules in the order in which they are executed.
    pub(crate) fn modules(&self) -> &[Module] {
        &self.modules
    }

    /// The lib file itself.
    pub(crate) fn main(&self) -> &Source {
        &self.modules.last().expect("a program has the module that it was read from").source
    }

    /// The source of a file, by its path.
    pub(crate) fn source(&self, path: &str) -> Option<&Source> {
        self.modules.iter().map(|module| &module.source).find(|source| source.path == Path::new(path))
    }
}

struct Reading<'a> {
    root: &'a Path,
    modules: Vec<Module>,
    /// Files that are being read: one of them again is a circle.
    open: Vec<PathBuf>,
}

impl Reading<'_> {
    fn module(&mut self, path: &Path, loaded_at: Option<&types::Place>) -> Result<(), LibError> {
        if self.modules.iter().any(|module| module.source.path == path) {
            return Ok(());
        }
        let source = read_source(self.root, path, loaded_at)?;
        let module = parse(&source)?;
        self.open.push(path.to_owned());
        let mut loads = BTreeMap::new();
        for load in module.loads() {
            let span = load.span.span;
            let target = loaded_path(load.module_id).map_err(|message| source.error(&Problem::new(message, span)))?;
            if self.open.contains(&target) {
                let message = format!("load of {} makes a cycle", target.display());
                return Err(source.error(&Problem::new(message, span)));
            }
            self.module(&target, Some(&source.place_of(span)))?;
            loads.insert(load.module_id.to_owned(), target);
        }
        self.open.pop();
        self.modules.push(Module { source, loads });
        Ok(())
    }
}

/// The file of a `load`, relative to the project.
fn loaded_path(text: &str) -> Result<PathBuf, String> {
    let path = Path::new(text);
    let is_inside = path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if !is_inside || text.is_empty() {
        return Err(format!("load of \"{text}\": path traversal, write a path from the project's folder"));
    }
    Ok(path.components().filter(|part| *part != Component::CurDir).collect())
}

/// Reads a file that must lie in the project, links followed.
fn read_source(root: &Path, path: &Path, loaded_at: Option<&types::Place>) -> Result<Source, LibError> {
    let name = path.display();
    let failed = |message: String, help: &str| LibError::file(message, help, loaded_at.cloned());
    let found = fs::canonicalize(root.join(path))
        .map_err(|error| failed(format!("{name}: {error}"), "check the path, from the project's folder"))?;
    let root =
        fs::canonicalize(root).map_err(|error| failed(format!("{name}: {error}"), "check the project's folder"))?;
    if !found.starts_with(&root) {
        let help = "lib files and what they load must lie in the project, links followed";
        return Err(failed(format!("{name} lies outside project directory (path traversal)"), help));
    }
    let unreadable = |error: std::io::Error| failed(format!("{name}: {error}"), "check that the file can be read");
    if fs::metadata(&found).map_err(unreadable)?.len() > FILE_BYTES_MAX {
        return Err(failed(format!("{name} is larger than {FILE_BYTES_MAX} bytes"), "keep data in files of its own"));
    }
    let text = fs::read(&found).map_err(unreadable)?;
    let text = String::from_utf8(text).map_err(|error| {
        let line =
            error.as_bytes()[..error.utf8_error().valid_up_to()].iter().filter(|byte| **byte == b'\n').count() + 1;
        failed(format!("{name}: line {line} is not UTF-8"), "save the file as UTF-8")
    })?;
    Ok(Source::new(path, text.into()))
}
