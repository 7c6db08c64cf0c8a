//! Why a sandbox could not be made.

use std::path::PathBuf;

use types::{Code, Diagnose};

/// An error of making a sandbox.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// There is nothing to copy.
    #[error("sandbox needs an existing prod catalog to fork from: {what} does not exist yet")]
    NoCatalog {
        /// The file or database.
        what: String,
    },
    /// The catalog is attached in a way from which its place cannot be told.
    #[error("sandbox: {message}")]
    Unknown {
        /// What is wrong.
        message: String,
    },
    /// A file of the catalog, or of the sandbox, cannot be read or written.
    #[error("sandbox: {action} {}: {cause}", path.display())]
    File {
        /// What was tried.
        action: &'static str,
        /// With which file.
        path: PathBuf,
        /// What the system said.
        cause: String,
    },
    /// Other processes changed the catalog again and again while it was copied.
    #[error("sandbox: {} is written all the time, {attempts} copies of it were not of one moment", path.display())]
    Unsteady {
        /// The catalog.
        path: PathBuf,
        /// Copies made.
        attempts: u32,
    },
    /// The server would not make or drop the fork.
    #[error("sandbox: {message}")]
    Server {
        /// What it said.
        message: String,
    },
    /// Connections would have to be ended, and nobody is there to be asked.
    #[error(
        "sandbox would terminate {connections} active connection(s) of the production catalog, which needs --yes without a terminal"
    )]
    NeedsYes {
        /// How many.
        connections: u64,
    },
    /// It was stopped, by a signal.
    #[error("interrupted")]
    Interrupted,
    /// The user said no.
    #[error("sandbox cancelled by user")]
    Declined,
}

impl SandboxError {
    /// An error of the file system.
    pub(super) fn file(action: &'static str, path: impl Into<PathBuf>, error: &std::io::Error) -> Self {
        Self::File { action, path: path.into(), cause: error.to_string() }
    }
}

impl Diagnose for SandboxError {
    fn code(&self) -> Code {
        match self {
            Self::NoCatalog { .. } => Code::SandboxCatalog,
            Self::Interrupted => Code::Interrupted,
            Self::NeedsYes { .. } | Self::Declined => Code::SandboxDeclined,
            Self::Unknown { .. } | Self::File { .. } | Self::Unsteady { .. } | Self::Server { .. } => Code::SandboxFork,
        }
    }

    fn help(&self) -> String {
        match self {
            Self::NoCatalog { .. } => "`ondatrasql run` makes it; a sandbox compares with what is there".into(),
            Self::Unknown { .. } => {
                "write the catalog's path in the ATTACH of config/catalog.sql: 'ducklake:sqlite:…', 'ducklake:duckdb:…' or \
                 'ducklake:postgres:…'"
                    .into()
            }
            Self::File { .. } => "check that the file can be read, and that the project's folder can be written and has room".into(),
            Self::Unsteady { .. } => "run it again when the other writers have less to do".into(),
            Self::Server { message } if is_of_sessions(message) => {
                "sessions of other users use the catalog's database: end them, or give the user of the ATTACH the role \
                 `pg_signal_backend`; only a superuser ends a superuser's"
                    .into()
            }
            Self::Server { message } if is_of_connection(message) => {
                "check that the server is up, and host, port and user in the ATTACH of config/catalog.sql".into()
            }
            Self::Server { .. } => {
                "the user of the ATTACH has to own the database or be an administrator, and needs CREATEDB and the database \
                 `postgres` to connect to"
                    .into()
            }
            Self::NeedsYes { .. } => {
                "add --yes if they may be ended: PostgreSQL copies no database that is in use, and runs that use it fail".into()
            }
            Self::Interrupted => "run it again: nothing of it stays, and production is as it was".into(),
            Self::Declined => "nothing was changed; run it again when nobody uses the catalog".into(),
        }
    }
}

/// Whether PostgreSQL could not copy the database since others use it, and the user may not end their sessions.
fn is_of_sessions(message: &str) -> bool {
    ["being accessed by other users", "terminate", "role whose process"].iter().any(|sign| message.contains(sign))
}

/// Whether there was no connection at all.
fn is_of_connection(message: &str) -> bool {
    ["Connection refused", "could not translate host name", "timeout expired", "No route to host"]
        .iter()
        .any(|sign| message.contains(sign))
}
