//! A session: the engine with a project's configuration applied, phase by phase (chapter 01 §2.1).

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use checks::create_functions;
use engine::{Connection, EngineError, EngineOptions, Instance, MemoryLimit, SpillFolder, needed_extensions};
use jiff::Timestamp;
use model::{Code, ConfigDefinitions, TokenKind, code_words};
use project::{ConfigFailure, ConfigFile, ConfigFiles};
use types::{is_identifier, quote};

use crate::RunError;
use crate::lake_settings::{self, Unbearable};
use crate::macros::{load_macros, make_named_checks, own_macros, refuse_reserved};
use crate::stand_in::StandIn;
use crate::variables::{FUNCTIONS, run_variables, snapshot_variables};

/// Attempts at attaching a lake that other processes are just making, and the first pause between two.
const CATALOG_ATTEMPTS: u32 = 6;
const CATALOG_PAUSE: Duration = Duration::from_millis(200);

/// An open session.
pub struct Session {
    /// The connection; the lake is current.
    pub connection: Connection,
    /// The lake's alias.
    pub lake: String,
    /// Database and schema of the lake's metadata, quoted.
    pub metadata: String,
    /// Other databases that are attached.
    pub catalogs: BTreeSet<String>,
    /// What of the configuration can change a model's meaning.
    pub definitions: ConfigDefinitions,
    /// The statements of checks' macros that were run.
    pub(crate) made_checks: RefCell<BTreeSet<String>>,
    /// Whether the configuration makes temporary objects, which only this connection has.
    pub(crate) keeps_temporary: bool,
    pub(crate) memory_limit: MemoryLimit,
    // Behind the connection: the folder must outlive what spills into it.
    pub(crate) spill: Arc<SpillFolder>,
    /// Behind it as well: what lies in the place of a catalog that is not there.
    pub(crate) stand_in: Option<StandIn>,
}

impl Session {
    /// Opens the engine and applies the configuration.
    pub fn open(config: &ConfigFiles, options: &EngineOptions) -> Result<Self, RunError> {
        Self::open_with(config, options, &|_, _| Ok(()))
    }

    /// The same; `attached` is called with the connection and the place of the lake's metadata, quoted, once the lake is
    /// attached and before anything is read from it.
    pub(crate) fn open_with(
        config: &ConfigFiles,
        options: &EngineOptions,
        attached: &dyn Fn(&Connection, &str) -> Result<(), EngineError>,
    ) -> Result<Self, RunError> {
        let started = Timestamp::now();
        let Instance { connection, spill } = options.open(&needed_extensions(&config.attaching()))?;
        run_optional(&connection, &[&config.settings, &config.secrets, &config.extensions])?;
        let mut random = [0; 4];
        getrandom::fill(&mut random).map_err(random_failed)?;
        connection.execute(&run_variables(started.as_second(), u32::from_le_bytes(random)))?;
        connection.execute(FUNCTIONS)?;
        connection.execute(&create_functions(&own_macros(&config.macros)))?;
        let lake = attach_lake(&connection, &config.catalog)?;
        let metadata = metadata_path(&config.catalog.expanded.text, &lake);
        attached(&connection, &metadata)?;
        refuse_reserved(&config.macros)?;
        let made_checks = make_named_checks(&connection, &config.macros)?;
        load_macros(&connection, &lake, &config.macros)?;
        // One transaction: each of its own would look for the newest snapshot again, at a cost that grows with
        // their number.
        let search_path = format!("SET search_path = '{}.main,memory.main';", quote(&lake));
        connection.execute(&format!("BEGIN; {} {search_path} COMMIT", snapshot_variables(&lake)))?;
        run_optional(&connection, &[&config.schemas])?;
        for file in [&config.constants, &config.global].into_iter().flatten() {
            run_file(&connection, &file.with_catalog(&lake))?;
        }
        run_optional(&connection, &[&config.sources])?;
        let mut catalogs = databases(&connection)?;
        catalogs.remove(&lake);
        catalogs.retain(|name| !metadata.starts_with(&quote(name)));
        let definitions = config.definitions();
        let memory_limit = MemoryLimit::of(&connection)?;
        Ok(Self {
            connection,
            lake,
            metadata,
            catalogs,
            definitions,
            made_checks: RefCell::new(made_checks),
            keeps_temporary: makes_temporary(config),
            memory_limit,
            spill: Arc::new(spill),
            stand_in: None,
        })
    }

    /// A folder of the session's own, gone with it.
    pub(crate) fn spill(&self) -> &Path {
        self.spill.path()
    }

    /// What the engine may use of the machine's memory, in bytes.
    pub(crate) fn memory_bytes(&self) -> u64 {
        self.memory_limit.bytes()
    }

    /// Gives back memory that is not in use.
    pub(crate) fn trim_memory(&self) {
        self.memory_limit.trim(&self.connection);
    }
}

fn random_failed(error: getrandom::Error) -> EngineError {
    EngineError::Sql { class: String::new(), message: format!("no random bytes: {error}"), offset: None }
}

/// Whether the configuration has a word that makes temporary objects.
fn makes_temporary(config: &ConfigFiles) -> bool {
    let words = config.texts().into_iter().flat_map(code_words);
    words.into_iter().any(|word| matches!(word.as_str(), "temp" | "temporary"))
}

