//! One store for the lanes of a worker.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::Store;

/// A store that several threads of a worker share. Verbs are short; nobody holds it while a sink is called.
#[derive(Clone)]
pub struct SharedStore(Arc<Mutex<Box<dyn Store>>>);

impl SharedStore {
    /// Shares a store.
    pub fn new(store: Box<dyn Store>) -> Self {
        Self(Arc::new(Mutex::new(store)))
    }

    /// The store, for one verb.
    pub fn lock(&self) -> MutexGuard<'_, Box<dyn Store>> {
        // A verb that panicked left nothing half-done: it is one transaction.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
