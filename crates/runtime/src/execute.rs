//! One model's run: one transaction, one snapshot (chapter 02 §0).

use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

use checks::Stage;
use engine::{Connection, EngineError, LakeFacts};
use fetch::Staged;
use materialize::{
    MaterializeError, Rebuild, WriteRequest, build_result, check_unique_in_query, drop_result, kind_write, layout,
    write_model,
};
use model::{Mask, Model};
use plan::Names;
use project::ConfigFile;
use query::Functions;
use types::{Code, Decision, Kind, Reason, RunType};

use crate::ahead::AheadRows;
use crate::checking::{
    CheckFinding, EndedBy, ModelChecks, StageFailure, audit, constrain, constrain_alone, drop_failures, warn,
};
use crate::conflict::Attempts;
use crate::cursor::{CursorScope, has_column, set_cursor};
use crate::empty_folders::remove_of_table;
use crate::fetching::{FetchPlan, LoadedRows, acknowledge, fetch_source, kept_source};
use crate::functions::KnownFunctions;
use crate::git::GitInfo;
use crate::known::Known;
use crate::lineage::{lineage, renames};
use crate::masking::{in_clear, mask_table, masks_anew};
use crate::planning::PlannedModel;
use crate::reading::{Fallback, Reader, Source};
use crate::record::{Run, Since, commit_info, record};
use crate::requirements::{check_limit, load_extensions};
use crate::session::current_snapshot;
use crate::statement_errors::{cursor_error, statement_error, with_cause};
use crate::step::{RunStep, StepSink, StepTimer};
use crate::task::{Task, reported};
use crate::variables::snapshots_of_query;
use crate::{Cancellation, RunError, Session};

/// What all models of a run share.
pub(crate) struct RunContext<'a> {
    pub session: &'a Session,
    pub names: &'a Names,
    /// `variables/local.sql`.
    pub local: Option<&'a ConfigFile>,
    /// Read once, when the first model needs them.
    pub functions: &'a KnownFunctions,
    pub cancellation: &'a Cancellation,
    pub dag_run_id: &'a str,
    pub git: &'a GitInfo,
    /// Is told how long what took.
    pub steps: &'a StepSink,
    /// The newest snapshot of which this run knows who made it.
    pub seen: Cell<i64>,
}

/// What a committed run of a model did.
pub(crate) struct Executed {
    /// What was done and why, as reported: a change of columns may alter it (chapter 02 §5.2).
    pub decision: Decision,
    pub rows: i64,
    pub warnings: Vec<String>,
    /// What warnings found.
    pub findings: Vec<CheckFinding>,
    /// The newest snapshot when its transaction began.
    pub newest_snapshot: i64,
}

/// What was done for a model before its transaction.
#[derive(Default)]
pub(crate) struct Before<'a> {
    /// Its rows, if it fetches.
    pub fetched: Option<&'a FetchedRows<'a>>,
    /// What its query came to.
    pub ahead: Option<AheadRows>,
}

/// The rows that a model fetched.
pub(crate) struct FetchedRows<'a> {
    pub plan: &'a FetchPlan,
    pub staged: &'a Staged,
    /// They, in the session.
    pub loaded: &'a LoadedRows,
    /// Fetches of the target that the state has; `None` if the lake has acknowledged none.
    pub present: Option<Vec<String>>,
    /// The fetch was empty and does not delete: the rows of the table stay, in the model's columns.
    pub keeps: bool,
}

