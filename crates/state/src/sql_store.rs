//! The store over any of the three databases: runs scripts, tries again, opens new sessions.

use engine::{EngineError, Rows, Value};

use crate::backend::Backend;
use crate::failure::{Failure, Fence};
use crate::held::Held;
use crate::open::{StateConfig, connect};
use crate::outcomes::Recorded;
use crate::retry::{Attempts, Next, VerbError};
use crate::script::{Arg, Dialect, fill};
use crate::{BackendKind, StateError, WorkerId};

/// Why an event of a table that was dropped is a dead letter.
const TABLE_IS_GONE: &str = "the table was dropped and made again before this was delivered";

/// The state of a project, opened by a worker.
pub struct SqlStore {
    pub(crate) backend: Box<dyn Backend>,
    config: StateConfig,
    pub(crate) worker: WorkerId,
    pub(crate) held: Held,
    pub(crate) recorded: Recorded,
    /// Whether the session was lost and no new one could be opened: the next request tries that first.
    is_lost: bool,
}

impl SqlStore {
    pub(crate) fn new(backend: Box<dyn Backend>, config: StateConfig, worker: WorkerId) -> Self {
        Self { backend, config, worker, held: Held::default(), recorded: Recorded::default(), is_lost: false }
    }

    /// The database that holds the state.
    pub fn backend_kind(&self) -> BackendKind {
        self.backend.kind()
    }

    /// The same session in the hands of another worker: for tests and benchmarks, like the next two.
    pub fn set_worker(&mut self, worker: WorkerId) {
        self.worker = worker;
    }

    /// Runs SQL of the database's own dialect, in one transaction.
    pub fn run_sql(&mut self, sql: &str) -> Result<(), StateError> {
        self.execute(sql, None).map_err(VerbError::unconditional)
    }

    /// Asks in the database's own dialect.
    pub fn ask_sql(&mut self, sql: &str) -> Result<Vec<Vec<Value>>, StateError> {
        self.values(sql)
    }

    /// What it was opened with.
    pub fn config(&self) -> &StateConfig {
        &self.config
    }

    pub(crate) fn dialect(&self) -> Dialect {
        self.backend.kind().dialect()
    }

    /// When the holder of something is gone (chapter 04 P6).
    pub(crate) fn dead(&self) -> &'static str {
        if self.backend.kind().is_exclusive() { "true" } else { "lease_until < now()" }
    }

    /// Fills a template; what every script may need is there already.
    pub(crate) fn fill(&self, template: &str, args: &[(&str, Arg<'_>)]) -> String {
        let lease_end = format!("now() + {} * INTERVAL '1 millisecond'", self.config.lease.as_millis());
        let held = self.held.list(&self.worker);
        let mut all = vec![
            ("worker", Arg::Text(self.worker.as_str())),
            ("lease_end", Arg::Sql(&lease_end)),
            ("held", Arg::Sql(&held)),
            ("dead", Arg::Sql(self.dead())),
            ("text", Arg::Sql(self.dialect().text())),
            ("staging_key", Arg::Sql(self.dialect().staging_key())),
            ("gone", Arg::Text(TABLE_IS_GONE)),
        ];
        all.extend(args);
        fill(template, &all)
    }

    /// Executes a script until it is done or refused. A condition that does not hold counts as done if
    /// `ends_itself` and an attempt before may have done the work: it was this script that ended it.
    pub(crate) fn execute(&mut self, script: &str, ends_itself: Option<Fence>) -> Result<(), VerbError> {
        let mut attempts = self.attempts()?;
        loop {
            let Err(error) = self.backend.execute(script) else { return Ok(()) };
            match Failure::of(&error, script) {
                Failure::Fence(fence) if attempts.is_uncertain() && ends_itself == Some(fence) => return Ok(()),
                failure => self.again(&mut attempts, failure)?,
            }
        }
    }

    /// Asks for about so many rows until there is an answer.
    pub(crate) fn query(&mut self, sql: &str, rows: u64) -> Result<Rows, StateError> {
        let mut attempts = self.attempts()?;
        loop {
            match self.backend.query(sql, rows) {
                Ok(rows) => return Ok(rows),
                Err(error) => {
                    self.again(&mut attempts, Failure::of(&error, sql)).map_err(VerbError::unconditional)?;
                }
            }
        }
    }

    /// Asks for rows of values.
    pub(crate) fn values(&mut self, sql: &str) -> Result<Vec<Vec<Value>>, StateError> {
        Ok(self.query(sql, 1)?.into_values().collect())
    }

    /// The attempts at a request, with a session to make them in.
    pub(crate) fn attempts(&mut self) -> Result<Attempts, StateError> {
        if std::mem::take(&mut self.is_lost) {
            self.backend = connect(&self.config).inspect_err(|_| self.is_lost = true)?;
        }
        Ok(Attempts::new(self.config.patience))
    }

    /// Prepares the next attempt.
    pub(crate) fn again(&mut self, attempts: &mut Attempts, failure: Failure) -> Result<(), VerbError> {
        if let (Failure::Lost(message), true) = (&failure, self.backend.kind().is_exclusive()) {
            // A file has no connection to lose, and must not be open twice.
            return Err(StateError::Write { message: message.clone() }.into());
        }
        self.is_lost = matches!(failure, Failure::Lost(_));
        let mut next = attempts.after(failure)?;
        while let Next::Reopen = next {
            match connect(&self.config) {
                Ok(backend) => {
                    (self.backend, self.is_lost) = (backend, false);
                    break;
                }
                Err(StateError::Unreachable { message, .. }) => next = attempts.after(Failure::Lost(message))?,
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

/// An error of the engine on this side.
pub(crate) fn local(error: EngineError) -> StateError {
    StateError::Engine(error)
}

/// Values of a row that a query of ours gave.
pub(crate) fn text(value: &mut Value) -> String {
    optional_text(value).unwrap_or_default()
}

/// A text or NULL.
pub(crate) fn optional_text(value: &mut Value) -> Option<String> {
    std::mem::replace(value, Value::Null).into_text()
}

/// An integer, whatever number type the database counts in; 0 for NULL.
pub(crate) fn number(value: &Value) -> i64 {
    match value {
        Value::Decimal(digits) => digits.split('.').next().and_then(|whole| whole.parse().ok()).unwrap_or(0),
        #[allow(clippy::cast_possible_truncation)]
        Value::Double(double) => *double as i64,
        other => other.as_i64().unwrap_or(0),
    }
}

/// A count.
pub(crate) fn count(value: &Value) -> u64 {
    u64::try_from(number(value)).unwrap_or(0)
}
