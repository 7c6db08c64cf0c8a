//! A model is run by one worker at a time (chapter 04 §7).

use std::time::Duration;

use state::{LeaseAnswer, SharedStore, StateError};
use types::Target;

/// Pause between two questions whether a model is free.
pub(crate) const PAUSE: Duration = Duration::from_millis(200);

/// Where leases of models are taken.
#[derive(Clone, Copy)]
pub(crate) struct Leases<'a> {
    pub store: &'a SharedStore,
    pub run_id: &'a str,
    /// Whether to wait for the others.
    pub waits: bool,
}

impl Leases<'_> {
    /// Takes the lease of a model, if it is free.
    pub(crate) fn take(&self, target: &Target) -> Result<LeaseAnswer, StateError> {
        self.store.lock().take_lease(&target.key(), self.run_id)
    }
}