/// Runs a model and commits it, or leaves no trace of it.
pub(crate) fn execute(
    context: &RunContext<'_>,
    planned: &PlannedModel,
    task: &Task,
    facts: &LakeFacts,
    before: &Before<'_>,
) -> Result<Executed, RunError> {
    if before.fetched.is_none() {
        // Of a model that fetches it is checked with the rest of its SQL.
        check_limit(planned)?;
    }
    let functions = prepare_session(context, planned)?;
    let checks = ModelChecks::read(context.session, &planned.model);
    if let Some(report) = checks.audits.malformed() {
        // Known before anything is read or written.
        return Err(RunError::Checks(Box::new(report)));
    }
    context.session.make_checks(&checks.shipped())?;
    let mut attempts = Attempts::begin();
    let (mut fallback, mut ended) = (None, None);
    loop {
        let result = try_once(
            context,
            planned,
            &Attempt {
                task,
                facts,
                functions: &functions,
                fallback: fallback.as_ref(),
                before,
                checks: &checks,
                ended: ended.as_ref(),
            },
        );
        // The model's own error counts, not what may go wrong while cleaning up after it.
        let dropped = drop_result(&context.session.connection, planned.target());
        if matches!(result, Err(Failure::Final(_))) {
            remove_of_table(context.session, planned.target());
        }
        match result {
            Err(Failure::Conflict(message)) => attempts.again(context.cancellation, message)?,
            Err(Failure::Delta(why)) => fallback = Some(why),
            Err(Failure::Check(by)) if ended.is_none() => ended = Some(by),
            Err(Failure::Check(by)) => return Err(by.error.into()),
            Err(Failure::Elsewhere) => return Err(RunError::CommittedElsewhere { target: planned.target().clone() }),
            Err(Failure::Final(error)) => return Err(error),
            Ok(mut executed) => {
                // The commit stands, whatever becomes of a temporary table.
                executed.warnings.extend(dropped.err().map(|error| error.cleaned()));
                let (texts, findings) = warnings(context, planned, &checks);
                executed.warnings.extend(texts);
                executed.findings = findings;
                return Ok(executed);
            }
        }
    }
}

/// What the warnings of a model say of its committed table.
fn warnings(
    context: &RunContext<'_>,
    planned: &PlannedModel,
    checks: &ModelChecks,
) -> (Vec<String>, Vec<CheckFinding>) {
    let (session, target) = (context.session, planned.target().to_string());
    let timer = (!checks.warnings.is_empty())
        .then(|| StepTimer::start(context.steps, &target, RunStep::Checks(Stage::Warning)));
    let handle = session.connection.interrupt_handle();
    let told =
        context.cancellation.interruptible(handle, || warn(session, &planned.model, &checks.warnings, context.local));
    if let Some(mut timer) = timer {
        timer.end(false);
    }
    told
}

/// Loads what a model's query needs; gives the functions that there are then.
pub(crate) fn prepare_session(context: &RunContext<'_>, planned: &PlannedModel) -> Result<Arc<Functions>, RunError> {
    if !planned.model.extensions.is_empty() {
        context.functions.forget();
        load_extensions(context.session, &planned.model)?;
    }
    Ok(context.functions.get(&context.session.connection)?)
}

/// One attempt at a model's transaction.
struct Attempt<'a> {
    task: &'a Task,
    facts: &'a LakeFacts,
    functions: &'a Functions,
    /// Why the whole query runs, after a delta failed.
    fallback: Option<&'a Fallback>,
    before: &'a Before<'a>,
    checks: &'a ModelChecks,
    /// Which check ended the transaction before: they run one by one now.
    ended: Option<&'a EndedBy>,
}

impl Attempt<'_> {
    /// What the query came to before, if this attempt is as it was foreseen. It serves again when another writer got in
    /// the way: a transaction that ran the query as well would be the longer, and lose the more often.
    fn ahead(&self) -> Option<&AheadRows> {
        self.before.ahead.as_ref().filter(|_| self.fallback.is_none() && self.ended.is_none())
    }
}

enum Failure {
    Conflict(String),
    /// With the whole query it may succeed.
    Delta(Fallback),
    /// One of several checks ended the transaction; one by one it is known which.
    Check(EndedBy),
    /// Another process has committed the model since it was planned.
    Elsewhere,
    Final(RunError),
}

impl<E: Into<RunError>> From<E> for Failure {
    fn from(error: E) -> Self {
        match error.into() {
            RunError::Engine(error) if error.is_conflict() => Self::Conflict(error.cleaned()),
            RunError::Statement { error, .. } if error.is_conflict() => Self::Conflict(error.cleaned()),
            RunError::Statement { error: MaterializeError::NeedsWhole, .. } => Self::Delta(Fallback::NeedsWhole),
            other => Self::Final(other),
        }
    }
}

