//! One model's run: one transaction, one snapshot (chapter 02 §0).

use std::time::{Duration, Instant};

use engine::{EngineError, LakeFacts, Pins, registry_statements};
use jiff::Timestamp;
use materialize::{
    Evolution, KindWrite, Layout, MaterializeError, ModelResult, Rebuild, WriteRequest, Written, build_result,
    check_unique_in_query, drop_result, write_model,
};
use model::{Extension, LimitWord, Model, Repository, find_limit, find_limit_word, schema_hash};
use plan::{LastCommit, Names};
use query::Functions;
use types::{
    Code, Column, ColumnLineage, CommitInfo, Decision, Kind, Reason, RunType, Step, StepStatus, literal, quote,
};

use crate::cursor::{CursorScope, set_cursor};
use crate::functions::KnownFunctions;
use crate::git::GitInfo;
use crate::lineage::{LineageScope, renames};
use crate::planning::PlannedModel;
use crate::reading::{Read, Reader, Source};
use crate::session::current_snapshot;
use crate::{Cancellation, RunError, Session};

/// Attempts at one model's transaction while other writers get in the way.
const ATTEMPTS_MAX: u32 = 6;

/// What all models of a run share.
pub(crate) struct RunContext<'a> {
    pub session: &'a Session,
    pub names: &'a Names,
    /// Read once, when the first model needs them.
    pub functions: &'a KnownFunctions,
    pub cancellation: &'a Cancellation,
    pub dag_run_id: &'a str,
    pub git: &'a GitInfo,
}

/// What a run is to do with a model.
pub(crate) struct Task {
    /// What and why.
    pub decision: Decision,
    /// The kind of the last commit.
    pub last_kind: Option<Kind>,
    /// Whether the rows that are there are replaced.
    pub rebuild: Rebuild,
    /// What is read.
    pub read: Read,
    /// The last commit.
    pub last: Option<LastCommit>,
}

impl Task {
    /// The rebuild that a decision means, given the last commit (chapter 02 §5.4).
    pub(crate) fn new(decision: Decision, model: &Model, last: Option<LastCommit>) -> Self {
        let commit = last.as_ref();
        let kind = model.kind;
        let last_kind = commit.and_then(|last| last.kind);
        let same_keys = |last: &LastCommit| {
            let keys = key_columns(model);
            keys.len() == last.keys.len() && keys.iter().zip(&last.keys).all(|(a, b)| a.eq_ignore_ascii_case(b))
        };
        let rebuild = match (kind, last_kind) {
            _ if decision.reason == Reason::FullRefresh => Rebuild::Yes,
            _ if decision.reason == Reason::Kept => Rebuild::No,
            (Kind::Table, None | Some(Kind::Table | Kind::Tracked)) => Rebuild::No,
            // What these kinds hold is in their query's sources.
            (Kind::Tracked, Some(Kind::Tracked)) if decision.run_type != RunType::Backfill => Rebuild::No,
            (_, Some(Kind::Table | Kind::Tracked)) => Rebuild::Yes,
            (Kind::Append, Some(Kind::Append)) if decision.run_type == RunType::Backfill => Rebuild::IfLossless,
            (kind, Some(last_kind)) if kind == last_kind && commit.is_some_and(same_keys) => Rebuild::No,
            // The others, and a table that no commit tells about, may hold what no query gives again.
            _ => Rebuild::IfLossless,
        };
        let since = commit.and_then(|last| last.read_snapshot);
        let read = match (kind, &decision.reason) {
            (_, Reason::Kept) => Read::Keep { since },
            (Kind::Append | Kind::Merge, Reason::IncrementalRun) => Read::Delta { since },
            _ => Read::Whole,
        };
        Self { decision, last_kind, rebuild, read, last }
    }
}

/// The key columns that the model's kind uses.
fn key_columns(model: &Model) -> Vec<String> {
    match model.kind {
        Kind::Table | Kind::Append => Vec::new(),
        Kind::Merge | Kind::Scd2 => model.unique_key.iter().map(|key| key.value.clone()).collect(),
        Kind::Tracked => model.group_key.clone(),
    }
}

