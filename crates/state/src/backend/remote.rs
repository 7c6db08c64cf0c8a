//! A session with a server, on a thread of its own: a server that does not answer must not hold up the worker.

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
        Ok(Self { jobs, patience, loaded: 0 })
    }

    /// Runs `job` with the session; an error if it takes longer than the patience.
    pub(crate) fn run<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Connection) -> Result<T, EngineError> + Send + 'static,
    ) -> Result<T, EngineError> {
        self.run_for(Duration::ZERO, job)
    }

    /// The same for a job that sends the loaded rows, which takes its time.
    pub(crate) fn run_transfer(
        &mut self,
        job: impl FnOnce(&Connection) -> Result<(), EngineError> + Send + 'static,
    ) -> Result<(), EngineError> {
        let loaded = std::mem::take(&mut self.loaded);
        self.run_for(Duration::from_secs(loaded / ROWS_PER_SECOND), job)
    }

    /// See `Backend::load`.
    pub(crate) fn load(&mut self, load: Load) -> Result<(), EngineError> {
        self.loaded += load.rows.len();
        self.run(move |connection| load_into(connection, load))
    }

    /// See `Backend::query_local`.
    pub(crate) fn query_local(&self, sql: &str) -> Result<Rows, EngineError> {
        let sql = sql.to_owned();
        self.run(move |connection| connection.query(&sql))
    }

    fn run_for<T: Send + 'static>(
        &self,
        extra: Duration,
        job: impl FnOnce(&Connection) -> Result<T, EngineError> + Send + 'static,
    ) -> Result<T, EngineError> {
        let (answer, answers) = channel();
        let patience = self.patience + extra;
        let job: Job = Box::new(move |connection| {
            // Nobody waits any more if this fails.
            let _ = answer.send(job(connection));
        });
        self.jobs.send(job).map_err(|_| lost("the session with the state has ended"))?;
        answers.recv_timeout(patience).unwrap_or_else(|error| {
            Err(lost(&match error {
                RecvTimeoutError::Timeout => format!("the server gave no answer for {} s", patience.as_secs()),
                RecvTimeoutError::Disconnected => "the session with the state has ended".to_owned(),
            }))
        })
    }
}

/// An error that counts as a lost connection.
fn lost(message: &str) -> EngineError {
    EngineError::Sql { class: "IO Error: ".into(), message: format!("Failed to send message: {message}"), offset: None }
}
