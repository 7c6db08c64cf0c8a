//! The state as a run has it: shared by its threads, with signs of life while it is open.

use std::sync::Arc;

use state::{Heartbeat, SharedStore, SqlStore, StateError};

/// The state of a run.
pub(crate) struct StateSession {
    pub store: SharedStore,
    pub heartbeat: Arc<Heartbeat>,
}

impl StateSession {
    /// Begins the signs of life, before anything is taken.
    pub(crate) fn start(store: SqlStore) -> Result<Self, StateError> {
        let heartbeat = Heartbeat::start(&store)
            .map_err(|error| StateError::Write { message: format!("start a thread: {error}") })?;
        Ok(Self { store: SharedStore::new(Box::new(store)), heartbeat: Arc::new(heartbeat) })
    }
}
