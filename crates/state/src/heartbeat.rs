//! Signs of life from a thread of their own, so that a slow delivery or query does not lose a lease.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::held::Held;
use crate::open::{StateConfig, open};
use crate::{Queue, SqlStore, StateError, WorkerId};

/// What the last sign of life told.
struct Pulse {
    /// When the last one that was answered began: the lease runs from then, by this machine's clock.
    renewed: Instant,
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
    /// its session, the signs of life go on. It is started before the worker takes anything. On a local file there
    /// is nothing to renew.
    pub fn start(store: &SqlStore) -> std::io::Result<Self> {
        let now = Pulse { renewed: Instant::now(), is_stopped: false };
        let pulse = Arc::new((Mutex::new(now), Condvar::new()));
        if store.backend_kind().is_exclusive() {
            return Ok(Self { pulse, lease: None });
        }
        let (shared, config, worker) = (Arc::clone(&pulse), store.config().clone(), store.worker().clone());
        let (lease, held) = (config.lease, store.held.clone());
        std::thread::Builder::new().name("heartbeat".into()).spawn(move || {
            let mut session = None;
            loop {
                let began = Instant::now();
                if beat(&mut session, &config, &worker, &held).is_ok() {
                    lock(&shared.0).renewed = began;
                }
                if wait(&shared, lease / 3) {
                    break;
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
}

impl Drop for Heartbeat {
    fn drop(&mut self) {
        lock(&self.pulse.0).is_stopped = true;
        // The thread is not waited for: its server may be slow to answer.
        self.pulse.1.notify_all();
    }
}

/// One sign of life, in a session that is opened for the first one. What goes wrong is the worker's to tell: it meets
/// the same database.
fn beat(
    session: &mut Option<SqlStore>,
    config: &StateConfig,
    worker: &WorkerId,
    held: &Held,
) -> Result<(), StateError> {
    let store = match session {
        Some(store) => store,
        None => session.insert(open(config.clone(), worker.clone())?),
    };
    store.held = held.clone();
    store.heartbeat().map(drop)
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
