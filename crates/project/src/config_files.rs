//! Reads the configuration SQL of a project, expanded, in the order of chapter 01 §2.1.

use std::fs;
use std::io::ErrorKind;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use model::{ConfigDefinitions, split_statements};
use types::Place;

use crate::{Environment, Expanded, ProjectError};

/// One configuration file.
#[derive(Clone)]
pub struct ConfigFile {
    /// How messages name it, like `catalog.sql`, `audits.sql` or `variables/global.sql`.
    pub name: String,
    /// Path relative to the project.
    pub path: PathBuf,
    /// The text as written.
    pub source: Arc<str>,
    /// The text to run.
    pub expanded: Expanded,
}

impl ConfigFile {
    /// Expands `source`, the text of the file at `path`.
    pub(crate) fn new(
        name: &str,
        path: &Path,
        source: String,
        environment: &Environment,
    ) -> Result<Self, ProjectError> {
        let source: Arc<str> = source.into();
        let expanded = Expanded::new(path, &source, environment)?;
        Ok(Self { name: name.to_owned(), path: path.to_owned(), source, expanded })
    }

    /// Byte ranges of the statements in the expanded text.
    pub fn statements(&self) -> Vec<Range<usize>> {
        split_statements(&self.expanded.text)
    }

    /// The file with `{{catalog}}` replaced by the lake's alias, which is a plain identifier: it may stand in
    /// a name or inside a text.
    #[must_use]
    pub fn with_catalog(&self, lake: &str) -> Self {
        self.replacing("{{catalog}}", lake)
    }

    /// The file with `old` replaced by `new` wherever it stands in the expanded text; places still lead to the file.
    #[must_use]
    pub fn replacing(&self, old: &str, new: &str) -> Self {
        Self {
            name: self.name.clone(),
            path: self.path.clone(),
            source: Arc::clone(&self.source),
            expanded: self.expanded.replace(old, new),
        }
    }

    /// Runs the statements one by one. An error carries its place; `offset` is the byte of the statement at
    /// which it failed.
    pub fn run<E>(
        &self,
        mut execute: impl FnMut(&str) -> Result<(), E>,
        offset: impl Fn(&E) -> Option<usize>,
    ) -> Result<(), ConfigFailure<E>> {
        for range in self.statements() {
            let statement = &self.expanded.text[range.clone()];
            if let Some(word) = transaction_word(statement) {
                return Err(ConfigFailure::Transaction { word, place: Box::new(self.place(range.start)) });
            }
            execute(statement).map_err(|error| {
                let at = offset(&error).filter(|&at| at <= statement.len()).unwrap_or(0);
                ConfigFailure::Statement { place: Box::new(self.place(range.start + at)), error }
            })?;
        }
        Ok(())
    }

    /// The place in the file of byte `offset` of the expanded text.
    pub fn place(&self, offset: usize) -> Place {
        let span = self.expanded.source_span(offset);
        if span.len() > 1 {
            return Place::new(self.path.clone(), Arc::clone(&self.source), span);
        }
        Place::word_at(self.path.clone(), &self.source, span.start)
    }
}

/// Why a configuration file could not be applied.
pub enum ConfigFailure<E> {
    /// A statement that begins or ends a transaction: one left open by configuration would make everything
    /// after it fail without naming the reason.
    Transaction {
        /// Its first word.
        word: String,
        /// Where in the file.
        place: Box<Place>,
    },
    /// A statement that failed.
    Statement {
        /// The answer.
        error: E,
        /// Where in the file.
        place: Box<Place>,
    },
}

fn transaction_word(statement: &str) -> Option<String> {
    let first = statement.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default().to_uppercase();
    ["BEGIN", "START", "COMMIT", "END", "ROLLBACK", "ABORT"].contains(&first.as_str()).then_some(first)
}

