//! What a commit tells of its run (chapter 02 §7.2).

use std::time::{Duration, Instant};

use engine::{Pins, registry_statements};
use jiff::Timestamp;
use materialize::{ModelResult, key_columns};
use model::{Mask, schema_hash};
use types::{Column, ColumnLineage, ColumnMask, CommitInfo, Decision, Kind, Step, literal, quote};

use crate::execute::RunContext;
use crate::planning::PlannedModel;
use crate::{RunError, Session};

/// Puts the commit's description into the transaction: for the snapshot, and for the registry, which
/// survives the snapshot; `replaces` says whether the registry has one of the model.
pub(crate) fn record(
    session: &Session,
    planned: &PlannedModel,
    info: &CommitInfo,
    replaces: bool,
) -> Result<(), RunError> {
    // Plain data with text keys: it cannot fail to serialize.
    let commit_info = &serde_json::to_string(info).unwrap_or_default();
    let (connection, target) = (&session.connection, planned.target().to_string());
    let kind = planned.model.kind.as_str();
    for statement in registry_statements(&session.lake, &target, kind, commit_info, replaces) {
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
pub(crate) struct Run<'a> {
    pub decision: &'a Decision,
    pub result: &'a ModelResult,
    pub lineage: Vec<ColumnLineage>,
    pub read_snapshot: i64,
    pub rows: i64,
    /// When its transaction began.
    pub since: Since,
    /// What was done till now.
    pub steps: Vec<Step>,
}

pub(crate) fn commit_info(context: &RunContext<'_>, planned: &PlannedModel, run: Run<'_>) -> CommitInfo {
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
        run_reason: run.decision.reason.to_string(),
        sql_hash: planned.hash.clone(),
        schema_hash: schema_hash(&columns),
        columns,
        column_lineage: run.lineage,
        keys: key_columns(&planned.model),
        masks: planned.model.masks().into_iter().map(column_mask).collect(),
        depends: Some(planned.depends.clone().into()),
        rows_affected: run.rows,
        read_snapshot: Some(run.read_snapshot),
        dag_run_id: context.dag_run_id.to_owned(),
        source_file: planned.model.path.display().to_string(),
        start_time: seconds(run.since.started),
        end_time: seconds(end),
        duration_ms: i64::try_from(run.since.clock.elapsed().as_millis()).unwrap_or(i64::MAX),
        duckdb_version: Pins::read().version.to_owned(),
        steps: run.steps,
        git_commit: context.git.commit.clone(),
        git_branch: context.git.branch.clone(),
        git_repo_url: context.git.repo_url.clone(),
    }
}

fn column_mask(mask: Mask) -> ColumnMask {
    ColumnMask { column: mask.column, function: mask.function }
}

/// The beginning of a transaction: as a moment, and to measure from.
#[derive(Clone, Copy)]
pub(crate) struct Since {
    started: Timestamp,
    clock: Instant,
}

impl Since {
    /// Now, or the time at which what was done `before` began.
    pub(crate) fn begin(before: Duration) -> Self {
        let (now, started) = (Instant::now(), Timestamp::now());
        let started = started.checked_sub(before).unwrap_or(started);
        // An instant may be the first that there is.
        Self { started, clock: now.checked_sub(before).unwrap_or(now) }
    }
}
