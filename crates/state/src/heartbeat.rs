//! Signs of life from a thread of their own, so that a slow delivery or query does not lose a lease.

use std::collections::BTreeSet;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::{StateError, Store};

/// A store that the heartbeat shares with the worker. Verbs are short; nobody holds it while a sink is called.
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

/// What the last sign of life told.
struct Pulse {
    /// When the last one that was answered began: the lease runs from then, by this machine's clock.
    renewed: Instant,
    /// What it found held; `None` before the first one.
    held: Option<BTreeSet<String>>,
    error: Option<StateError>,
    is_stopped: bool,
}

/// Renews what a worker holds every third of its lease, until it is dropped.
pub struct Heartbeat {
    pulse: Arc<(Mutex<Pulse>, Condvar)>,
    lease: Duration,
}

impl Heartbeat {
    /// Starts the thread.
    pub fn start(store: &SharedStore, lease: Duration) -> std::io::Result<Self> {
        let now = Pulse { renewed: Instant::now(), held: None, error: None, is_stopped: false };
        let pulse = Arc::new((Mutex::new(now), Condvar::new()));
        let (shared, store) = (Arc::clone(&pulse), store.clone());
        std::thread::Builder::new().name("heartbeat".into()).spawn(move || {
            while !wait(&shared, lease / 3) {
                let began = Instant::now();
                let answer = store.lock().heartbeat();
                let mut pulse = lock(&shared.0);
                match answer {
                    Ok(held) => (pulse.renewed, pulse.held, pulse.error) = (began, Some(held), None),
                    Err(error) => pulse.error = Some(error),
                }
            }
        })?;
        Ok(Self { pulse, lease })
    }

    /// Whether new work may be begun: the lease has not run out by this machine's clock, which stops trusting
    /// it before the database does.
    pub fn is_alive(&self) -> bool {
        lock(&self.pulse.0).renewed.elapsed() < self.lease
    }

    /// Whether the last sign of life found this term held; `None` before the first one.
    pub fn holds(&self, term: &str) -> Option<bool> {
        lock(&self.pulse.0).held.as_ref().map(|held| held.contains(term))
    }

    /// Why the last sign of life failed, once.
    pub fn take_error(&self) -> Option<StateError> {
        lock(&self.pulse.0).error.take()
    }
}

impl Drop for Heartbeat {
    fn drop(&mut self) {
        lock(&self.pulse.0).is_stopped = true;
        // The thread is not waited for: whoever drops this may hold the store that it needs for its last beat.
        self.pulse.1.notify_all();
    }
}

/// Waits for `pause`, or until the end: true then.
fn wait((pulse, changed): &(Mutex<Pulse>, Condvar), pause: Duration) -> bool {
    let guard = lock(pulse);
    let waited = changed.wait_timeout_while(guard, pause, |pulse| !pulse.is_stopped);
    waited.unwrap_or_else(PoisonError::into_inner).0.is_stopped
}

fn lock(pulse: &Mutex<Pulse>) -> MutexGuard<'_, Pulse> {
    pulse.lock().unwrap_or_else(PoisonError::into_inner)
}