impl From<StageFailure> for Failure {
    fn from(failure: StageFailure) -> Self {
        match failure {
            StageFailure::Failed(error) => error.into(),
            StageFailure::Aborted(by) => Self::Check(by),
        }
    }
}

fn try_once(context: &RunContext<'_>, planned: &PlannedModel, attempt: &Attempt<'_>) -> Result<Executed, Failure> {
    let connection = &context.session.connection;
    context.cancellation.check()?;
    let target = planned.target().to_string();
    let mut timer = StepTimer::start(context.steps, &target, RunStep::Query);
    connection.execute("BEGIN")?;
    let written = context
        .cancellation
        .interruptible(connection.interrupt_handle(), || write(context, planned, attempt, &mut timer));
    let committed = written.and_then(|executed| {
        context.cancellation.check()?;
        connection.execute("COMMIT")?;
        Ok(executed)
    });
    timer.end(committed.is_err());
    if let Ok(executed) = &committed
        && executed.newest_snapshot == context.seen.get()
    {
        // If somebody else was in between, the next one is not this run's, and the next model looks.
        context.seen.set(executed.newest_snapshot + 1);
    }
    if committed.is_err() {
        // A COMMIT after a failed statement would report success and roll back, so it is never sent. After
        // a failed COMMIT there is no transaction left, and this says so: nothing to do about it.
        let _ = connection.execute("ROLLBACK");
    }
    committed.map_err(|failure| match failure {
        // The statement that was cut off was one whose errors do not count; the next one only says that there was one.
        Failure::Final(error) if error.is_aborted() => {
            Failure::Final(context.cancellation.check().err().unwrap_or(error))
        }
        other => other,
    })
}

