//! The order of a validation: files, scope, engine, `lib/`, each model, what models say of each other.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use checks::Call;
use engine::{EngineError, EngineOptions, EngineParser};
use lib_functions::{Registry, lib_files};
use model::{Model, SqlParser, TreeError};
use plan::Names;
use project::{ConfigTexts, Environment};

use crate::arguments::Arguments;
use crate::checks::read_checks;
use crate::collected::{Collected, lib_finding};
use crate::config_syntax::config_syntax;
use crate::examination::Examination;
use crate::functions::{TableFunctions, table_functions};
use crate::graph::{Parsed, circles, dependencies, external_references, known_names};
use crate::offline::{Offline, introspection_failed};
use crate::own_macros::OwnMacros;
use crate::project_files::ModelFiles;
use crate::report::Report;
use crate::scope::{Scope, ScopeError};

/// What to validate, and with what.
pub struct ValidateOptions {
    /// The project's root; the process must be in it.
    pub root: PathBuf,
    /// The folder the command was started in.
    pub cwd: PathBuf,
    /// Variables for `extensions.sql`.
    pub environment: Environment,
    /// For the engine.
    pub session: EngineOptions,
    /// Files and folders, as given; everything without any.
    pub paths: Vec<String>,
}

/// Why nothing was validated.
#[derive(Debug, thiserror::Error)]
pub enum ValidateError {
    /// A path cannot be validated.
    #[error(transparent)]
    Scope(#[from] ScopeError),
    /// There is no engine to ask.
    #[error("{}", .0.cleaned())]
    Engine(#[from] EngineError),
}

/// Validates the project, and reports the files that were asked for.
///
/// # Errors
/// A path is none of the project's, or the engine cannot be brought up. Whatever is wrong with the project is in the
/// report.
pub fn validate(options: &ValidateOptions) -> Result<Report, ValidateError> {
    let root = &options.root;
    let files = ModelFiles::read(root);
    let libs = lib_files(root);
    let lib_paths = libs.as_deref().unwrap_or_default();
    let scope = Scope::of(root, &options.cwd, &options.paths, &files.paths, lib_paths)?;
    let offline = Offline::open(root, &options.environment, &options.session)?;
    let config = ConfigTexts::read(root, &options.environment);
    let mut collected = Collected::new(scope, files.findings);
    for finding in offline.findings.iter().cloned().chain(files.skipped) {
        collected.other(finding.place.file().to_owned(), finding);
    }
    for finding in config_syntax(&config, &EngineParser(&offline.connection)) {
        collected.other(finding.place.file().to_owned(), finding);
    }
    let names = functions_without_libs(&offline, &config, &mut collected);
    let registry = registry(root, names.as_ref(), &mut collected);
    let has_libs = registry.is_some();
    let registry = &registry.unwrap_or_default();
    let functions = TableFunctions {
        connection: &offline.connection,
        registry,
        may_be_more: names.is_none() || !has_libs || !offline.findings.is_empty(),
        names: names.unwrap_or_default(),
        loads: config.loads.clone(),
    };
    let parser = EngineParser(&offline.connection);
    let models = parse(&parser, files.models);
    let asked: Vec<&Parsed> = models.iter().filter(|parsed| collected.is_asked_for(&parsed.model.path)).collect();
    let own = OwnMacros::new(&config);
    let calls: Vec<Call> = asked.iter().flat_map(|parsed| read_checks(&parsed.model, &own).0).collect();
    let arguments = Arguments::parse(&parser, calls.iter());
    let mut examination = Examination::new(registry, &config, &own, arguments, has_libs, functions);
    for parsed in asked {
        let (checks, findings) = examination.examine(parsed);
        collected.model(&parsed.model, checks, findings);
    }
    relate(&models, &known_names(&config, &files.targets), &parser, &mut collected);
    collected.libs(lib_paths, registry);
    free_aside(models);
    Ok(collected.report(&files.paths, lib_paths))
}

/// Address space for a thread that frees trees, which are as deep as the engine allows expressions to be.
const STACK_BYTES: usize = 512 << 20;

/// Frees trees beside the caller: those of a large project are millions of pieces, which takes as long as to check them.
fn free_aside(models: Vec<Parsed>) {
    // Without a thread they are freed here.
    let _ = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(move || drop(models));
}

/// The functions of the engine and of the configuration that can stand in FROM, in lower case; `None` if the engine
/// does not tell.
fn functions_without_libs(
    offline: &Offline,
    config: &ConfigTexts,
    collected: &mut Collected,
) -> Option<BTreeSet<String>> {
    match table_functions(&offline.connection) {
        Ok(own) => {
            let macros = config.macros.iter().filter(|written| written.is_table).map(|written| written.name.clone());
            Some(own.into_iter().chain(macros).collect())
        }
        Err(error) => {
            collected.other(".".into(), introspection_failed(&error));
            None
        }
    }
}

/// The lib files; `None` if the folder cannot be read.
fn registry(root: &Path, taken: Option<&BTreeSet<String>>, collected: &mut Collected) -> Option<Registry> {
    match Registry::read(root, |name| taken.is_some_and(|taken| taken.contains(name))) {
        Ok(registry) => Some(registry),
        Err(error) => {
            collected.other("lib".into(), lib_finding("lib".as_ref(), &error));
            None
        }
    }
}

/// The trees of all models: of those that fetch they must be complete.
fn parse(parser: &EngineParser<'_>, models: Vec<Model>) -> Vec<Parsed> {
    let sql_of = |fetch: bool| models.iter().filter(|model| model.fetch == fetch).map(Model::sql).collect::<Vec<_>>();
    let mut complete = parser.complete_trees(&sql_of(true)).into_iter();
    let mut lean = parser.trees(&sql_of(false)).into_iter();
    let missing = || Err(TreeError::NotSerializable { message: "no syntax tree".into() });
    let mut parsed = |model: Model| {
        let tree = if model.fetch { complete.next() } else { lean.next() };
        Parsed { tree: tree.unwrap_or_else(missing), model }
    };
    models.into_iter().map(&mut parsed).collect()
}

/// What models say of each other.
fn relate(models: &[Parsed], names: &Names, parser: &dyn SqlParser, collected: &mut Collected) {
    let mut edges = BTreeMap::new();
    let is_model = |name: &String| names.tables.contains_key(name);
    let mut others = Vec::new();
    for (parsed, (depends, unknown)) in models.iter().zip(dependencies(models, names, parser)) {
        // A model that is known to read models alone is not walked through again.
        if depends.is_empty() || !depends.iter().all(is_model) {
            others.push(parsed);
        }
        edges.insert(parsed.model.target.key(), depends);
        collected.findings(&parsed.model, unknown);
    }
    for (parsed, finding) in circles(models, &edges, names) {
        collected.findings(&parsed.model, [finding]);
    }
    // One that fetches reads no table; that it names one is told already.
    for Parsed { model, tree } in others.into_iter().filter(|parsed| !parsed.model.fetch) {
        if let Ok(tree) = tree {
            collected.findings(model, external_references(model, tree, names));
        }
    }
}
