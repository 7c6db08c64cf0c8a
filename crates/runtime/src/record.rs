//! What a commit tells of its run (chapter 02 §7.2).

use std::time::{Duration, Instant};

use engine::{Pins, registry_statements};
use jiff::Timestamp;
use materialize::{ModelResult, key_columns};
use model::{Mask, schema_hash};
use types::{Column, ColumnLineage, ColumnMask, CommitInfo, Decision, Kind, Step, StepStatus, literal, quote};

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
}

pub(crate) fn commit_info(context: &RunContext<'_>, planned: &PlannedModel, run: Run<'_>, steps: Steps) -> CommitInfo {
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

fn column_mask(mask: Mask) -> ColumnMask {
    ColumnMask { column: mask.column, function: mask.function }
}

/// The steps of one transaction, timed.
pub(crate) struct Steps {
    started: Timestamp,
    clock: Instant,
    last: Instant,
    steps: Vec<Step>,
}

impl Steps {
    /// Begins, with what was done `before`.
    pub(crate) fn begin(before: Duration) -> Self {
        let (now, started) = (Instant::now(), Timestamp::now());
        let started = started.checked_sub(before).unwrap_or(started);
        // An instant may be the first that there is.
        let then = now.checked_sub(before).unwrap_or(now);
        Self { started, clock: then, last: then, steps: Vec::new() }
    }

    pub(crate) fn done(&mut self, name: &str) {
        let duration_ms = milliseconds(self.last.elapsed());
        self.last = Instant::now();
        self.steps.push(Step { name: name.to_owned(), duration_ms, status: StepStatus::Ok });
    }
}

fn milliseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