/// The configuration of a project. Missing optional files are empty.
pub struct ConfigFiles {
    /// Before anything else.
    pub settings: Option<ConfigFile>,
    /// DuckDB secrets.
    pub secrets: Option<ConfigFile>,
    /// Extensions.
    pub extensions: Option<ConfigFile>,
    /// The lake.
    pub catalog: ConfigFile,
    /// `macros/*.sql`, by name.
    pub macros: Vec<ConfigFile>,
    /// Schemas.
    pub schemas: Option<ConfigFile>,
    /// `variables/constants.sql`.
    pub constants: Option<ConfigFile>,
    /// `variables/global.sql`.
    pub global: Option<ConfigFile>,
    /// Other databases.
    pub sources: Option<ConfigFile>,
    /// `variables/local.sql`.
    pub local: Option<ConfigFile>,
}

impl ConfigFiles {
    /// Everything that attaches databases or loads extensions, to see which extensions it needs.
    pub fn attaching(&self) -> Vec<&str> {
        let optional = [&self.settings, &self.secrets, &self.extensions, &self.schemas, &self.sources];
        let texts = optional.into_iter().flatten().chain([&self.catalog]);
        texts.map(|file| file.expanded.text.as_str()).collect()
    }

    /// Everything that a session runs when it is opened.
    pub fn texts(&self) -> Vec<&str> {
        let variables = [&self.constants, &self.global].into_iter().flatten();
        let others = variables.chain(&self.macros).map(|file| file.expanded.text.as_str());
        self.attaching().into_iter().chain(others).collect()
    }

    /// The definitions that can change what a model means, as written.
    pub fn definitions(&self) -> ConfigDefinitions {
        let mut definitions = ConfigDefinitions::default();
        for file in &self.macros {
            definitions.add_macros(&file.source);
        }
        for file in [&self.constants, &self.global].into_iter().flatten() {
            definitions.add_variables(&file.source);
        }
        for file in [&self.schemas, &self.sources].into_iter().flatten() {
            definitions.add_sources(&file.source);
        }
        definitions
    }
}

/// Reads and expands the configuration of the project at `root`.
pub fn read_config(root: &Path, environment: &Environment) -> Result<ConfigFiles, ProjectError> {
    let optional = |name: &str| read(root, name, name, environment);
    Ok(ConfigFiles {
        settings: optional("settings.sql")?,
        secrets: optional("secrets.sql")?,
        extensions: optional("extensions.sql")?,
        catalog: optional("catalog.sql")?.ok_or(ProjectError::CatalogRequired)?,
        macros: macros(root, environment)?,
        schemas: optional("schemas.sql")?,
        constants: optional("variables/constants.sql")?,
        global: optional("variables/global.sql")?,
        sources: optional("sources.sql")?,
        local: optional("variables/local.sql")?,
    })
}

/// Reads and expands `extensions.sql` alone; `None` if it is not there.
pub fn read_extensions(root: &Path, environment: &Environment) -> Result<Option<ConfigFile>, ProjectError> {
    read(root, "extensions.sql", "extensions.sql", environment)
}

/// Reads and expands one file below `config/`; `None` if it is not there.
pub(crate) fn read(
    root: &Path,
    file: &str,
    name: &str,
    environment: &Environment,
) -> Result<Option<ConfigFile>, ProjectError> {
    let path = Path::new("config").join(file);
    match fs::read_to_string(root.join(&path)) {
        Ok(source) => ConfigFile::new(name, &path, source, environment).map(Some),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(ProjectError::file("load config: read", &path, &error)),
    }
}

fn macros(root: &Path, environment: &Environment) -> Result<Vec<ConfigFile>, ProjectError> {
    let dir = Path::new("config/macros");
    let failed = |error: &std::io::Error| ProjectError::file("load config: read", dir, error);
    let entries = match fs::read_dir(root.join(dir)) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(&error)),
    };
    let mut names = Vec::new();
    for entry in entries {
        let path = entry.map_err(|error| failed(&error))?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        if Path::new(&name).extension().is_some_and(|ending| ending == "sql")
            && !name.starts_with('.')
            && path.is_file()
        {
            names.push(name);
        }
    }
    names.sort();
    let files = names.iter().map(|name| read(root, &format!("macros/{name}"), name, environment));
    Ok(files.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
}
