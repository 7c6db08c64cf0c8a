//! A session with a server, on a thread of its own: a server that does not answer must not hold up the worker.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use engine::{Connection, EngineError, Instance, Rows};

use super::{Load, load_into};

/// Rows that any network carries in a second.
const ROWS_PER_SECOND: u64 = 10_000;

type Job = Box<dyn FnOnce(&Connection) + Send>;

/// A session that is given up when an answer is late. Its thread then ends when the answer comes; until the
/// process ends, if it never does.
pub(crate) struct Remote {
    jobs: Sender<Job>,
    /// Set with the first answer that did not come in time: what is in the queue then is not begun.
    is_given_up: Arc<AtomicBool>,
    patience: Duration,
    /// Rows that are loaded and not yet transferred.
    loaded: u64,
}

impl Remote {
    pub(crate) fn new(instance: Instance, patience: Duration) -> Result<Self, EngineError> {
        let (jobs, queue) = channel::<Job>();
        let work = move || {
            for job in queue {
                job(&instance.connection);
            }
        };
        thread::Builder::new().name("state".into()).spawn(work).map_err(|error| lost(&error.to_string()))?;
        Ok(Self { jobs, is_given_up: Arc::default(), patience, loaded: 0 })
    }

    /// Runs `job` with the session; an error if it takes longer than the patience and `rows` to carry allow.
    pub(crate) fn run<T: Send + 'static>(
        &self,
        rows: u64,
        job: impl FnOnce(&Connection) -> Result<T, EngineError> + Send + 'static,
    ) -> Result<T, EngineError> {
        self.run_for(Some(self.patience + Duration::from_secs(rows / ROWS_PER_SECOND)), job)
    }

    /// The same for a job that sends the loaded rows.
    pub(crate) fn run_transfer(
        &mut self,
        job: impl FnOnce(&Connection) -> Result<(), EngineError> + Send + 'static,
    ) -> Result<(), EngineError> {
        let rows = std::mem::take(&mut self.loaded);
        self.run(rows, job)
    }

    /// See `Backend::load`. What this side does takes as long as it takes.
    pub(crate) fn load(&mut self, load: Load) -> Result<(), EngineError> {
        self.loaded += load.rows.len();
        self.run_for(None, move |connection| load_into(connection, load))
    }

    /// See `Backend::query_local`.
    pub(crate) fn query_local(&self, sql: &str) -> Result<Rows, EngineError> {
        let sql = sql.to_owned();
        self.run_for(None, move |connection| connection.query(&sql))
    }

    fn run_for<T: Send + 'static>(
        &self,
        patience: Option<Duration>,
        job: impl FnOnce(&Connection) -> Result<T, EngineError> + Send + 'static,
    ) -> Result<T, EngineError> {
        let is_given_up = Arc::clone(&self.is_given_up);
        if is_given_up.load(Ordering::SeqCst) {
            return Err(lost("the session with the state was given up"));
        }
        let (answer, answers) = channel();
        let job: Job = Box::new(move |connection| {
            if !is_given_up.load(Ordering::SeqCst) {
                // Nobody waits any more if this fails.
                let _ = answer.send(job(connection));
            }
        });
        self.jobs.send(job).map_err(|_| lost("the session with the state has ended"))?;
        let ended = |_| lost("the session with the state has ended");
        let Some(patience) = patience else { return answers.recv().unwrap_or_else(|error| Err(ended(error))) };
        answers.recv_timeout(patience).unwrap_or_else(|error| {
            Err(match error {
                RecvTimeoutError::Timeout => {
                    self.is_given_up.store(true, Ordering::SeqCst);
                    lost(&format!("the server gave no answer for {} s", patience.as_secs()))
                }
                RecvTimeoutError::Disconnected => lost("the session with the state has ended"),
            })
        })
    }
}

/// An error that counts as a lost connection.
fn lost(message: &str) -> EngineError {
    EngineError::Sql { class: "IO Error: ".into(), message: format!("Failed to send message: {message}"), offset: None }
}
