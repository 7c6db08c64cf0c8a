//! A session with a server, on a thread of its own: a server that does not answer must not hold up the worker.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use engine::{Connection, EngineError, Instance};

type Job = Box<dyn FnOnce(&Connection) + Send>;

/// A session that is given up when an answer is late. Its thread then ends when the answer comes; until the
/// process ends, if it never does.
pub(crate) struct Remote {
    jobs: Sender<Job>,
    patience: Duration,
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
        Ok(Self { jobs, patience })
    }

    /// Runs `job` with the session; an error if it takes longer than the patience and `extra`.
    pub(crate) fn run<T: Send + 'static>(
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
