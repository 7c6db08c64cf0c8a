//! Opens the state that `config/state.sql` attaches, in a session of its own (chapter 04 §2).

use std::path::PathBuf;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use engine::{Connection, EngineError, EngineOptions, Instance, needed_extensions};
use model::Attach;
use project::{ConfigFailure, ConfigFile};
use types::Code;

use crate::backend::{Backend, File, Postgres, Quack, Remote, quack_request};
use crate::failure::Failure;
use crate::migrations::migrate;
use crate::sql_store::{SqlStore, local};
use crate::{StateError, WorkerId};

/// Pause between two attempts to get a locked file, or a server that is away.
const PAUSE: Duration = Duration::from_millis(100);

/// How long something is a worker's without a sign of life (chapter 04 §7).
pub const LEASE: Duration = Duration::from_mins(1);
/// Bytes of a DuckDB file that holds nothing.
const HEADERS_BYTES: u64 = 3 * 4096;

/// What is needed to open a state, again and again.
#[derive(Clone)]
pub struct StateConfig {
    /// `state.sql`, expanded.
    pub file: ConfigFile,
    /// For the session.
    pub engine: EngineOptions,
    /// How long something is a worker's without a sign of life.
    pub lease: Duration,
    /// How long to wait for a locked file, or for a server when the state is opened.
    pub lock_wait: Duration,
    /// How long to wait for one answer of a server.
    pub answer_wait: Duration,
    /// How long to go on trying to reach a server.
    pub patience: Duration,
}

impl StateConfig {
    /// A configuration with the waits of chapter 04: a lease of 60 s, 10 s for a lock.
    pub fn new(file: ConfigFile, engine: EngineOptions) -> Self {
        Self {
            file,
            engine,
            lease: LEASE,
            lock_wait: Duration::from_secs(10),
            answer_wait: Duration::from_secs(20),
            patience: Duration::from_mins(1),
        }
    }
}

/// Opens the state and brings its tables up to date.
pub fn open(config: StateConfig, worker: WorkerId) -> Result<SqlStore, StateError> {
    // A server that is being restarted is back in a moment.
    let is_passing = |error: &StateError| matches!(error, StateError::Unreachable { .. });
    let backend = wait_for(config.lock_wait, is_passing, || open_at_once(&config))?;
    Ok(SqlStore::new(backend, config, worker))
}

/// Tries until it works, the error is not a passing one, or the wait is over.
pub(crate) fn wait_for<T>(
    wait: Duration,
    is_passing: impl Fn(&StateError) -> bool,
    mut attempt: impl FnMut() -> Result<T, StateError>,
) -> Result<T, StateError> {
    let started = Instant::now();
    loop {
        let waited = match attempt() {
            Err(error) if is_passing(&error) => {
                let waited = started.elapsed();
                if waited >= wait {
                    return Err(error.after(waited));
                }
                waited
            }
            other => return other,
        };
        std::thread::sleep(PAUSE.min(wait.saturating_sub(waited)));
    }
}

fn open_at_once(config: &StateConfig) -> Result<Box<dyn Backend>, StateError> {
    let mut backend = connect(config)?;
    let are_new = migrate(backend.as_mut())?;
    if are_new && !backend.kind().is_exclusive() {
        // The session looked at the tables before these were there.
        backend = connect(config)?;
    }
    Ok(backend)
}