/// Names of the attached databases, without the engine's own.
fn databases(connection: &Connection) -> Result<BTreeSet<String>, EngineError> {
    // Where the lake is current, a function without its schema is looked for in it first: that asks for its snapshot.
    let sql = "SELECT database_name FROM system.main.duckdb_databases() WHERE NOT internal AND database_name <> 'memory' \
               AND NOT system.main.starts_with(database_name, '__ducklake_metadata_')";
    Ok(connection.query(sql)?.into_values().filter_map(|mut row| row.swap_remove(0).into_text()).collect())
}

/// Where the lake keeps its own tables: as `catalog.sql` says, or DuckLake's default.
fn metadata_path(catalog_sql: &str, lake: &str) -> String {
    let code = Code::new(catalog_sql);
    let option = |name: &str| {
        let is_value =
            |at: usize| matches!(code.kind(at), Some(TokenKind::Text | TokenKind::Word | TokenKind::QuotedName));
        let at = (0..code.len()).find(|&at| code.is(at, &[name]) && is_value(at + 1))?;
        Some(code.value(at + 1))
    };
    let database = option("METADATA_CATALOG").unwrap_or_else(|| format!("__ducklake_metadata_{lake}"));
    let schema = option("METADATA_SCHEMA").map_or_else(String::new, |schema| format!(".{}", quote(&schema)));
    format!("{}{schema}", quote(&database))
}

/// Runs `catalog.sql`. Of processes that start together on an empty catalog each makes the lake's tables, and one can.
fn run_catalog(connection: &Connection, file: &ConfigFile) -> Result<(), RunError> {
    let is_raced = |error: &RunError| {
        let text = error.to_string();
        text.contains("Failed to initialize DuckLake") && (text.contains("exists") || text.contains("duplicate key"))
    };
    let mut attempt = 1;
    loop {
        match run_file(connection, file) {
            Err(error) if is_raced(&error) && attempt < CATALOG_ATTEMPTS => {
                std::thread::sleep(CATALOG_PAUSE * attempt);
                attempt += 1;
            }
            done => return done,
        }
    }
}

/// Runs `catalog.sql` and returns the alias of the one lake that it attached.
fn attach_lake(connection: &Connection, file: &ConfigFile) -> Result<String, RunError> {
    check_backend(&file.expanded.text)?;
    run_catalog(connection, file)?;
    let mut all = databases(connection)?;
    // A metadata database under a name of its own is a part of its lake.
    let metadata = metadata_path(&file.expanded.text, "");
    all.retain(|name| !metadata.starts_with(&quote(name)));
    let catalog = |message: String, help: &str| RunError::Catalog { message, help: help.into() };
    let all: Vec<String> = all.into_iter().collect();
    let alias = match &all[..] {
        [alias] => alias.clone(),
        [] => {
            return Err(catalog(
                "config/catalog.sql did not attach a DuckLake catalog".into(),
                "add a line like: ATTACH 'ducklake:sqlite:ducklake.sqlite' AS lake (DATA_PATH 'ducklake.sqlite.files')",
            ));
        }
        _ => {
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

/// Why a statement of a file is in the way.
enum Fault {
    Engine(EngineError),
    Setting(&'static Unbearable),
}

impl Fault {
    fn offset(&self) -> Option<usize> {
        match self {
            Self::Engine(error) => error.offset(),
            Self::Setting(_) => None,
        }
    }
}

/// Runs the statements of a file one by one; an error names file and place.
pub(crate) fn run_file(connection: &Connection, file: &ConfigFile) -> Result<(), RunError> {
    let execute = |statement: &str| match lake_settings::execute(connection, statement) {
        Ok(None) => Ok(()),
        Ok(Some(setting)) => Err(Fault::Setting(setting)),
        Err(error) => Err(Fault::Engine(error)),
    };
    file.run(execute, Fault::offset).map_err(|failure| match failure {
        ConfigFailure::Statement { error: Fault::Engine(error), place } => {
            RunError::Config { file: file.name.clone(), place, error }
        }
        ConfigFailure::Statement { error: Fault::Setting(setting), place } => RunError::Refused {
            code: types::Code::ConfigSql,
            message: format!("load {}: {} is not allowed: {}", file.name, setting.name, setting.why),
            help: setting.help.into(),
            place,
        },
        ConfigFailure::Transaction { word, place } => RunError::Refused {
            code: types::Code::ConfigSql,
            message: format!("load {}: {word} is not allowed, transactions are the runtime's", file.name),
            help: "write the statements alone".into(),
            place,
        },
    })
}

/// Runs the files that are there.
fn run_optional(connection: &Connection, files: &[&Option<ConfigFile>]) -> Result<(), RunError> {
    files.iter().copied().flatten().try_for_each(|file| run_file(connection, file))
}

/// The snapshot at which the connection reads now.
pub(crate) fn current_snapshot(connection: &Connection, lake: &str) -> Result<i64, EngineError> {
    let value = connection.query_value(&format!("SELECT id FROM {}.current_snapshot()", quote(lake)))?;
    value.as_i64().ok_or_else(|| EngineError::Sql {
        class: String::new(),
        message: "the lake does not tell its current snapshot".into(),
        offset: None,
    })
}
