//! What the commands of the queue do (chapter 04 §10): a file per kind of command.

mod change;
mod drain;
mod error;
mod preview;
mod show;
mod target;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use engine::EngineOptions;
use project::{Environment, Redactor, check_state_key, read_config};
use state::{SqlStore, StateError};

pub use change::{Reset, drop_all, drop_dead, reset, retry, retry_dead};
pub use drain::{DrainOptions, Drained, DrainedTarget, drain};
pub use error::QueueError;
pub use preview::{PushPreview, preview};
pub use show::{Overview, ShownEvent, ShownQueue, overview, show};
pub use target::{KnownTarget, find_target};

use crate::{Cancellation, ProjectLock, RunError, Session};

/// What a command of the queue works with.
pub struct QueueOptions {
    /// The project's root; the process must be in it, as the engine resolves paths against its folder.
    pub root: PathBuf,
    /// The folder the command was started in.
    pub cwd: PathBuf,
    /// Variables for the configuration.
    pub environment: Environment,
    /// For the session.
    pub session: EngineOptions,
    /// How long to wait for another run to end.
    pub state_wait: Duration,
    /// Opens the state.
    pub open_state: Box<dyn Fn() -> Result<SqlStore, StateError>>,
    /// Keeps secrets out of what lib functions print; learns those that they use.
    pub redactor: Redactor,
    /// Where lines of lib functions go.
    pub output: Arc<dyn Fn(&str) + Send + Sync>,
    /// To stop it.
    pub cancellation: Cancellation,
}

impl QueueOptions {
    fn store(&self) -> Result<SqlStore, RunError> {
        Ok((self.open_state)()?)
    }

    fn lake(&self) -> Result<Session, RunError> {
        let config = read_config(&self.root, &self.environment)?;
        check_state_key(&self.root, &self.environment)?;
        Session::open(&config, &self.session)
    }

    fn lock(&self) -> Result<ProjectLock, RunError> {
        ProjectLock::take(&self.root, self.state_wait, &self.cancellation)
    }
}
