//! What the configuration says, as it is written: for what must be told without its secrets and without running it.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use model::{ConfigDefinitions, WrittenMacro, attached_names, code_words, written_macros};

use crate::{Environment, Expanded};

/// The alias that scripts and templates give the lake.
const LAKE: &str = "lake";

/// Files that are run before a model is, without those of `macros/` and what attaches the lake.
const FILES: [&str; 6] =
    ["settings.sql", "secrets.sql", "schemas.sql", "variables/constants.sql", "variables/global.sql", "sources.sql"];

/// Names that the configuration gives.
#[derive(Debug, Default)]
pub struct ConfigTexts {
    /// Alias of the lake.
    pub lake: String,
    /// Aliases of other databases.
    pub catalogs: Vec<String>,
    /// All macros; `{{catalog}}` is replaced.
    pub macros: Vec<WrittenMacro>,
    /// Names of all macros, in lower case, also of those whose bodies cannot be told.
    pub macro_names: BTreeSet<String>,
    /// Whether there may be macros of other names: a file cannot be read, or a variable stands in a name.
    pub may_have_more_macros: bool,
    /// Extensions that other files than `extensions.sql` load, in lower case.
    pub loads: Vec<String>,
    /// The files of `macros/` and `variables/`, relative to the project.
    pub sql: Vec<(PathBuf, Arc<str>)>,
}

impl ConfigTexts {
    /// Reads `config/`, without `state.sql`, which is of a session of its own. What cannot be read says nothing. The
    /// environment is asked for names of databases alone.
    pub fn read(root: &Path, environment: &Environment) -> Self {
        let mut reader = Reader { root, has_failed: false };
        let catalog = reader.text("config/catalog.sql");
        let (macro_files, extensions) = (reader.macro_files(), reader.text("config/extensions.sql"));
        let others = FILES.map(|name| (Path::new("config").join(name), reader.text(Path::new("config").join(name))));
        let local = PathBuf::from("config/variables/local.sql");
        let local = (reader.text(&local), local);
        let mut texts: Vec<Arc<str>> = others.iter().chain(&macro_files).map(|(_, text)| Arc::clone(text)).collect();
        let attached = |text: &Arc<str>| {
            let expanded = Expanded::new(Path::new("config"), text, environment);
            attached_names(expanded.as_ref().map_or(text, |expanded| &expanded.text))
        };
        let lake = attached(&catalog).into_iter().next().unwrap_or_else(|| LAKE.to_owned());
        let catalogs = texts.iter().flat_map(attached).collect();
        texts.push(catalog);
        let loads = texts.iter().flat_map(|text| loaded(text)).collect();
        texts.push(extensions);
        let macros = texts.iter().flat_map(|text| written_macros(&text.replace("{{catalog}}", &lake))).collect();
        let mut definitions = ConfigDefinitions::default();
        for text in &texts {
            definitions.add_macros(text);
        }
        let variables = others.into_iter().filter(|(path, _)| path.starts_with("config/variables"));
        let sql = macro_files.into_iter().chain(variables).chain([(local.1, local.0)]).collect();
        Self {
            lake,
            catalogs,
            macros,
            macro_names: definitions.macros().clone(),
            may_have_more_macros: reader.has_failed || definitions.has_unknown_names(),
            loads,
            sql,
        }
    }
}

/// Reads files, and knows whether one could not be.
struct Reader<'a> {
    root: &'a Path,
    has_failed: bool,
}

impl Reader<'_> {
    fn text(&mut self, path: impl AsRef<Path>) -> Arc<str> {
        match fs::read_to_string(self.root.join(path)) {
            Ok(text) => text.into(),
            Err(error) => {
                self.has_failed |= error.kind() != ErrorKind::NotFound;
                "".into()
            }
        }
    }

    fn macro_files(&mut self) -> Vec<(PathBuf, Arc<str>)> {
        let folder = Path::new("config/macros");
        let entries = match fs::read_dir(self.root.join(folder)) {
            Ok(entries) => entries.flatten().map(|entry| entry.file_name()).collect(),
            Err(error) => {
                self.has_failed |= error.kind() != ErrorKind::NotFound;
                Vec::new()
            }
        };
        let is_hidden = |path: &PathBuf| path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        let is_sql = |path: &PathBuf| !is_hidden(path) && path.extension().is_some_and(|ending| ending == "sql");
        let mut files: Vec<PathBuf> = entries.into_iter().map(|name| folder.join(name)).filter(is_sql).collect();
        files.sort();
        files.into_iter().map(|path| (path.clone(), self.text(&path))).collect()
    }
}

/// What `LOAD name` loads.
fn loaded(text: &str) -> Vec<String> {
    let statements = model::split_statements(text);
    let words = statements.into_iter().map(|range| code_words(&text[range]));
    words
        .filter(|words| words.first().is_some_and(|word| word == "load"))
        .filter_map(|words| words.get(1).cloned())
        .collect()
}