/// What a committed run of a model did.
pub(crate) struct Executed {
    /// What was done and why, as reported: a change of columns may alter it (chapter 02 §5.2).
    pub decision: Decision,
    pub rows: i64,
    pub warnings: Vec<String>,
}

/// Runs a model and commits it, or leaves no trace of it.
pub(crate) fn execute(
    context: &RunContext<'_>,
    planned: &PlannedModel,
    task: &Task,
    facts: &LakeFacts,
) -> Result<Executed, RunError> {
    check_limit(planned)?;
    load_extensions(context, planned)?;
    let functions = context.functions.get(&context.session.connection)?;
    let mut attempt = 1;
    let mut fallback = None;
    loop {
        let result =
            try_once(context, planned, &Attempt { task, facts, functions: &functions, fallback: fallback.as_ref() });
        // The model's own error counts, not what may go wrong while cleaning up after it.
        let dropped = drop_result(&context.session.connection, planned.target());
        match result {
            Err(Failure::Conflict(_)) if attempt < ATTEMPTS_MAX => {
                context.cancellation.check()?;
                std::thread::sleep(pause(attempt));
                attempt += 1;
            }
            Err(Failure::Conflict(message)) => return Err(RunError::Conflict { attempts: attempt, message }),
            Err(Failure::Delta(why)) => fallback = Some(why),
            Err(Failure::Final(error)) => return Err(error),
            Ok(mut executed) => {
                // The commit stands, whatever becomes of a temporary table.
                executed.warnings.extend(dropped.err().map(|error| error.cleaned()));
                return Ok(executed);
            }
        }
    }
}

/// One attempt at a model's transaction.
struct Attempt<'a> {
    task: &'a Task,
    facts: &'a LakeFacts,
    functions: &'a Functions,
    /// Why the whole query runs, after a delta failed.
    fallback: Option<&'a Fallback>,
}

/// Why an attempt with a delta failed.
enum Fallback {
    /// A statement that reads the changes failed.
    Unreadable(String),
    /// The rewritten query was refused.
    Refused(String),
    /// The table has to be written as a whole.
    NeedsWhole,
}

