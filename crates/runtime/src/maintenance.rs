//! Runs a script of `sql/`: its statements one by one, without a transaction around them (chapter 05 §3.14).

use std::ops::Range;
use std::path::PathBuf;
use std::time::Duration;

use engine::{EngineOptions, Rows};
use model::{split_statements, unclosed};
use project::{Environment, Script, check_state_key, read_config};
use state::{SqlStore, StateError};
use types::{Code, Diagnose, Place};

use crate::empty_folders::Filled;
use crate::expire::{Callers, Effect, Expired, Guard, Refusal, may_define};
use crate::pushing::{Deliveries, before_maintenance};
use crate::{Cancellation, ProjectLock, RunError, Session};

/// How long a script waits for a run to end: as long as a run does.
const LOCK_WAIT: Duration = Duration::from_secs(10);

/// What to run, and with what.
pub struct ScriptOptions {
    /// The project's root; the process must be in it, as the engine resolves paths against its folder.
    pub root: PathBuf,
    /// Variables for the configuration.
    pub environment: Environment,
    /// The script.
    pub script: Script,
    /// For the session.
    pub session: EngineOptions,
    /// Opens the state; asked for when a model of the project pushes.
    pub open_state: Box<dyn Fn() -> Result<SqlStore, StateError>>,
    /// To stop it.
    pub cancellation: Cancellation,
}

/// What became of a statement.
pub enum StatementResult<'a> {
    /// It ran.
    Done {
        /// What the engine answered; `None` if there was no snapshot to expire.
        rows: Option<Rows>,
        /// Texts for the user.
        notes: Vec<String>,
    },
    /// It failed: the script ends here.
    Failed(&'a RunError),
}

/// Receives what happens, as it happens.
pub trait ScriptObserver {
    /// The script begins; from here on every error belongs to a statement or to the script's end.
    fn started(&mut self);
    /// A statement's turn begins.
    fn statement_started(&mut self, sql: &str);
    /// A statement's turn is over.
    fn statement_finished(&mut self, sql: &str, result: StatementResult<'_>);
}

/// Runs the script; the first error ends it, and what statements before it did stays.
pub fn run_script(options: &ScriptOptions, observer: &mut dyn ScriptObserver) -> Result<(), RunError> {
    let script = &options.script;
    let text = &script.text;
    if text.trim().is_empty() {
        return Err(refused(
            script,
            0,
            Code::ScriptEmpty,
            &format!("{} is empty", script.path.display()),
            "write the SQL to run into it",
        ));
    }
    if let Some(at) = unclosed(text) {
        let message = "the text or comment that begins here is not closed";
        return Err(refused(script, at, Code::Sql, message, "close it; nothing was run"));
    }
    let config = read_config(&options.root, &options.environment)?;
    check_state_key(&options.root, &options.environment)?;
    let _lock = ProjectLock::take(&options.root, LOCK_WAIT, &options.cancellation)?;
    let session = Session::open(&config, &options.session)?;
    let deliveries = before_maintenance(&session, &options.root, &options.open_state)?;
    observer.started();
    let mut runner = Runner { options, session: &session, deliveries, callers: Callers::read(&session)? };
    for range in split_statements(text) {
        let sql = &text[range.clone()];
        observer.statement_started(sql);
        match runner.statement(range) {
            Ok(Expired { rows, notes }) => {
                observer.statement_finished(sql, StatementResult::Done { rows, notes });
            }
            Err(error) => {
                observer.statement_finished(sql, StatementResult::Failed(&error));
                return Err(error);
            }
        }
    }
    runner.check_ended()
}

fn refused(script: &Script, at: usize, code: Code, message: &str, help: &str) -> RunError {
    RunError::Refused {
        code,
        message: message.into(),
        help: help.into(),
        place: Box::new(Place::word_at(script.path.clone(), &script.text, at)),
    }
}

struct Runner<'a> {
    options: &'a ScriptOptions,
    session: &'a Session,
    /// What deliveries need.
    deliveries: Deliveries,
    callers: Callers,
}

impl Runner<'_> {
    /// Runs the statement at `range` of the script.
    fn statement(&mut self, range: Range<usize>) -> Result<Expired, RunError> {
        let script = &self.options.script;
        let sql = &script.text[range.clone()];
        let cancellation = &self.options.cancellation;
        let guard =
            Guard { session: self.session, root: &self.options.root, deliveries: &self.deliveries, cancellation };
        let in_place = |refusal| match refusal {
            Refusal::Error(error) => self.in_place(error, range.start),
            Refusal::Refused { code, message, help } => refused(script, range.start, code, &message, &help),
        };
        match Effect::of(sql, &self.session.lake, &self.callers) {
            Effect::Expire(call) => return guard.expire(&call).map_err(in_place),
            Effect::Hidden(name) => {
                return Err(refused(
                    script,
                    range.start,
                    Code::ScriptRefused,
                    &format!("{name} in a statement of this form could remove snapshots that runs need"),
                    "write it alone, as CALL ducklake_expire_snapshots(…), FROM … or SELECT * FROM …",
                ));
            }
            Effect::Checkpoint => guard.check_merge().and_then(|()| guard.check_checkpoint()).map_err(in_place)?,
            Effect::Merge => guard.check_merge().map_err(in_place)?,
            Effect::None => {}
        }
        cancellation.check()?;
        let connection = &self.session.connection;
        let filled = Filled::before(self.session, sql);
        let rows = cancellation.interruptible(connection.interrupt_handle(), || connection.query(sql));
        filled.iter().for_each(Filled::remove_emptied);
        let rows = rows.map_err(|error| {
            let at = error.offset().filter(|&at| at <= sql.len()).unwrap_or(0);
            self.in_place(error.into(), range.start + at)
        })?;
        if may_define(sql) {
            self.callers = Callers::read(self.session).map_err(|error| self.in_place(error.into(), range.start))?;
        }
        Ok(Expired { rows: Some(rows), notes: Vec::new() })
    }

    /// An error of the engine with the statement it comes from.
    fn in_place(&self, error: RunError, at: usize) -> RunError {
        match error {
            RunError::Engine(error) if !RunError::Engine(error.clone()).is_interrupt() => {
                refused(&self.options.script, at, error.code(), &error.cleaned(), &error.help())
            }
            other => other,
        }
    }

    /// An error if the script leaves a transaction open: it would be lost without a word.
    fn check_ended(&self) -> Result<(), RunError> {
        if self.session.connection.execute("ROLLBACK").is_err() {
            return Ok(());
        }
        let script = &self.options.script;
        let message = "the script ends inside a transaction, what it did since BEGIN is rolled back";
        Err(refused(script, script.text.len(), Code::ScriptTransaction, message, "put COMMIT at the end"))
    }
}
