//! A lib file with all that it loads, read but not executed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use starlark::syntax::AstModule;
use starlark_syntax::codemap::Spanned;
use starlark_syntax::syntax::ast::{AstString, Load};
use types::{Place, Rule};

use crate::LibError;
use crate::bounds::rewrite;
use crate::literal::Problem;
use crate::parse::parse;
use crate::signature::Signature;
use crate::source::Source;
use crate::top_level::{self, TopLevel};

/// Largest file, in bytes.
const FILE_BYTES_MAX: u64 = 16 << 20;

/// Most files that load each other in a row: reading them recurses.
const DEPTH_MAX: usize = 100;

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
    /// The names that others may load, with the functions among them.
    exports: BTreeMap<String, Option<Signature>>,
}

/// A program with the syntax tree of its file.
pub(crate) struct Loaded {
    pub program: Program,
    pub module: AstModule,
    pub top: TopLevel,
}

impl Program {
    /// Reads the file at `path`, relative to `root`, and all that it loads.
    pub(crate) fn read(root: &Path, path: &Path) -> Result<Loaded, LibError> {
        let mut reading = Reading { root, modules: Vec::new(), open: Vec::new() };
        let (module, top) = reading.module(path, None)?;
        Ok(Loaded { program: Self { modules: reading.modules }, module, top })
    }

    /// The lib file itself.
    pub(crate) fn main(&self) -> &Source {
        &self.modules.last().expect("a program has the module that it was read from").source
    }

    /// All modules in the order in which they are executed.
    pub(crate) fn modules(&self) -> &[Module] {
        &self.modules
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
    fn module(&mut self, path: &Path, loaded_at: Option<&Place>) -> Result<(AstModule, TopLevel), LibError> {
        let source = read_source(self.root, path, loaded_at)?;
        let module = parse(&source)?;
        let mut top = TopLevel::read(&module).map_err(|problem| source.error(&problem))?;
        let executed = rewrite(&source.adapted, &module).map_err(|problem| source.error(&problem))?;
        let source = source.executed_as(executed);
        let own: Vec<String> = top.names.keys().cloned().collect();
        self.open.push(path.to_owned());
        let mut loads = BTreeMap::new();
        let mut loaded = BTreeSet::new();
        for load in top_level::loads(&module) {
            let target = self.load(&source, load)?;
            for arg in &load.args {
                let (name, span) = (&arg.local.node.ident, arg.local.span);
                loaded.insert(name.clone());
                let export = self.export(&target, &arg.their).map_err(|problem| source.error(&problem))?;
                if let Some(function) = export {
                    top.functions.insert(name.clone(), function.loaded_as(name, span));
                }
            }
            loads.insert(load.module.node.clone(), target);
        }
        self.open.pop();
        let is_export = |name: &String| !name.starts_with('_') && !loaded.contains(name);
        let export = |name: String| (name.clone(), top.functions.get(&name).cloned());
        let exports = own.into_iter().filter(is_export).map(export).collect();
        self.modules.push(Module { source, loads, exports });
        Ok((module, top))
    }

    /// Reads what a `load` names, and gives its path.
    fn load(&mut self, source: &Source, load: &Load) -> Result<PathBuf, LibError> {
        let wrong = |message: String| source.error(&Problem::new(message, load.module.span));
        let target = loaded_path(&load.module.node).map_err(wrong)?;
        if self.open.contains(&target) {
            return Err(wrong(format!("load of {} makes a cycle", target.display())));
        }
        if self.open.len() > DEPTH_MAX {
            return Err(wrong(format!("more than {DEPTH_MAX} files load each other in a row")));
        }
        if !self.modules.iter().any(|module| module.source.path == target) {
            self.module(&target, Some(&source.place_of(load.module.span)))?;
        }
        Ok(target)
    }

    /// What a file has under this name, for others.
    fn export(&self, path: &Path, name: &AstString) -> Result<Option<&Signature>, Problem> {
        let Spanned { node: name, span } = name;
        let module = self.modules.iter().find(|module| module.source.path == path);
        match module.and_then(|module| module.exports.get(name)) {
            Some(export) => Ok(export.as_ref()),
            None if name.starts_with('_') => {
                Err(Problem::new(format!("`{name}` is private to {}, as its `_` says", path.display()), *span))
            }
            None => Err(Problem::new(format!("{} has no `{name}` of its own", path.display()), *span)),
        }
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
fn read_source(root: &Path, path: &Path, loaded_at: Option<&Place>) -> Result<Source, LibError> {
    let name = path.display();
    // A `load` of what cannot be read is wrong itself.
    let rule = if loaded_at.is_some() { Rule::InvalidApiDict } else { Rule::UnreadableLib };
    let failed = |message: String, help: &str| LibError::breaking(rule, message, help, loaded_at.cloned());
    let unreadable = |error: io::Error| {
        let is_dangling = loaded_at.is_none() && error.kind() == io::ErrorKind::NotFound;
        let rule = if is_dangling { Rule::WalkSkipped } else { rule };
        let help = "check the path, and who may read the file";
        LibError::breaking(rule, format!("{name}: {error}"), help, loaded_at.cloned())
    };
    let found = canonical_in(root, path).map_err(unreadable)?.ok_or_else(|| {
        let help = "lib files and what they load must lie in the project, links followed";
        failed(format!("{name} lies outside project directory (path traversal)"), help)
    })?;
    let about = fs::metadata(&found).map_err(unreadable)?;
    if !about.is_file() {
        return Err(failed(format!("{name} is not a file"), "write the path of a file"));
    }
    if about.len() > FILE_BYTES_MAX {
        return Err(failed(format!("{name} is larger than {FILE_BYTES_MAX} bytes"), "keep data in files of its own"));
    }
    let text = String::from_utf8(fs::read(&found).map_err(unreadable)?).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = before.split(|byte| *byte == b'\n').count();
        failed(format!("{name}: line {line} is not UTF-8"), "save the file as UTF-8")
    })?;
    Ok(Source::new(path, text.into()))
}

/// Where a path of the project leads to, links followed; `None` if that is outside.
pub(crate) fn canonical_in(root: &Path, path: &Path) -> io::Result<Option<PathBuf>> {
    let found = fs::canonicalize(root.join(path))?;
    Ok(found.starts_with(fs::canonicalize(root)?).then_some(found))
}
