//! What can go wrong with the state.

use std::path::PathBuf;
use std::time::Duration;

use engine::EngineError;
use project::ProjectError;
use types::{Code, Diagnose, Place};

/// An error of the state.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// The project's files.
    #[error(transparent)]
    Project(#[from] ProjectError),
    /// The engine itself, before it was asked for the state.
    #[error("open state: {}", .0.cleaned())]
    Engine(#[from] EngineError),
    /// The changes to feed could not be read: the fault is the lake's.
    #[error("read the changes: {}", .0.cleaned())]
    Changes(EngineError),
    /// A statement of `state.sql` failed.
    #[error("execute {file}: {message}")]
    Sql {
        /// The file as messages name it.
        file: String,
        /// The engine's text.
        message: String,
        /// What to do.
        help: String,
        /// Where in the file.
        place: Box<Place>,
    },
    /// `state.sql` does not attach what it must.
    #[error("use state catalog: {message}")]
    Catalog {
        /// What is wrong.
        message: String,
        /// What to do.
        help: String,
    },
    /// The key does not open the file.
    #[error("execute {file}: the state file cannot be opened with this key; the file is untouched")]
    WrongKey {
        /// The file as messages name it.
        file: String,
        /// Where in the file.
        place: Box<Place>,
    },
    /// Another process has the state file.
    #[error("the state file is in use{}, waited {waited_s} s for it", holder.as_deref().map_or_else(String::new, |pid| format!(" (process {pid})")))]
    Locked {
        /// The other process, where the system tells.
        holder: Option<String>,
        /// Seconds waited.
        waited_s: u64,
    },
    /// The tables are of a newer version.
    #[error("the state has schema version {found}, this ondatrasql knows versions up to {known}")]
    Newer {
        /// Version found.
        found: i64,
        /// Newest version known.
        known: i64,
    },
    /// The state cannot be written.
    #[error("write state: {message}")]
    Write {
        /// The engine's text.
        message: String,
    },
    /// The server does not answer, or the connection keeps breaking.
    #[error("the state cannot be reached{}: {message}", gave_up(*waited_s))]
    Unreachable {
        /// Seconds tried.
        waited_s: u64,
        /// The last answer.
        message: String,
    },
    /// Other workers kept changing the same rows.
    #[error("the state is being changed by other workers, gave up after {attempts} attempts: {message}")]
    Conflict {
        /// Attempts made.
        attempts: u32,
        /// The database's last answer.
        message: String,
    },
    /// The term does not match any more: another worker has taken over.
    #[error("the lease on {what} was lost: another worker has taken it over")]
    LeaseLost {
        /// What was leased.
        what: String,
    },
    /// The target of a copy holds something.
    #[error("the state to copy to is not empty: {table} holds {rows} rows")]
    NotEmpty {
        /// A table with rows.
        table: String,
        /// How many.
        rows: u64,
    },
    /// A copy is not the same as what was copied.
    #[error("{table} was not copied exactly: {message}")]
    Verify {
        /// The table.
        table: String,
        /// What differs.
        message: String,
    },
    /// Workers are using the state.
    #[error("workers are using the state: {}", workers.join(", "))]
    InUse {
        /// Their names.
        workers: Vec<String>,
    },
    /// Events of a target are being delivered.
    #[error("events of {target} are being delivered by {}; nothing was changed", workers.join(", "))]
    InFlight {
        /// The target.
        target: String,
        /// Who delivers them.
        workers: Vec<String>,
    },
    /// A command cannot do this with this state.
    #[error("{message}")]
    Refused {
        /// Which rule.
        code: Code,
        /// Why.
        message: String,
        /// What to do.
        help: String,
    },
    /// A file beside the state cannot be read or written.
    #[error("{action} {}: {cause}", path.display())]
    File {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's reason.
        cause: String,
    },
}

fn gave_up(waited_s: u64) -> String {
    if waited_s == 0 { String::new() } else { format!(", gave up after {waited_s} s") }
}

impl StateError {
    pub(crate) fn refused(code: Code, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::Refused { code, message: message.into(), help: help.into() }
    }

    /// The same error after waiting.
    pub(crate) fn after(self, waited: Duration) -> Self {
        let waited_s = waited.as_secs();
        match self {
            Self::Locked { holder, .. } => Self::Locked { holder, waited_s },
            Self::Unreachable { message, .. } => Self::Unreachable { message, waited_s },
            other => other,
        }
    }

    pub(crate) fn unreachable(waited: Duration, message: String) -> Self {
        Self::Unreachable { waited_s: waited.as_secs(), message }
    }

    pub(crate) fn file(action: &'static str, path: impl Into<PathBuf>, cause: &std::io::Error) -> Self {
        Self::File { action, path: path.into(), cause: cause.to_string() }
    }
}

impl Diagnose for StateError {
    fn code(&self) -> Code {
        match self {
            Self::Project(error) => error.code(),
            Self::Engine(error) | Self::Changes(error) => error.code(),
            Self::Sql { .. } => Code::StateSql,
            Self::Catalog { .. } => Code::StateCatalog,
            Self::WrongKey { .. } => Code::StateWrongKey,
            Self::Locked { .. } => Code::StateLocked,
            Self::Newer { .. } => Code::StateNewer,
            Self::Write { .. } => Code::StateWrite,
            Self::Unreachable { .. } => Code::StateUnreachable,
            Self::Conflict { .. } => Code::StateConflict,
            Self::LeaseLost { .. } => Code::StateLeaseLost,
            Self::NotEmpty { .. } => Code::StateNotEmpty,
            Self::Verify { .. } => Code::StateVerify,
            Self::InUse { .. } | Self::InFlight { .. } => Code::StateInUse,
            Self::Refused { code, .. } => *code,
            Self::File { .. } => Code::ProjectFile,
        }
    }

    fn help(&self) -> String {
        match self {
            Self::Project(error) => error.help(),
            Self::Engine(error) | Self::Changes(error) => error.help(),
            Self::Sql { help, .. } | Self::Catalog { help, .. } | Self::Refused { help, .. } => help.clone(),
            Self::WrongKey { .. } => "put the key with which the file was made back into .env, and see that the environment does not hold another one; without it nothing can read the file: move it away and run again to begin an empty state".into(),
            Self::Locked { .. } => "stop the other process, or wait longer with --state-wait 10m; for several workers use PostgreSQL or `ondatrasql state serve`; if it is a server that has it, use a project with the line that it printed".into(),
            Self::Newer { .. } => "use the ondatrasql that wrote it, or a newer one".into(),
            Self::Write { message } if message.contains("permission denied") => "let the state's user make tables: ALTER DATABASE … OWNER TO it, or a schema of its own with CREATE SCHEMA … AUTHORIZATION it and SCHEMA in the ATTACH".into(),
            Self::Write { message } if message.contains("AES tag") || message.contains("checksum") => "the file is damaged: put a copy back, or move it away and run again to begin an empty state".into(),
            Self::Write { .. } => "check that the state's file or server can be written and that its disk has room; what was committed before is safe".into(),
            Self::Unreachable { .. } => "check that the server of config/state.sql runs and can be reached from here; nothing is lost, run again".into(),
            Self::Conflict { .. } => "run again when the other workers have less to do".into(),
            Self::LeaseLost { .. } => "nothing to do: the other worker delivers it; a longer lease (ONDATRA_LEASE, in seconds) helps if this machine stalls often".into(),
            Self::NotEmpty { .. } => "copy into an empty database or schema".into(),
            Self::Verify { .. } => "nothing was changed where the state was; copy again into an empty state".into(),
            Self::InUse { .. } | Self::InFlight { .. } => "stop them, or wait until their leases have run out, and try again".into(),
            Self::File { .. } => "check that the file is there, readable and writable, and that the disk has room".into(),
        }
    }

    fn place(&self) -> Option<&Place> {
        match self {
            Self::Project(error) => error.place(),
            Self::Sql { place, .. } | Self::WrongKey { place, .. } => Some(place),
            _ => None,
        }
    }
}
