//! Which catalog production is, told from `config/catalog.sql`, and that file with the fork in its place.

use std::path::{Path, PathBuf};

use model::Attach;
use project::{ConfigFile, ConfigFiles};
use types::literal;

use super::SandboxError;

/// What the paths of lakes begin with.
const DUCKLAKE: &str = "ducklake:";

/// Where production's catalog is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Backend {
    /// A SQLite file.
    Sqlite(PathBuf),
    /// A DuckDB file.
    Duckdb(PathBuf),
    /// What leads to a PostgreSQL database.
    Postgres(String),
}

impl Backend {
    /// What lies beside a catalog's file and belongs to it. SQLite's `-shm` is no part of it: it is an index of the log that
    /// processes share.
    pub fn companions(&self) -> &'static [&'static str] {
        match self {
            Self::Sqlite(_) => &["-wal", "-journal"],
            Self::Duckdb(_) => &[".wal", ".wal.checkpoint", ".wal.recovery"],
            Self::Postgres(_) => &[],
        }
    }
}

/// The ATTACH of production's lake.
pub(super) struct Source<'a> {
    pub config: &'a ConfigFiles,
    statement: &'a str,
    attach: Attach,
    pub backend: Backend,
}

impl<'a> Source<'a> {
    /// Finds it in `catalog.sql`.
    ///
    /// # Errors
    /// No statement attaches a lake, or the lake is named by a secret.
    pub fn read(config: &'a ConfigFiles) -> Result<Self, SandboxError> {
        let file = &config.catalog;
        let mut statements = file.statements().into_iter().map(|range| &file.expanded.text[range]);
        let lake = |statement: &'a str| Some((statement, Attach::read(statement).filter(is_lake)?));
        let (statement, attach) = statements.find_map(lake).ok_or_else(|| SandboxError::Unknown {
            message: "config/catalog.sql attaches no DuckLake catalog by its path".into(),
        })?;
        let backend = backend(&attach.path)?;
        Ok(Self { config, statement, attach, backend })
    }

    /// Where production's data files are, if the ATTACH tells.
    pub fn data_path(&self) -> Option<&str> {
        self.attach.option("DATA_PATH")
    }

    /// The schema of a server's database in which the lake's tables are.
    pub fn schema(&self) -> &str {
        self.attach.option("METADATA_SCHEMA").unwrap_or("public")
    }

    /// `catalog.sql` with the fork attached, under the same alias and with its data files in `data`.
    pub fn forked(&self, fork: &Backend, data: &Path) -> ConfigFile {
        let path = match fork {
            Backend::Sqlite(path) => format!("{DUCKLAKE}sqlite:{}", path.display()),
            Backend::Duckdb(path) => format!("{DUCKLAKE}duckdb:{}", path.display()),
            Backend::Postgres(connection) => format!("{DUCKLAKE}postgres:{connection}"),
        };
        let options = [
            ("DATA_PATH", literal(&format!("{}/", data.display()))),
            ("OVERRIDE_DATA_PATH", "true".to_owned()),
            ("DATA_INLINING_ROW_LIMIT", "0".to_owned()),
        ];
        self.config.catalog.replacing(self.statement, &self.attach.rewritten(&path, &options))
    }
}

/// A lake's catalog that is not there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingCatalog {
    /// Its file.
    pub file: PathBuf,
    /// The folder of its data files, if that holds any.
    pub left_behind: Option<PathBuf>,
}

/// The catalog of the configuration, if it is a file that is not there; opening the lake would make it. Paths are those
/// of the process's folder.
pub fn missing_catalog(config: &ConfigFiles) -> Option<MissingCatalog> {
    let source = Source::read(config).ok()?;
    let (Backend::Sqlite(file) | Backend::Duckdb(file)) = &source.backend else { return None };
    // Without a folder for it, it cannot be made either.
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    if file.exists() || folder.is_some_and(|folder| !folder.is_dir()) {
        return None;
    }
    let holds_any = |folder: &PathBuf| std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some());
    let left_behind = source.data_path().map(PathBuf::from).filter(holds_any);
    Some(MissingCatalog { file: file.clone(), left_behind })
}

/// The catalog that is not there, and `catalog.sql` with an empty lake of its kind in `folder` instead of it.
pub(crate) fn standing_in(config: &ConfigFiles, folder: &Path) -> Option<(MissingCatalog, ConfigFile)> {
    let missing = missing_catalog(config)?;
    let source = Source::read(config).ok()?;
    let file = folder.join("catalog");
    let empty = match &source.backend {
        Backend::Sqlite(_) => Backend::Sqlite(file),
        Backend::Duckdb(_) => Backend::Duckdb(file),
        Backend::Postgres(_) => return None,
    };
    Some((missing, source.forked(&empty, &folder.join("files"))))
}

fn is_lake(attach: &Attach) -> bool {
    attach.path.starts_with(DUCKLAKE)
}

fn backend(path: &str) -> Result<Backend, SandboxError> {
    let rest = path.strip_prefix(DUCKLAKE).unwrap_or(path);
    match rest.split_once(':') {
        Some(("sqlite", file)) => Ok(Backend::Sqlite(file.into())),
        Some(("duckdb", file)) => Ok(Backend::Duckdb(file.into())),
        Some(("postgres", connection)) => Ok(Backend::Postgres(connection.to_owned())),
        // A plain path is one of a DuckDB file; a name without a file is one of a secret.
        _ if Path::new(rest).exists() => Ok(Backend::Duckdb(rest.into())),
        _ if rest.contains(['/', '.']) => Err(SandboxError::NoCatalog { what: rest.to_owned() }),
        _ => Err(SandboxError::Unknown {
            message: format!("config/catalog.sql leads to the catalog by the name `{rest}`, not by its path"),
        }),
    }
}
