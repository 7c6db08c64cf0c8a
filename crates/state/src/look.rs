//! The state for a sandbox (chapter 04 §11): a look at what is in it, which changes nothing and holds nothing, and an
//! empty state in memory for what the sandbox stages itself.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use engine::{EngineError, Instance};
use model::Attach;
use project::ConfigFile;

use crate::backend::{Backend, File};
use crate::migrations::{VERSION, found_version, migrate};
use crate::open::{StateConfig, check_attached, connect, is_on_server, refused, wait_for};
use crate::sql_store::{SqlStore, local};
use crate::{Position, Queue as _, StateError, StoredToken, Tokens as _, WorkerId};

/// What the state held when it was looked at.
#[derive(Debug)]
pub struct StateLook {
    /// Where the feeds of targets stand, by target.
    pub positions: BTreeMap<String, Position>,
    /// Events of targets that are not delivered, whether they are due, wait or are in flight.
    pub queued: BTreeMap<String, u64>,
    /// All tokens.
    pub tokens: Vec<StoredToken>,
    /// When they were read: their ages are those of then.
    pub read_at: Instant,
}

impl StateLook {
    fn empty() -> Self {
        Self { positions: BTreeMap::new(), queued: BTreeMap::new(), tokens: Vec::new(), read_at: Instant::now() }
    }
}

/// Looks at the state: at the feeds of `targets`, at all queues and tokens. Nothing is written, no table is made or
/// brought up to date, and a file is free again afterwards. A state that is not there yet is empty.
///
/// # Errors
/// The state cannot be opened, a file for writing is held by another process for longer than `lock_wait`, or the tables
/// are of another version than this build's.
pub fn look(config: StateConfig, worker: WorkerId, targets: &[String]) -> Result<StateLook, StateError> {
    let Some(mut backend) = connect_to_read(&config)? else { return Ok(StateLook::empty()) };
    match found_version(backend.as_mut())? {
        None => return Ok(StateLook::empty()),
        Some(VERSION) => {}
        Some(found) if found > VERSION => return Err(StateError::Newer { found, known: VERSION }),
        Some(found) => {
            return Err(StateError::Catalog {
                message: format!("the state has schema version {found}, this ondatrasql works with {VERSION}"),
                help: "`ondatrasql state status` brings it up to date".into(),
            });
        }
    }
    let mut store = SqlStore::new(backend, config, worker);
    let mut look = StateLook::empty();
    for target in targets {
        if let Some(position) = store.position(target)? {
            look.positions.insert(target.clone(), position);
        }
    }
    let counts = store.counts()?.into_iter();
    look.queued = counts.map(|counts| (counts.target, counts.pending + counts.waiting + counts.in_flight)).collect();
    look.tokens = store.tokens()?;
    look.read_at = Instant::now();
    Ok(look)
}

/// An empty state that is gone with the process, with the engine and the lease of another one's configuration.
///
/// # Errors
/// The engine cannot be brought up.
pub fn open_in_memory(config: StateConfig, worker: WorkerId) -> Result<SqlStore, StateError> {
    let instance = config.engine.open(&[]).map_err(local)?;
    instance.connection.execute("SET temp_file_encryption = true; ATTACH ':memory:' AS state").map_err(local)?;
    let mut backend: Box<dyn Backend> = Box::new(File::new(instance).map_err(local)?);
    migrate(backend.as_mut())?;
    Ok(SqlStore::new(backend, config, worker))
}

/// A session in which the state can be read; `None` if its file is not there.
fn connect_to_read(config: &StateConfig) -> Result<Option<Box<dyn Backend>>, StateError> {
    if is_on_server(config) {
        return connect(config).map(Some);
    }
    let Some(file) = read_only(&config.file) else { return Ok(None) };
    let is_passing = |error: &StateError| matches!(error, StateError::Locked { .. });
    wait_for(config.lock_wait, is_passing, || open_to_read(config, &file)).map(Some)
}

fn open_to_read(config: &StateConfig, file: &ConfigFile) -> Result<Box<dyn Backend>, StateError> {
    let instance: Instance = config.engine.open(&[]).map_err(local)?;
    let connection = &instance.connection;
    file.run(|statement| connection.execute(statement), EngineError::offset).map_err(|error| refused(file, error))?;
    check_attached(connection, &file.name, true)?;
    Ok(Box::new(File::new(instance).map_err(local)?))
}

/// `state.sql` with its file attached for reading only; `None` if that file is not there.
fn read_only(file: &ConfigFile) -> Option<ConfigFile> {
    let mut changed = file.clone();
    for range in file.statements() {
        let statement = &file.expanded.text[range];
        if let Some(attach) = Attach::read(statement) {
            if !Path::new(&attach.path).exists() {
                return None;
            }
            changed = changed.replacing(statement, &attach.rewritten(&attach.path, &[("READ_ONLY", String::new())]));
        }
    }
    Some(changed)
}