/// Everything between BEGIN and COMMIT.
fn write(
    context: &RunContext<'_>,
    planned: &PlannedModel,
    attempt: &Attempt<'_>,
    timer: &mut StepTimer<'_>,
) -> Result<Executed, Failure> {
    let (session, model, task) = (context.session, &planned.model, attempt.task);
    let (connection, target) = (&session.connection, planned.target());
    let ahead = attempt.ahead();
    let before = ahead.map_or(Duration::ZERO, |rows| rows.duration);
    let since = Since::begin(before);
    timer.credit(before);
    let newest = current_snapshot(connection, &session.lake)?;
    let read_snapshot = ahead.map_or(newest, |rows| rows.snapshot);
    let is_looked_at = newest == context.seen.get();
    if is_committed_elsewhere(connection, planned, attempt, is_looked_at)? {
        return Err(Failure::Elsewhere);
    }
    let masks = session.masks(model);
    let known = Known { session, names: context.names, functions: attempt.functions, facts: attempt.facts };
    let failed = |error| failed(planned, attempt, &masks, error);
    mask_table(&known, planned, task, &masks, attempt.before.fetched.is_some_and(|fetched| fetched.keeps))
        .map_err(|error| failed((error, false)))?;
    if masks_anew(model, task.last.as_ref()) {
        drop_failures(session, model)?;
    }
    let (source, refusal) = match ahead {
        Some(rows) => (rows.source.clone(), rows.error.clone()),
        None => (source(&known, planned, attempt, read_snapshot)?, None),
    };
    let kept_cursor = kept_cursor(task, planned, &known)?;
    set_variables(&known, planned, task, source.partial, kept_cursor.as_deref())?;
    let failed = |error| failed((error, source.own_text));
    // What was fetched is masked already, and so is what the table keeps.
    let to_mask = if attempt.before.fetched.is_some() { &[][..] } else { &masks };
    let built = refusal.map_or_else(|| build_result(connection, target, &source.sql, source.rows, to_mask), Err);
    let result = built.map_err(|error| match attempt.before.fetched {
        Some(_) => failed(error).into(),
        None => refused(model, &source, error, failed),
    })?;
    let to_check = (&result, task.decision.run_type);
    if !attempt.checks.constraints.is_empty() {
        timer.enter(RunStep::Checks(Stage::Constraint));
    }
    if let Some(ended) = attempt.ended.filter(|by| by.stage == Stage::Constraint)
        && in_clear(&masks, task.last.as_ref()).is_empty()
    {
        // Up to here all is temporary, unless rows of the table were masked.
        source.temp.iter().try_for_each(|names| names.drop(connection))?;
        return Err(constrain_alone(session, model, &attempt.checks.constraints, to_check, ended).into());
    }
    constrain(session, model, &attempt.checks.constraints, to_check, attempt.ended.is_some())?;
    timer.enter(RunStep::Write);
    // What was fetched cannot be asked for the whole of it; in itself it is checked when it is written.
    let is_delta = source.partial && attempt.before.fetched.is_none() && result.rows > 0;
    if let (Kind::Merge, true, Some(key)) = (model.kind, is_delta, &model.unique_key) {
        check_unique_in_query(connection, &result, &key.value, model.sql()).map_err(failed)?;
    }
    source.temp.iter().try_for_each(|names| names.drop(connection))?;
    let lineage = lineage(&known, planned, &result.columns);
    let renames = renames(task.last.as_ref(), &lineage, &result.columns);
    let kind = kind_write(model);
    let whole_append = model.kind == Kind::Append && !source.partial && task.rebuild == Rebuild::No;
    let request = WriteRequest {
        lake: &session.lake,
        metadata: &session.metadata,
        target,
        kind: &kind,
        last_kind: task.last_kind,
        // What was appended once is never appended again.
        rebuild: if whole_append { Rebuild::IfLossless } else { task.rebuild_after(&renames, model) },
        read_snapshot,
        result: &result,
        partial: source.partial,
        layout: layout(model),
        renames: &renames,
        cursor: model.incremental.as_ref().map(|incremental| incremental.column.value.as_str()),
        description: model.description.as_deref(),
        docs: &model.columns,
    };
    let written = write_model(connection, &request).map_err(|error| failed(with_cause(error, &source)))?;
    if !attempt.checks.audits.is_empty() {
        timer.enter(RunStep::Checks(Stage::Audit));
    }
    audit(session, model, &attempt.checks.audits, attempt.ended.is_some())?;
    let mut decided = task.decision.clone();
    decided.reason = source.reason.unwrap_or(decided.reason);
    let (decision, evolved) = reported(task, decided, model.kind, &written);
    timer.enter(RunStep::Commit);
    let steps = timer.ended.clone();
    let run = Run { decision: &decision, result: &result, lineage, read_snapshot, rows: written.rows, since, steps };
    let replaces = attempt.facts.commits.contains_key(&target.key());
    record(session, planned, &commit_info(context, planned, run), replaces)?;
    if let Some(fetched) = attempt.before.fetched {
        acknowledge(connection, &session.lake, &target.to_string(), fetched.staged, fetched.present.as_deref())?;
    }
    let warnings = planned.warnings.iter().cloned().chain(source.warning).chain(evolved).chain(written.warnings);
    let warnings = warnings.collect();
    Ok(Executed { decision, rows: written.rows, warnings, findings: Vec::new(), newest_snapshot: newest })
}

/// Sets the variables that a model's query may ask for.
pub(crate) fn set_variables(
    known: &Known<'_>,
    planned: &PlannedModel,
    task: &Task,
    is_partial: bool,
    kept_cursor: Option<&str>,
) -> Result<(), EngineError> {
    let (model, connection) = (&planned.model, &known.session.connection);
    let scope = CursorScope {
        table: &planned.target().qualified(&known.session.lake),
        // What was appended once is not added again, so the whole query has to give everything.
        is_backfill: task.decision.run_type == RunType::Backfill || (model.kind == Kind::Append && !is_partial),
        column: kept_cursor,
        last_run: task.last.as_ref().map_or("", |last| &last.end_time),
    };
    set_cursor(connection, model.incremental.as_ref(), &scope)?;
    connection.execute(&snapshots_of_query(task.read_before(model.kind)))
}

/// An error of the model's statements, with whether they are its own text. Where columns are masked it shows no value.
fn failed(
    planned: &PlannedModel,
    attempt: &Attempt<'_>,
    masks: &[Mask],
    (error, own_text): (MaterializeError, bool),
) -> RunError {
    cursor_error(planned, &error).unwrap_or_else(|| {
        let error = if masks.is_empty() { error } else { error.without_values(planned.model.sql()) };
        statement_error(planned, error, own_text, attempt.before.fetched)
    })
}

