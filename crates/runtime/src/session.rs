//! A session: the engine with a project's configuration applied, phase by phase (chapter 01 §2.1).

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use engine::{Connection, Database, EngineError, ExtensionSearch, Pins, Value, needed_extensions};
use jiff::Timestamp;
use model::{ConfigDefinitions, code_words};
use project::{ConfigFile, ConfigFiles};
use types::{Code, is_identifier, quote};

use crate::RunError;
use crate::macros::load_macros;
use crate::variables::{FUNCTIONS, run_variables, snapshot_variables};

/// What a session needs from outside.
pub struct SessionOptions {
    /// Where extensions may be.
    pub extensions: ExtensionSearch,
    /// Folder for files that the engine spills to; it is removed when the session ends.
    pub temp_root: PathBuf,
}

/// An open session.
pub struct Session {
    /// The connection; the lake is current.
    pub connection: Connection,
    /// The lake's alias.
    pub lake: String,
    /// Other databases that are attached.
    pub catalogs: BTreeSet<String>,
    /// What of the configuration can change a model's meaning.
    pub definitions: ConfigDefinitions,
    /// When it was opened.
    pub started: Timestamp,
    // Last: the folder must outlive the connection that spills into it.
    _spill: SpillFolder,
}

impl Session {
    /// Opens the engine and applies the configuration.
    pub fn open(config: &ConfigFiles, options: &SessionOptions) -> Result<Self, RunError> {
        let started = Timestamp::now();
        let spill = SpillFolder::new(&options.temp_root);
        let connection = open_engine(config, options, &spill)?;
        let before = attached(&connection)?;
        run_optional(&connection, &[&config.settings, &config.secrets, &config.extensions], str::to_owned)?;
        let mut random = [0; 4];
        getrandom::fill(&mut random).map_err(random_failed)?;
        connection.execute(&run_variables(started.as_second(), u32::from_le_bytes(random)))?;
        connection.execute(FUNCTIONS)?;
        let lake = attach_lake(&connection, &config.catalog, &before)?;
        load_macros(&connection, &lake, &config.macros)?;
        connection.execute(&snapshot_variables(&lake))?;
        connection.execute(&format!("SET search_path = '{}.main,memory.main'", quote(&lake)))?;
        run_optional(&connection, &[&config.schemas], str::to_owned)?;
        run_optional(&connection, &[&config.constants, &config.global], |sql| with_catalog(sql, &lake))?;
        run_optional(&connection, &[&config.sources], str::to_owned)?;
        let mut catalogs = attached(&connection)?;
        catalogs.remove(&lake);
        let definitions = config.definitions();
        Ok(Self { connection, lake, catalogs, definitions, started, _spill: spill })
    }
}

fn random_failed(error: getrandom::Error) -> EngineError {
    EngineError::Sql { class: String::new(), message: format!("no random bytes: {error}"), offset: None }
}

fn open_engine(config: &ConfigFiles, options: &SessionOptions, spill: &SpillFolder) -> Result<Connection, RunError> {
    let pins = Pins::read();
    pins.check_library()?;
    let spill = spill.path.display().to_string();
    // Unsigned extensions are allowed only until the pinned ones are loaded; `load` ends it.
    let mut settings = vec![("allow_unsigned_extensions", "true"), ("temp_directory", spill.as_str())];
    let folder = options.extensions.engine_folder().map(|folder| folder.display().to_string());
    settings.extend(folder.as_deref().map(|folder| ("extension_directory", folder)));
    let connection = Arc::new(Database::open(&settings)?).connect()?;
    options.extensions.load(&connection, &needed_extensions(&config.attaching()), &pins)?;
    Ok(connection)
}

/// Names of the attached databases, without the engine's own.
fn attached(connection: &Connection) -> Result<BTreeSet<String>, EngineError> {
    let sql = "SELECT database_name FROM duckdb_databases() WHERE NOT internal AND database_name <> 'memory' \
               AND NOT starts_with(database_name, '__ducklake_metadata_')";
    Ok(connection.query(sql)?.into_values().filter_map(|mut row| row.swap_remove(0).into_text()).collect())
}

/// Runs `catalog.sql` and returns the alias of the one lake that it attached.
fn attach_lake(connection: &Connection, file: &ConfigFile, before: &BTreeSet<String>) -> Result<String, RunError> {
    check_backend(&file.expanded.text)?;
    run_file(connection, file, str::to_owned)?;
    let new: Vec<String> = attached(connection)?.difference(before).cloned().collect();
    let also: Vec<String> = before.iter().cloned().collect();
    let catalog = |message: String, help: &str| RunError::Catalog { message, help: help.into() };
    let alias = match (&new[..], &also[..]) {
        ([], []) => {
            return Err(catalog(
                "config/catalog.sql did not attach a DuckLake catalog".into(),
                "add a line like: ATTACH 'ducklake:sqlite:ducklake.sqlite' AS lake (DATA_PATH 'ducklake.sqlite.files')",
            ));
        }
        ([alias], []) | ([], [alias]) => alias.clone(),
        _ => {
            let mut all = [new, also].concat();
            all.sort();
            return Err(catalog(
                format!(
                    "the configuration must hold exactly one DuckLake ATTACH before macros, it attached: {}",
                    all.join(", ")
                ),
                "keep the lake in config/catalog.sql and attach other databases in config/sources.sql",
            ));
        }
    };
    let kind = connection.query_value(&format!(
        "SELECT type FROM duckdb_databases() WHERE database_name = {}",
        types::literal(&alias)
    ))?;
    if kind.as_text() != Some("ducklake") {
        return Err(catalog(
            format!(
                "config/catalog.sql requires a DuckLake catalog, `{alias}` is {}",
                kind.as_text().unwrap_or("something else")
            ),
            "write the path as 'ducklake:sqlite:…', 'ducklake:duckdb:…' or 'ducklake:postgres:…'",
        ));
    }
    if !is_identifier(&alias) || alias.eq_ignore_ascii_case("sandbox") {
        return Err(catalog(
            format!("`{alias}` cannot be the alias of the lake"),
            "choose a plain identifier other than `sandbox`; the scripts in sql/ expect `lake`",
        ));
    }
    Ok(alias)
}

