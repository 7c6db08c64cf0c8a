//! A model is run by one worker at a time (chapter 04 §7).

use std::time::Duration;

use state::{Lease, LeaseAnswer, SharedStore, WorkerId};
use types::Target;

use crate::{Cancellation, Observer, RunError};

/// Pause between two questions whether a model is free.
const PAUSE: Duration = Duration::from_millis(500);

/// Where leases of models are taken.
#[derive(Clone, Copy)]
pub(crate) struct Leases<'a> {
    pub store: &'a SharedStore,
    pub run_id: &'a str,
    /// Whether to wait for the others.
    pub waits: bool,
}

/// Whose turn it is.
pub(crate) enum ModelLease {
    /// This worker's.
    Taken(Lease),
    /// Another's, and it is not waited for.
    Held(WorkerId),
}

impl Leases<'_> {
    /// Takes the lease of a model, once it is free.
    pub(crate) fn take(
        &self,
        target: &Target,
        cancellation: &Cancellation,
        observer: &mut dyn Observer,
    ) -> Result<ModelLease, RunError> {
        let name = target.key();
        let mut has_told = false;
        loop {
            cancellation.check()?;
            match self.store.lock().take_lease(&name, self.run_id)? {
                LeaseAnswer::Taken(lease) => return Ok(ModelLease::Taken(lease)),
                LeaseAnswer::Held(worker) if !self.waits => return Ok(ModelLease::Held(worker)),
                LeaseAnswer::Held(_) => {}
            }
            if !std::mem::replace(&mut has_told, true) {
                observer.model_waits(target);
            }
            std::thread::sleep(PAUSE);
        }
    }
}
