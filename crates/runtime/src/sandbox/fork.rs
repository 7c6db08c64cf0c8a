//! The fork of production's catalog, which is gone when this is dropped.

use std::path::{Path, PathBuf};

use engine::{Connection, EngineError, EngineOptions};
use project::{ConfigFile, ConfigFiles};

use super::copy::copy;
use super::folder::{Folder, Leftover};
use super::localize::localize;
use super::server::Server;
use super::source::{Backend, Source};
use super::{ConfirmTermination, SandboxError};
use crate::{Cancellation, RunError, Session};

/// What a fork is made with.
pub(super) struct ForkOptions<'a> {
    pub root: &'a Path,
    pub engine: &'a EngineOptions,
    pub cancellation: &'a Cancellation,
    /// Asked before connections to production are ended.
    pub confirm: &'a ConfirmTermination<'a>,
}

/// A fork.
pub(super) struct Fork {
    folder: Folder,
    backend: Backend,
    /// Production's catalog, if it is a file.
    file: Option<PathBuf>,
    /// Where the database of the fork is to be dropped.
    server: Option<Server>,
    /// `catalog.sql` with the fork in production's place.
    catalog: ConfigFile,
    /// Where production's data files are by the ATTACH.
    data_path: Option<String>,
    is_removed: bool,
}

impl Fork {
    /// Removes what sandboxes left whose processes are gone; what cannot be removed is told.
    pub fn remove_leftovers(config: &ConfigFiles, options: &ForkOptions<'_>) -> Vec<String> {
        let mut server = None;
        let mut removed = |left: &Leftover| -> Result<(), SandboxError> {
            if let Some(database) = &left.database {
                if server.is_none() {
                    server = Some(Server::of(&Source::read(config)?, options.engine)?);
                }
                server.as_ref().map_or(Ok(()), |server: &Server| server.drop_database(database))?;
            }
            left.remove()
        };
        let leftovers = Leftover::find(options.root);
        leftovers.iter().filter_map(|left| removed(left).err()).map(|error| error.to_string()).collect()
    }

    /// Copies production's catalog.
    pub fn make(config: &ConfigFiles, options: &ForkOptions<'_>) -> Result<Self, RunError> {
        let source = Source::read(config)?;
        match &source.backend {
            Backend::Sqlite(path) => Self::of_file(&source, path, Backend::Sqlite, options),
            Backend::Duckdb(path) => Self::of_file(&source, path, Backend::Duckdb, options),
            Backend::Postgres(_) => Self::of_server(&source, options),
        }
    }

    fn of_file(
        source: &Source<'_>,
        path: &Path,
        backend: impl FnOnce(PathBuf) -> Backend,
        options: &ForkOptions<'_>,
    ) -> Result<Self, RunError> {
        if !path.exists() {
            return Err(SandboxError::NoCatalog { what: path.display().to_string() }.into());
        }
        let mut fork = Self::empty(source, options)?;
        let file = fork.file.insert(options.root.join(path));
        let copied = copy(file, source.backend.companions(), &fork.folder.catalog(), options.cancellation)?;
        Ok(fork.of(source, backend(copied)))
    }

    fn of_server(source: &Source<'_>, options: &ForkOptions<'_>) -> Result<Self, RunError> {
        let server = Server::of(source, options.engine)?;
        // Before anything is made: a question may be left unanswered.
        let production = server.consent(options)?;
        let mut fork = Self::empty(source, options)?;
        fork.folder.record_database()?;
        let (name, data) = (fork.folder.database(), fork.folder.data());
        let made = fork.server.insert(server).fork(&production, &name, options.root, &data)?;
        options.cancellation.check()?;
        Ok(fork.of(source, Backend::Postgres(made)))
    }

    /// One without a catalog, which has a place already.
    fn empty(source: &Source<'_>, options: &ForkOptions<'_>) -> Result<Self, SandboxError> {
        Ok(Self {
            folder: Folder::new(options.root)?,
            backend: source.backend.clone(),
            file: None,
            server: None,
            catalog: source.config.catalog.clone(),
            data_path: source.data_path().map(str::to_owned),
            is_removed: false,
        })
    }

    fn of(mut self, source: &Source<'_>, backend: Backend) -> Self {
        self.catalog = source.forked(&backend, &self.folder.data());
        self.backend = backend;
        self
    }

    /// A session with the fork as its lake.
    pub fn session(&self, config: ConfigFiles, options: &ForkOptions<'_>) -> Result<Session, RunError> {
        let config = ConfigFiles { catalog: self.catalog.clone(), ..config };
        let data = self.folder.data();
        let attached = |connection: &Connection, metadata: &str| -> Result<(), EngineError> {
            match &self.backend {
                // Its server has done it, which is faster than row by row from here.
                Backend::Postgres(_) => Ok(()),
                files => localize(connection, metadata, files, (self.data_path.as_deref(), options.root, &data)),
            }
        };
        Session::open_with(&config, options.engine, &attached).map_err(|error| self.of_production(error))
    }

    /// An error that names production's catalog in the place of its copy, which is gone when it is read.
    fn of_production(&self, error: RunError) -> RunError {
        let (Some(file), Backend::Sqlite(copied) | Backend::Duckdb(copied)) = (&self.file, &self.backend) else {
            return error;
        };
        let (file, copied) = (file.display().to_string(), copied.display().to_string());
        match error {
            RunError::Config { file: name, error: EngineError::Sql { class, message, offset }, place } => {
                let message = message.replace(&copied, &file);
                RunError::Config { file: name, error: EngineError::Sql { class, message, offset }, place }
            }
            other => other,
        }
    }

    /// Removes it.
    pub fn remove(mut self) -> Result<(), SandboxError> {
        self.removed()
    }

    fn removed(&mut self) -> Result<(), SandboxError> {
        if std::mem::replace(&mut self.is_removed, true) {
            return Ok(());
        }
        // As long as the database is there its record has to be, too.
        if let Some(server) = &self.server {
            server.drop_database(&self.folder.database())?;
        }
        self.folder.remove()
    }
}

impl Drop for Fork {
    fn drop(&mut self) {
        // On the way out of an error, which is the one that tells. What stays is removed by another sandbox.
        let _ = self.removed();
    }
}