/// Whether another process has committed the model since its task was made: what it added would be added once more. If it
/// does so only now, both write the model's row of the registry, and one of the two is undone.
///
/// The facts may be newer than the task, as other models of the run had them read again. The registry is asked unless
/// they are `as_of_now`.
fn is_committed_elsewhere(
    connection: &Connection,
    planned: &PlannedModel,
    attempt: &Attempt<'_>,
    as_of_now: bool,
) -> Result<bool, EngineError> {
    let then = attempt.task.recorded.as_ref();
    if attempt.facts.commits.get(&planned.target().key()).map(|row| &row.commit_info) != then {
        return Ok(true);
    }
    Ok(!as_of_now && attempt.facts.recorded(connection, planned.target())?.as_ref() != then)
}

/// The text to run: after a delta failed, the model's own.
fn source(known: &Known<'_>, planned: &PlannedModel, attempt: &Attempt<'_>, until: i64) -> Result<Source, Failure> {
    let read = attempt.task.read;
    match attempt.before.fetched {
        Some(fetched) if fetched.keeps => return Ok(kept_source(known, planned, fetched.plan, attempt.task)?),
        Some(fetched) => {
            let source = fetch_source(fetched.loaded, planned.model.kind, attempt.task);
            // The table has to be written as a whole: with these rows, if that loses none.
            return Ok(Source { partial: source.partial && attempt.fallback.is_none(), ..source });
        }
        None => {}
    }
    if let Some(fallback) = attempt.fallback {
        return Ok(Source::after(fallback, planned, read));
    }
    let reader = Reader { known, planned, until };
    reader.source(read).map_err(|error| match &error {
        EngineError::Sql { .. } if !error.is_conflict() && !error.is_fatal() => {
            Failure::Delta(Fallback::Unreadable(shown(&planned.model, error).cleaned()))
        }
        _ => error.into(),
    })
}

/// The column of the table that holds the cursor, where the definition may have changed under rows that are
/// kept: a cursor that started anew would add them a second time.
fn kept_cursor(task: &Task, planned: &PlannedModel, known: &Known<'_>) -> Result<Option<String>, RunError> {
    let Some(incremental) = planned.model.incremental.as_ref().filter(|_| task.decision.reason == Reason::Kept) else {
        return Ok(None);
    };
    let cursor = &incremental.column;
    let table = planned.target().qualified(&known.session.lake);
    let has = |column: &str| has_column(&known.session.connection, &table, column);
    if has(&cursor.value)? {
        return Ok(Some(cursor.value.clone()));
    }
    let renamed = renames(task.last.as_ref(), &lineage(known, planned, &[]), &[]);
    match renamed.into_iter().find(|(_, new)| new.eq_ignore_ascii_case(&cursor.value)) {
        Some((old, _)) if has(&old)? => Ok(Some(old)),
        _ => Err(RunError::Refused {
            code: Code::RowsWouldBeDropped,
            message: format!("the table has no column `{}`, from which to read how far it has come", cursor.value),
            help:
                "with --keep the cursor must be a column that the table has, or one of its columns under another name"
                    .into(),
            place: Box::new(planned.model.place(cursor.span.clone())),
        }),
    }
}

/// A rewritten query that the engine refuses is no fault of the user's: the whole query shows whether there
/// is one.
fn refused(
    model: &Model,
    source: &Source,
    error: MaterializeError,
    failed: impl Fn(MaterializeError) -> RunError,
) -> Failure {
    match &error {
        MaterializeError::Query(cause) if !source.own_text && cause.is_refusal() => {
            Failure::Delta(Fallback::Refused(shown(model, cause.clone()).cleaned()))
        }
        _ => failed(error).into(),
    }
}

/// An error of the engine as a model's messages show it: where it masks columns, without what may be data.
fn shown(model: &Model, error: EngineError) -> EngineError {
    if model.masks().is_empty() { error } else { error.without_values(model.sql()) }
}