enum Failure {
    Conflict(String),
    /// With the whole query it may succeed.
    Delta(Fallback),
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

/// Grows with the attempts, and differs between processes that got in each other's way.
fn pause(attempt: u32) -> Duration {
    let jitter = u64::from(std::process::id() % 7) * 5;
    Duration::from_millis(20 * 2_u64.pow(attempt) + jitter)
}

fn try_once(context: &RunContext<'_>, planned: &PlannedModel, attempt: &Attempt<'_>) -> Result<Executed, Failure> {
    let connection = &context.session.connection;
    context.cancellation.check()?;
    connection.execute("BEGIN")?;
    let written =
        context.cancellation.interruptible(connection.interrupt_handle(), || write(context, planned, attempt));
    let committed = written.and_then(|executed| {
        context.cancellation.check()?;
        connection.execute("COMMIT")?;
        Ok(executed)
    });
    if committed.is_err() {
        // A COMMIT after a failed statement would report success and roll back, so it is never sent. After
        // a failed COMMIT there is no transaction left, and this says so: nothing to do about it.
        let _ = connection.execute("ROLLBACK");
    }
    committed
}

/// Everything between BEGIN and COMMIT.
fn write(context: &RunContext<'_>, planned: &PlannedModel, attempt: &Attempt<'_>) -> Result<Executed, Failure> {
    let (session, model, task) = (context.session, &planned.model, attempt.task);
    let (connection, target) = (&session.connection, planned.target());
    let mut steps = Steps::begin();
    let read_snapshot = current_snapshot(connection, &session.lake)?;
    let source = source(context, planned, attempt, read_snapshot)?;
    let scope = CursorScope {
        table: &target.qualified(&session.lake),
        // What was appended once is not added again, so the whole query has to give everything.
        is_backfill: task.decision.run_type == RunType::Backfill || (model.kind == Kind::Append && !source.partial),
        is_kept: task.decision.reason == Reason::Kept,
        last_run: task.last.as_ref().map_or("", |last| &last.end_time),
    };
    set_cursor(connection, model.incremental.as_ref(), &scope)?;
    let failed = |error| statement_error(planned, error, source.own_text);
    let result =
        build_result(connection, target, &source.sql, source.rows).map_err(|error| refused(&source, error, failed))?;
    if let (Kind::Merge, true, Some(key)) = (model.kind, source.partial && result.rows > 0, &model.unique_key) {
        check_unique_in_query(connection, &result, &key.value, model.sql()).map_err(failed)?;
    }
    for names in &source.temp {
        names.drop_statements().iter().try_for_each(|statement| connection.execute(statement))?;
    }
    let scope = LineageScope { session, names: context.names, functions: attempt.functions, facts: attempt.facts };
    let lineage = scope.of(planned, &result.columns);
    let renames = renames(task.last.as_ref(), &lineage, &result.columns);
    steps.done("query");
    let kind = kind_write(model);
    let whole_append = model.kind == Kind::Append && !source.partial && task.rebuild == Rebuild::No;
    let request = WriteRequest {
        lake: &session.lake,
        metadata: &session.metadata,
        target,
        kind: &kind,
        last_kind: task.last_kind,
        // What was appended once is never appended again.
        rebuild: if whole_append { Rebuild::IfLossless } else { task.rebuild },
        read_snapshot,
        result: &result,
        partial: source.partial,
        layout: Layout { partitioned_by: &model.partitioned_by, sorted_by: &model.sorted_by },
        renames: &renames,
        cursor: model.incremental.as_ref().map(|incremental| incremental.column.value.as_str()),
        description: model.description.as_deref(),
        docs: &model.columns,
    };
    let written = write_model(connection, &request).map_err(failed)?;
    steps.done("write");
    let mut decided = task.decision.clone();
    decided.reason = source.reason.unwrap_or(decided.reason);
    let (decision, evolved) = reported(task, decided, model.kind, &written);
    let info = commit_info(
        context,
        planned,
        Run { decision: &decision, result: &result, lineage, read_snapshot, rows: written.rows },
        steps,
    );
    // Plain data with text keys: it cannot fail to serialize.
    let commit_info = serde_json::to_string(&info).unwrap_or_default();
    record(session, planned, &commit_info)?;
    let warnings = planned.warnings.iter().cloned().chain(source.warning).chain(evolved).chain(written.warnings);
    Ok(Executed { decision, rows: written.rows, warnings: warnings.collect() })
}

/// The text to run: after a delta failed, the model's own.
fn source(
    context: &RunContext<'_>,
    planned: &PlannedModel,
    attempt: &Attempt<'_>,
    read_snapshot: i64,
) -> Result<Source, Failure> {
    let whole = |reason: &str, warning: Option<String>| Source {
        reason: Some(Reason::FullQuery(reason.into())),
        warning,
        ..Source::whole(planned)
    };
    match attempt.fallback {
        Some(Fallback::Unreadable(cause) | Fallback::Refused(cause))
            if matches!(attempt.task.read, Read::Keep { .. }) =>
        {
            Ok(Source::kept(planned, cause))
        }
        Some(Fallback::Unreadable(cause)) => {
            let warning = format!("CDC failed, using full query: {cause}");
            Ok(whole("changes cannot be read", Some(warning)))
        }
        Some(Fallback::Refused(cause)) => {
            let warning = format!("CDC query failed ({cause}), retrying with full query");
            Ok(whole("the rewritten query was refused", Some(warning)))
        }
        Some(Fallback::NeedsWhole) => Ok(whole("the table is written anew", None)),
        None => {
            let reader = Reader {
                session: context.session,
                names: context.names,
                functions: attempt.functions,
                facts: attempt.facts,
                planned,
                until: read_snapshot,
            };
            reader.source(attempt.task.read).map_err(|error| match &error {
                EngineError::Sql { .. } if !error.is_conflict() && !error.is_fatal() => {
                    Failure::Delta(Fallback::Unreadable(error.cleaned()))
                }
                _ => error.into(),
            })
        }
    }
}

/// A rewritten query that the engine refuses is no fault of the user's: the whole query shows whether there
/// is one.
fn refused(source: &Source, error: MaterializeError, failed: impl Fn(MaterializeError) -> RunError) -> Failure {
    match &error {
        MaterializeError::Query(cause) if !source.own_text && cause.is_refusal() => {
            Failure::Delta(Fallback::Refused(cause.cleaned()))
        }
        _ => failed(error).into(),
    }
}

/// The kind with its keys; that they are there is checked when the model is read.
fn kind_write(model: &Model) -> KindWrite {
    let keys = key_columns(model);
    let key = || keys.first().cloned().unwrap_or_default();
    match model.kind {
        Kind::Table => KindWrite::Table,
        Kind::Append => KindWrite::Append,
        Kind::Merge => KindWrite::Merge { key: key() },
        Kind::Scd2 => KindWrite::Scd2 { key: key() },
        Kind::Tracked => KindWrite::Tracked { keys },
    }
}

/// The decision as it turned out, and what to say of changed columns. A first run and one of another kind
/// report no evolution: it is a backfill, whatever table it found.
fn reported(task: &Task, decided: Decision, kind: Kind, written: &Written) -> (Decision, Option<String>) {
    if let Some(retyped) = &written.retyped_key {
        let warning = format!(
            "schema evolution: unique_key column \"{}\" type changed from {} to {}, forcing backfill",
            retyped.key, retyped.old, retyped.new
        );
        return (Decision::new(RunType::Backfill, Reason::UniqueKeyTypeChanged), Some(warning));
    }
    let silent = task.decision.reason == Reason::FirstRun || task.last_kind != Some(kind);
    let evolution = Some(&written.evolution).filter(|_| !silent);
    let asked_for = task.decision.reason == Reason::FullRefresh;
    let changed = evolution.filter(|_| !asked_for).and_then(|evolution| evolution.reported_run_type(kind));
    let run_type = changed.unwrap_or(decided.run_type);
    (Decision::new(run_type, decided.reason), evolution.and_then(Evolution::warning))
}

/// Puts the commit's description into the transaction: for the snapshot, and for the registry, which
/// survives the snapshot.
fn record(session: &Session, planned: &PlannedModel, commit_info: &str) -> Result<(), Failure> {
    let (connection, target) = (&session.connection, planned.target().to_string());
    let kind = planned.model.kind.as_str();
    for statement in registry_statements(&session.lake, &target, kind, commit_info) {
        connection.execute(&statement)?;
    }
    connection.execute(&format!(
        "CALL {}.set_commit_message('ondatrasql', {}, extra_info => {})",
        quote(&session.lake),
        literal(&format!("Pipeline run: {target}")),
        literal(commit_info)
    ))?;
    Ok(())
}

/// What a commit tells of its run.
struct Run<'a> {
    decision: &'a Decision,
    result: &'a ModelResult,
    lineage: Vec<ColumnLineage>,
    read_snapshot: i64,
    rows: i64,
}

