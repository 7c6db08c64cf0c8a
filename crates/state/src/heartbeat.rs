//! Signs of life from a thread of their own, so that a slow delivery or query does not lose a lease.

use std::collections::BTreeSet;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::open::{StateConfig, open};
use crate::{Queue, SqlStore, StateError, WorkerId};

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
    /// `None` where nobody else can take anything over.
    lease: Option<Duration>,
}

impl Heartbeat {
    /// Starts the thread for the worker of `store`, with a session of its own: whatever the worker waits for in
    /// its session, the signs of life go on. On a local file there is nothing to renew.
    pub fn start(store: &SqlStore) -> std::io::Result<Self> {
        let now = Pulse { renewed: Instant::now(), held: None, error: None, is_stopped: false };
        let pulse = Arc::new((Mutex::new(now), Condvar::new()));
        if store.backend_kind().is_exclusive() {
            return Ok(Self { pulse, lease: None });
        }
        let (shared, config, worker) = (Arc::clone(&pulse), store.config().clone(), store.worker().clone());
        let lease = config.lease;
        std::thread::Builder::new().name("heartbeat".into()).spawn(move || {
            let mut session = None;
            while !wait(&shared, lease / 3) {
                let began = Instant::now();
                let answer = beat(&mut session, &config, &worker);
                let mut pulse = lock(&shared.0);
                match answer {
                    Ok(held) => (pulse.renewed, pulse.held, pulse.error) = (began, Some(held), None),
                    Err(error) => pulse.error = Some(error),
                }
            }
        })?;
        Ok(Self { pulse, lease: Some(lease) })
    }

    /// Whether new work may be begun: the lease has not run out by this machine's clock, which stops trusting
    /// it before the database does.
    pub fn is_alive(&self) -> bool {
        self.lease.is_none_or(|lease| lock(&self.pulse.0).renewed.elapsed() < lease)
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
        // The thread is not waited for: its server may be slow to answer.
        self.pulse.1.notify_all();
    }
}

/// One sign of life, in a session that is opened for the first one.
fn beat(
    session: &mut Option<SqlStore>,
    config: &StateConfig,
    worker: &WorkerId,
) -> Result<BTreeSet<String>, StateError> {
    let store = match session {
        Some(store) => store,
        None => session.insert(open(config.clone(), worker.clone())?),
    };
    store.heartbeat()
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