/// Refuses metadata backends that the runtime does not know, before anything is attached.
fn check_backend(sql: &str) -> Result<(), RunError> {
    let words = code_words(sql);
    let backends = words.iter().filter_map(|word| word.strip_prefix("ducklake:")?.split_once(':'));
    for (backend, rest) in backends {
        let message = match backend {
            "sqlite" | "duckdb" | "postgres" => continue,
            // `ducklake:s3://…` is a DuckDB file at a URL.
            _ if rest.starts_with("//") => continue,
            "mysql" => "the catalog is MySQL: ondatrasql only supports sqlite, duckdb, and postgres".to_owned(),
            _ => format!("unrecognised DuckLake backend `{backend}`"),
        };
        return Err(RunError::Catalog {
            message,
            help: "use 'ducklake:sqlite:…', 'ducklake:duckdb:…' or 'ducklake:postgres:…'".into(),
        });
    }
    Ok(())
}

/// Runs the statements of a file one by one; an error names file and place.
pub(crate) fn run_file(
    connection: &Connection,
    file: &ConfigFile,
    prepare: impl Fn(&str) -> String,
) -> Result<(), RunError> {
    for range in file.statements() {
        let statement = &file.expanded.text[range.clone()];
        check_no_transaction(file, statement, range.start)?;
        connection.execute(&prepare(statement)).map_err(|error| {
            let offset = error.offset().filter(|&at| at <= statement.len()).unwrap_or(0);
            RunError::Config { file: file.name.clone(), place: Box::new(file.place(range.start + offset)), error }
        })?;
    }
    Ok(())
}

/// A transaction left open by configuration would make every model fail without naming the reason.
fn check_no_transaction(file: &ConfigFile, statement: &str, start: usize) -> Result<(), RunError> {
    let first = statement.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default().to_uppercase();
    if !["BEGIN", "START", "COMMIT", "END", "ROLLBACK", "ABORT"].contains(&first.as_str()) {
        return Ok(());
    }
    Err(RunError::Refused {
        code: Code::ConfigSql,
        message: format!("load {}: {first} is not allowed, transactions are the runtime's", file.name),
        help: "write the statements alone".into(),
        place: Box::new(file.place(start)),
    })
}

/// Runs the files that are there.
fn run_optional(
    connection: &Connection,
    files: &[&Option<ConfigFile>],
    prepare: impl Fn(&str) -> String,
) -> Result<(), RunError> {
    files.iter().copied().flatten().try_for_each(|file| run_file(connection, file, &prepare))
}

/// `{{catalog}}` becomes the lake's alias.
pub(crate) fn with_catalog(sql: &str, lake: &str) -> String {
    // The alias is a plain identifier: it may stand in a name or inside a text.
    sql.replace("{{catalog}}", lake)
}

/// A folder of this process for what the engine spills, made by the engine when it first needs it.
struct SpillFolder {
    path: PathBuf,
}

impl SpillFolder {
    const PREFIX: &'static str = "ondatrasql-spill-";

    /// Names a folder for this process and removes those of processes that are gone.
    fn new(temp_root: &std::path::Path) -> Self {
        for entry in std::fs::read_dir(temp_root).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let pid = name.to_str().and_then(|name| name.strip_prefix(Self::PREFIX)?.split('-').next());
            let is_dead = |pid: &str| pid.parse::<u32>().is_ok() && !std::path::Path::new("/proc").join(pid).exists();
            if pid.is_some_and(is_dead) {
                // Somebody else may be removing it too; a leftover is tried again at the next start.
                let _ = std::fs::remove_dir_all(entry.path());
            }
        }
        Self { path: temp_root.join(format!("{}{}", Self::PREFIX, std::process::id())) }
    }
}

impl Drop for SpillFolder {
    fn drop(&mut self) {
        // It is not there unless the engine spilled.
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

/// The snapshot at which the connection reads now.
pub(crate) fn current_snapshot(connection: &Connection, lake: &str) -> Result<i64, EngineError> {
    let value = connection.query_value(&format!("SELECT id FROM {}.current_snapshot()", quote(lake)))?;
    Ok(match value {
        Value::Int(id) => i64::try_from(id).unwrap_or(0),
        _ => 0,
    })
}