fn commit_info(context: &RunContext<'_>, planned: &PlannedModel, run: Run<'_>, steps: Steps) -> CommitInfo {
    let end = Timestamp::now();
    let kind = planned.model.kind;
    // The history of scd2 is no part of the output, the hash of tracked is.
    let mut columns: Vec<Column> = run.result.columns.clone();
    columns.retain(|column| !kind.own_columns().iter().any(|own| column.name.eq_ignore_ascii_case(own)));
    if kind == Kind::Tracked {
        let hash = |name: &&str| Column { name: (*name).to_owned(), type_name: "VARCHAR".into() };
        columns.extend(kind.own_columns().iter().map(hash));
    }
    let seconds = |time: Timestamp| time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    CommitInfo {
        model: planned.target().to_string(),
        kind: kind.to_string(),
        run_type: run.decision.run_type.to_string(),
        sql_hash: planned.hash.clone(),
        schema_hash: schema_hash(&columns),
        columns,
        column_lineage: run.lineage,
        keys: key_columns(&planned.model),
        depends: Some(planned.depends.clone().into()),
        rows_affected: run.rows,
        read_snapshot: Some(run.read_snapshot),
        dag_run_id: context.dag_run_id.to_owned(),
        source_file: planned.model.path.display().to_string(),
        start_time: seconds(steps.started),
        end_time: seconds(end),
        duration_ms: milliseconds(steps.clock.elapsed()),
        duckdb_version: Pins::read().version.to_owned(),
        steps: steps.steps,
        git_commit: context.git.commit.clone(),
        git_branch: context.git.branch.clone(),
        git_repo_url: context.git.repo_url.clone(),
    }
}