/// Runs `state.sql` in a new session, after waiting for whoever has the file. `extensions` are loaded besides those
/// that its text names. Gives the session and the database's type.
pub(crate) fn session(config: &StateConfig, extensions: &[&'static str]) -> Result<(Instance, String), StateError> {
    let is_passing = |error: &StateError| matches!(error, StateError::Locked { .. });
    wait_for(config.lock_wait, is_passing, || session_at_once(config, extensions))
}

fn session_at_once(config: &StateConfig, extensions: &[&'static str]) -> Result<(Instance, String), StateError> {
    let mut names = needed_extensions(&[&config.file.expanded.text]);
    // It brings the cipher: without it the engine cannot write an encrypted file.
    let cipher = config.file.encryption_key().map(|_| "httpfs");
    for &name in extensions.iter().chain(&cipher) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let instance = config.engine.open(&names).map_err(local)?;
    let connection = &instance.connection;
    // What is spilled of an encrypted state is encrypted. A request that is sent twice behind our back would
    // be answered twice.
    connection.execute("SET temp_file_encryption = true; SET http_retries = 0").map_err(local)?;
    let run = || config.file.run(|statement| connection.execute(statement), EngineError::offset);
    run()
        .or_else(|failure| if is_cut_short(&failure) { run() } else { Err(failure) })
        .map_err(|failure| refused(&config.file, failure))?;
    let kind = check_attached(connection, &config.file.name, false)?;
    Ok((instance, kind))
}

/// Whether the file was left by a process that died while making it: then nothing is in it yet, and it is removed.
fn is_cut_short(failure: &ConfigFailure<EngineError>) -> bool {
    let ConfigFailure::Statement { error, .. } = failure else { return false };
    let message = error.cleaned();
    let signs = ["not a valid DuckDB database file", "Could not read enough bytes"];
    let Some(path) = message.split('"').nth(1).filter(|_| signs.iter().any(|sign| message.contains(sign))) else {
        return false;
    };
    // Three headers are written before anything else; the first of them bears the name.
    let is_begun = |bytes: &[u8]| bytes.iter().all(|&byte| byte == 0) || bytes.get(8..12) == Some(b"DUCK");
    let is_short = std::fs::metadata(path).is_ok_and(|file| file.is_file() && file.len() < HEADERS_BYTES);
    is_short && std::fs::read(path).is_ok_and(|bytes| is_begun(&bytes)) && std::fs::remove_file(path).is_ok()
}

/// The file of a state that is in one, as `config/state.sql` names it.
pub fn state_file(file: &ConfigFile) -> Option<PathBuf> {
    let text = &file.expanded.text;
    let mut attached = file.statements().into_iter().filter_map(|range| Attach::read(&text[range]));
    attached.next().filter(|_| !is_of_server(text)).map(|attach| PathBuf::from(attach.path))
}

/// Whether the state is on a server, by the text of its configuration.
pub(crate) fn is_on_server(config: &StateConfig) -> bool {
    is_of_server(&config.file.expanded.text)
}

fn is_of_server(text: &str) -> bool {
    let names = needed_extensions(&[text]);
    names.contains(&"quack") || names.contains(&"postgres_scanner")
}

/// A new session with the state; what is in it is not looked at. A server that does not answer is given up.
pub(crate) fn connect(config: &StateConfig) -> Result<Box<dyn Backend>, StateError> {
    if !is_on_server(config) {
        return attach(config);
    }
    let (answer, answers) = channel();
    let copy = config.clone();
    let work = move || {
        // Nobody waits any more if this fails.
        let _ = answer.send(attach(&copy));
    };
    let started = std::thread::Builder::new().name("attach".into()).spawn(work);
    started.map_err(|error| StateError::Write { message: format!("start a thread: {error}") })?;
    answers.recv_timeout(config.answer_wait).unwrap_or_else(|_| {
        let message = format!("the server gave no answer for {} s", config.answer_wait.as_secs());
        Err(StateError::unreachable(Duration::ZERO, message))
    })
}

/// Runs `state.sql` and looks at what it attached.
fn attach(config: &StateConfig) -> Result<Box<dyn Backend>, StateError> {
    let (instance, kind) = session(config, &[])?;
    let connection = &instance.connection;
    match kind.as_str() {
        "duckdb" => Ok(Box::new(File::new(instance).map_err(local)?)),
        "postgres" => {
            connection.execute("USE state").map_err(|error| no_schema(&error))?;
            let schema = connection.query_value("SELECT current_schema()").map_err(|error| server_error(&error))?;
            let schema = schema.into_text().unwrap_or_else(|| "public".into());
            connection.execute("USE memory").map_err(local)?;
            let default = check_postgres(connection)?;
            let is_default = default == schema;
            let remote = Remote::new(instance, config.answer_wait).map_err(local)?;
            Ok(Box::new(Postgres::new(remote, schema, is_default)))
        }
        "quack" => {
            let ask = quack_request("SELECT current_database()");
            connection.query_value(&ask).map_err(|error| match Failure::of(&error, "") {
                Failure::Refused(message) if message.contains("does not exist") || message.contains("No catalog") => {
                    no_database()
                }
                failure => failure.into_error(),
            })?;
            Ok(Box::new(Quack::new(Remote::new(instance, config.answer_wait).map_err(local)?)))
        }
        other => Err(StateError::Catalog {
            message: format!("{} attaches {other}, which cannot hold the state", config.file.name),
            help: "attach a DuckDB file, PostgreSQL (TYPE postgres) or a Quack server (TYPE quack)".into(),
        }),
    }
}

/// An error if the server does not do what scripts count on; gives the schema in which it looks by itself.
fn check_postgres(connection: &Connection) -> Result<String, StateError> {
    let ask = "FROM postgres_query('state', 'SELECT CAST(current_schema() AS TEXT) AS schema, \
               current_setting(''transaction_isolation'') AS isolation, current_setting(''lc_messages'') AS messages')";
    let answer = connection.query(ask).map_err(|error| server_error(&error))?.into_values().next().unwrap_or_default();
    let word = |at: usize| answer.get(at).and_then(|value| value.as_text()).unwrap_or_default().to_owned();
    let (isolation, messages) = (word(1), word(2));
    if !["repeatable read", "serializable"].contains(&isolation.as_str()) {
        return Err(StateError::Catalog {
            message: format!("transactions of this connection are {isolation}: two workers would not see each other"),
            help: "take ISOLATION_LEVEL out of the ATTACH in config/state.sql".into(),
        });
    }
    if !speaks_english(&messages) {
        return Err(StateError::Catalog {
            message: format!("the server's messages are in another language (lc_messages = {messages})"),
            help: "their words tell conflicts from faults: as an administrator, run ALTER DATABASE … SET lc_messages \
                   = 'C' for the state's database"
                .into(),
        });
    }
    Ok(word(0))
}

fn speaks_english(locale: &str) -> bool {
    let locale = locale.to_lowercase();
    locale.is_empty()
        || ["c", "posix"].contains(&locale.split('.').next().unwrap_or_default())
        || locale.starts_with("en")
}

fn no_schema(error: &EngineError) -> StateError {
    if !error.cleaned().contains("No catalog + schema") {
        return server_error(error);
    }
    StateError::Catalog {
        message: "the database has no schema of the name that SCHEMA gives".into(),
        help: "create it there: CREATE SCHEMA … AUTHORIZATION <user of the state>".into(),
    }
}

/// What a server answered while its state was being looked at.
fn server_error(error: &EngineError) -> StateError {
    match Failure::of(error, "") {
        Failure::Lost(message) => StateError::unreachable(Duration::ZERO, message),
        _ => StateError::Catalog {
            message: error.cleaned(),
            help: "create the database and the schema that config/state.sql names, and let its user use them".into(),
        },
    }
}

fn no_database() -> StateError {
    StateError::Catalog {
        message: "the Quack server has no database `state`".into(),
        help:
            "serve the state with `ondatrasql state serve`, or attach a file AS state on the server before quack_serve"
                .into(),
    }
}

/// The type of the database attached as `state`, which must be the only one, and writable unless it is only `looked` at.
pub(crate) fn check_attached(connection: &Connection, file: &str, looked: bool) -> Result<String, StateError> {
    let sql = "SELECT database_name, type, readonly, coalesce(path, '') FROM duckdb_databases() \
               WHERE NOT internal AND database_name <> 'memory' ORDER BY database_name";
    let rows: Vec<_> = connection.query(sql).map_err(local)?.into_values().collect();
    let names: Vec<String> = rows.iter().filter_map(|row| row[0].as_text().map(str::to_owned)).collect();
    let attached = |message: String| StateError::Catalog {
        message,
        help: "write exactly one ATTACH … AS state; `ondatrasql init` in an empty folder shows one".into(),
    };
    match &names[..] {
        [name] if name == "state" => {}
        [] => return Err(attached(format!("{file} attaches nothing"))),
        [name] => return Err(attached(format!("{file} attaches `{name}`, the alias must be `state`"))),
        _ => {
            let names = names.join(", ");
            return Err(attached(format!("{file} must attach one catalog, it attaches: {names}")));
        }
    }
    if !looked && rows[0][2].as_bool() == Some(true) {
        return Err(StateError::Catalog {
            message: format!("{file} attaches the state read-only"),
            help: "take READ_ONLY out, and check that the file and its folder can be written".into(),
        });
    }
    let kind = rows[0][1].as_text().unwrap_or_default().to_owned();
    if kind == "duckdb" && matches!(rows[0][3].as_text(), Some("" | ":memory:")) {
        return Err(attached(format!("{file} attaches a database in memory, which is gone with the process")));
    }
    Ok(kind)
}

/// The user's words for what a statement of `state.sql` answered.
pub(crate) fn refused(file: &ConfigFile, failure: ConfigFailure<EngineError>) -> StateError {
    let (error, place) = match failure {
        ConfigFailure::Transaction { word, place } => {
            return StateError::Sql {
                file: file.name.clone(),
                message: format!("{word} is not allowed, transactions are the runtime's"),
                help: "write the statements alone".into(),
                place,
            };
        }
        ConfigFailure::Statement { error, place } => (error, place),
    };
    let message = error.cleaned();
    if message.contains("Could not set lock on file") || message.contains("Conflicting lock") {
        return StateError::Locked { holder: holder(&message), waited_s: 0 };
    }
    if message.contains("Wrong encryption key") {
        return StateError::WrongKey { file: file.name.clone(), place };
    }
    if let Failure::Lost(message) = Failure::of(&error, "") {
        return StateError::unreachable(Duration::ZERO, message);
    }
    let help = match () {
        () if message.contains("encrypted") && file.encryption_key().is_none() => {
            "add (ENCRYPTION_KEY '${ONDATRA_STATE_KEY}') to the ATTACH: the file is encrypted".into()
        }
        () if message.contains("Authentication failed") => "use the token with which the server was started".into(),
        () if message.contains("connect to Postgres") || message.contains("connection info string") => {
            "check user, password and database in the ATTACH; quote a value with blanks: password='…', with \\' and \\\\ inside"
                .into()
        }
        () if message.contains("not a valid DuckDB database file") => {
            "it is another kind of file, or damaged: put a copy back, or move it away and run again to begin an empty state"
                .into()
        }
        () if error.is_statement_fault() => format!("correct the statement in {}", place.file().display()),
        () => types::Diagnose::help(&error),
    };
    StateError::Sql { file: file.name.clone(), message, help, place }
}

/// The process that the engine names as the lock's holder.
fn holder(message: &str) -> Option<String> {
    let (_, rest) = message.split_once("(PID ")?;
    Some(rest.split(')').next().unwrap_or_default().to_owned())
}

/// A refusal of commands that need a state file.
pub(crate) fn check_is_file(config: &StateConfig, code: Code, command: &str) -> Result<(), StateError> {
    if !is_on_server(config) {
        return Ok(());
    }
    let help = format!(
        "where the file itself is attached, in the project that serves it, run `ondatrasql state {command}`; \
         PostgreSQL has its own means"
    );
    Err(StateError::refused(code, format!("`ondatrasql state {command}` needs a state in a DuckDB file"), help))
}

#[cfg(test)]
mod tests {
    use super::speaks_english;

    #[test]
    fn locales_of_english_are_known() {
        for locale in ["", "C", "C.UTF-8", "POSIX", "en_US.UTF-8", "en_GB", "English_United States.1252"] {
            assert!(speaks_english(locale), "{locale}");
        }
        for locale in ["de_DE.UTF-8", "cs_CZ", "es_ES@euro"] {
            assert!(!speaks_english(locale), "{locale}");
        }
    }
}
