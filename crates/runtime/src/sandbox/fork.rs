//! The fork of production's catalog, which is gone when this is dropped.

use std::path::Path;

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
        let missing = |path: &Path| SandboxError::NoCatalog { what: path.display().to_string() };
        if let Backend::Sqlite(path) | Backend::Duckdb(path) = &source.backend
            && !path.exists()
        {
            return Err(missing(path).into());
        }
        let mut fork = Self {
            folder: Folder::new(options.root)?,
            backend: source.backend.clone(),
            server: None,
            catalog: config.catalog.clone(),
            data_path: source.data_path().map(str::to_owned),
            is_removed: false,
        };
        let copied = |path: &Path| {
            let path = options.root.join(path);
            copy(&path, source.backend.companions(), &fork.folder.catalog(), options.cancellation)
        };
        fork.backend = match &source.backend {
            Backend::Sqlite(path) => Backend::Sqlite(copied(path)?),
            Backend::Duckdb(path) => Backend::Duckdb(copied(path)?),
            Backend::Postgres(_) => {
                let server = fork.server.insert(Server::of(&source, options.engine)?);
                fork.folder.record_database()?;
                let connection = server.fork(&fork.folder.database(), (options, &fork.folder.data()))?;
                Backend::Postgres(connection)
            }
        };
        fork.catalog = source.forked(&fork.backend, &fork.folder.data());
        Ok(fork)
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
        Session::open_with(&config, options.engine, &attached)
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