/// The steps of one transaction, timed.
struct Steps {
    started: Timestamp,
    clock: Instant,
    last: Instant,
    steps: Vec<Step>,
}

impl Steps {
    fn begin() -> Self {
        let now = Instant::now();
        Self { started: Timestamp::now(), clock: now, last: now, steps: Vec::new() }
    }

    fn done(&mut self, name: &str) {
        let duration_ms = milliseconds(self.last.elapsed());
        self.last = Instant::now();
        self.steps.push(Step { name: name.to_owned(), duration_ms, status: StepStatus::Ok });
    }
}

fn milliseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

fn statement_error(planned: &PlannedModel, error: MaterializeError, own_text: bool) -> RunError {
    let place = error.offset().filter(|_| own_text).map(|offset| Box::new(planned.model.sql_place(offset)));
    RunError::Statement { error, place }
}

fn check_limit(planned: &PlannedModel) -> Result<(), RunError> {
    let found = match &planned.tree {
        Ok(tree) => find_limit(tree),
        Err(_) => find_limit_word(planned.model.sql()),
    };
    let Some((word, offset)) = found else { return Ok(()) };
    let word = if word == LimitWord::Limit { "LIMIT" } else { "OFFSET" };
    Err(RunError::Refused {
        code: Code::Limit,
        message: format!("{word} is not allowed in pipeline models"),
        help: "look at a few rows with `ondatrasql query TABLE --limit N`; to keep some rows, number them with \
               ROW_NUMBER() and filter"
            .into(),
        place: Box::new(planned.model.sql_place(offset.unwrap_or(0))),
    })
}

fn load_extensions(context: &RunContext<'_>, planned: &PlannedModel) -> Result<(), RunError> {
    for written in &planned.model.extensions {
        let refused = |message: String, help: &str| RunError::Refused {
            code: Code::DirectiveValue,
            message,
            help: help.into(),
            place: Box::new(planned.model.place(written.span.clone())),
        };
        let extension = Extension::parse(&written.value)
            .map_err(|message| refused(message, "names are lower-case letters, digits and `_`"))?;
        let from = match &extension.repository {
            None => String::new(),
            Some(Repository::Named(name)) => format!(" FROM {name}"),
            Some(Repository::Location(text)) => format!(" FROM {}", literal(text)),
        };
        let connection = &context.session.connection;
        context.functions.forget();
        let load = || connection.execute(&format!("LOAD {}", extension.name));
        let Err(loading) = load() else { continue };
        let install = format!("INSTALL {}{from}", extension.name);
        connection.execute(&install).and_then(|()| load()).map_err(|installing| {
            let (name, first) = (&extension.name, loading.cleaned());
            let message = format!("load extension {name}: {first}\n  install it: {}", installing.cleaned());
            refused(message, "put the extension's file into the extension folder, or connect to the internet once")
        })?;
    }
    Ok(())
}
