//! Stopping a run from another thread (Ctrl-C).

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use engine::InterruptHandle;

use crate::RunError;

/// Shared between the one who runs and the one who may stop it.
#[derive(Clone, Default)]
pub struct Cancellation {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    cancelled: AtomicBool,
    /// The connections whose statements may be interrupted right now, each under a number of its own.
    running: Mutex<BTreeMap<u64, InterruptHandle>>,
    next: AtomicU64,
}

impl Cancellation {
    /// Asks the run to stop and interrupts the statements it is in. May be called again: a statement that
    /// began just after the first call is then interrupted too.
    pub fn cancel(&self) {
        self.shared.cancelled.store(true, Ordering::SeqCst);
        self.running().values().for_each(InterruptHandle::interrupt);
    }

    /// An error once the run was asked to stop.
    pub fn check(&self) -> Result<(), RunError> {
        if self.shared.cancelled.load(Ordering::SeqCst) { Err(RunError::Interrupted) } else { Ok(()) }
    }

    /// Lets statements of this connection be interrupted while `work` runs; what must not be (a rollback,
    /// a commit) stays outside.
    pub(crate) fn interruptible<T>(&self, handle: InterruptHandle, work: impl FnOnce() -> T) -> T {
        let number = self.shared.next.fetch_add(1, Ordering::Relaxed);
        self.running().insert(number, handle);
        let result = work();
        self.running().remove(&number);
        result
    }

    fn running(&self) -> std::sync::MutexGuard<'_, BTreeMap<u64, InterruptHandle>> {
        self.shared.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
