//! What a run is to do with a model, from its decision and its last commit.

use materialize::{Evolution, Rebuild, Written, key_columns};
use model::Model;
use plan::LastCommit;
use types::{Decision, Kind, Reason, RunType};

use crate::reading::Read;

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
    /// What the registry tells of it.
    pub recorded: Option<String>,
}

impl Task {
    /// The rebuild that a decision means, given the last commit (chapter 02 §5.4).
    pub(crate) fn new(
        decision: Decision,
        model: &Model,
        (last, recorded): (Option<LastCommit>, Option<String>),
    ) -> Self {
        let commit = last.as_ref();
        let kind = model.kind;
        let last_kind = commit.and_then(|last| last.kind);
        let same_keys = |last: &LastCommit| {
            let keys = key_columns(model);
            keys.len() == last.keys.len() && keys.iter().zip(&last.keys).all(|(a, b)| a.eq_ignore_ascii_case(b))
        };
        let rebuild = match (kind, last_kind) {
            _ if decision.reason == Reason::FullRefresh => Rebuild::Yes,
            _ if decision.reason == Reason::Kept => Rebuild::Never,
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
        Self { decision, last_kind, rebuild, read, last, recorded }
    }

    /// The snapshot that the last run has read, if this one goes on from there.
    pub(crate) fn read_before(&self, kind: Kind) -> Option<i64> {
        let goes_on = self.decision.run_type == RunType::Incremental && matches!(kind, Kind::Append | Kind::Merge);
        self.last.as_ref().filter(|_| goes_on)?.read_snapshot
    }

    /// The rebuild, once it is known which columns come under another name: a renamed key is the same key.
    pub(crate) fn rebuild_after(&self, renames: &[(String, String)], model: &Model) -> Rebuild {
        let now = |old: &String| {
            let pair = renames.iter().find(|(from, _)| from.eq_ignore_ascii_case(old));
            pair.map_or(old, |(_, to)| to).to_lowercase()
        };
        let by_key = matches!(model.kind, Kind::Merge | Kind::Scd2) && self.last_kind == Some(model.kind);
        let keys: Vec<String> = key_columns(model).iter().map(|key| key.to_lowercase()).collect();
        let same = self.last.as_ref().is_some_and(|last| last.keys.iter().map(now).eq(keys));
        if by_key && same && self.rebuild == Rebuild::IfLossless { Rebuild::No } else { self.rebuild }
    }
}

/// The decision as it turned out, and what to say of changed columns. A first run and one of another kind
/// report no evolution: it is a backfill, whatever table it found.
pub(crate) fn reported(task: &Task, decided: Decision, kind: Kind, written: &Written) -> (Decision, Option<String>) {
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
