//! The run type of a model, from recorded facts (the table of chapter 02 §2.1).

use serde_json::Value;
use types::{Column, ColumnLineage, ColumnMask, CommitInfo, Decision, Kind, Reason, RunType};

/// What is known of a model when its run type is decided.
pub struct ModelFacts<'a> {
    /// Its kind.
    pub kind: Kind,
    /// Whether it fetches from an API.
    pub fetch: bool,
    /// Hash of its definition as it is now.
    pub hash: &'a str,
    /// Whether its table exists.
    pub table_exists: bool,
    /// Its last commit, if there is one.
    pub last_commit: Option<&'a LastCommit>,
}

/// The last commit of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct LastCommit {
    /// Hash of the definition that made it.
    pub hash: String,
    /// Kind it was written as; `None` for a word that is no kind.
    pub kind: Option<Kind>,
    /// Key columns it was written by.
    pub keys: Vec<String>,
    /// What it depended on, as recorded.
    depends: Option<Value>,
    /// The snapshot at which it read its sources; without it nothing can be verified.
    pub read_snapshot: Option<i64>,
    /// Its output columns.
    pub columns: Vec<Column>,
    /// Where they came from.
    pub column_lineage: Vec<ColumnLineage>,
    /// Which of them it masked, with what.
    pub masks: Vec<ColumnMask>,
    /// When it ended, RFC 3339, UTC; empty if it does not tell.
    pub end_time: String,
}

/// A recorded commit that cannot be read: the model fails, it is never rebuilt by accident.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("run_type check: the recorded commit of {model} cannot be read: {cause}")]
pub struct DecisionError {
    model: String,
    cause: String,
}

impl LastCommit {
    /// Reads the JSON that the commit of `model` recorded.
    pub fn read(model: &str, json: &str) -> Result<Self, DecisionError> {
        let info: CommitInfo = serde_json::from_str(json)
            .map_err(|error| DecisionError { model: model.to_owned(), cause: error.to_string() })?;
        Ok(Self {
            hash: info.sql_hash,
            kind: Kind::parse(&info.kind),
            keys: info.keys,
            depends: info.depends,
            read_snapshot: info.read_snapshot,
            columns: info.columns,
            column_lineage: info.column_lineage,
            masks: info.masks,
            end_time: info.end_time,
        })
    }

    /// The names it depended on; `None` if that was not recorded, or not as a list of names.
    pub fn depends(&self) -> Option<Vec<&str>> {
        string_list(self.depends.as_ref()?)
    }
}

/// What became of a dependency since a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DependencyState {
    /// Its rows and columns are the same.
    Unchanged,
    /// They are not.
    Changed,
    /// It cannot be known.
    Unverifiable,
}

/// Decides, top down, what a run does. `state_of` tells what became of a dependency since the last commit.
pub fn decide(facts: &ModelFacts<'_>, state_of: impl Fn(&str) -> DependencyState) -> Decision {
    let Some(last) = facts.last_commit.filter(|_| facts.table_exists) else {
        return Decision::new(RunType::Backfill, Reason::FirstRun);
    };
    if last.hash != facts.hash {
        return Decision::new(RunType::Backfill, Reason::SqlChanged);
    }
    if facts.kind != Kind::Table {
        return Decision::new(RunType::Incremental, Reason::IncrementalRun);
    }
    if facts.fetch {
        return Decision::new(RunType::Full, Reason::FetchSource);
    }
    let Some(recorded) = &last.depends else {
        return Decision::new(RunType::Full, Reason::MissingDepends);
    };
    let Some(mut names) = string_list(recorded) else {
        return Decision::new(RunType::Full, Reason::InvalidDepends);
    };
    if names.is_empty() {
        return Decision::new(RunType::Skip, Reason::NoDependencies);
    }
    names.sort_unstable();
    let first = |wanted| names.iter().find(|name| state_of(name) == wanted).map(|&name| name.to_owned());
    if let Some(name) = first(DependencyState::Unverifiable) {
        return Decision::new(RunType::Full, Reason::UnverifiableDep(name));
    }
    match first(DependencyState::Changed) {
        Some(name) => Decision::new(RunType::Full, Reason::DepChanged(name)),
        None => Decision::new(RunType::Skip, Reason::DepsUnchanged),
    }
}

fn string_list(value: &Value) -> Option<Vec<&str>> {
    value.as_array()?.iter().map(Value::as_str).collect()
}

#[cfg(test)]
mod tests {
    use types::Kind;

    use super::{DependencyState, LastCommit, ModelFacts, decide};

    fn commit(extra: &str) -> LastCommit {
        LastCommit::read("a.b", &format!(r#"{{"model":"a.b","kind":"table","run_type":"full","sql_hash":"h"{extra}}}"#))
            .unwrap()
    }

    /// Last commit, table exists, hash, kind, fetch: expected decision.
    type Row<'a> = (Option<&'a LastCommit>, bool, &'a str, Kind, bool, &'a str);

    /// The table of chapter 02 §2.1, row by row.
    #[test]
    fn every_row_of_the_decision_table() {
        let with_deps = commit(r#","depends":["m.same","m.b_changed","m.a_changed"]"#);
        let lost = commit(r#","depends":["x.gone","read_csv()","m.a_changed"]"#);
        let same = commit(r#","depends":["m.same"]"#);
        let (none, missing, invalid) = (commit(r#","depends":[]"#), commit(""), commit(r#","depends":[1]"#));
        let state_of = |name: &str| match name {
            "m.same" => DependencyState::Unchanged,
            "m.a_changed" | "m.b_changed" => DependencyState::Changed,
            _ => DependencyState::Unverifiable,
        };
        let rows: [Row<'_>; 13] = [
            (None, false, "h", Kind::Table, false, "backfill: first run"),
            (None, true, "h", Kind::Append, false, "backfill: first run"),
            (Some(&same), false, "h", Kind::Table, false, "backfill: first run"),
            (Some(&same), true, "new", Kind::Table, false, "backfill: sql changed"),
            (Some(&same), true, "new", Kind::Merge, true, "backfill: sql changed"),
            (Some(&same), true, "h", Kind::Scd2, true, "incremental: incremental run"),
            (Some(&same), true, "h", Kind::Table, true, "full: fetch source"),
            (Some(&missing), true, "h", Kind::Table, false, "full: missing depends metadata"),
            (Some(&invalid), true, "h", Kind::Table, false, "full: invalid depends metadata"),
            (Some(&none), true, "h", Kind::Table, false, "skip: no dependencies"),
            (Some(&lost), true, "h", Kind::Table, false, "full: unverifiable dep: read_csv()"),
            (Some(&with_deps), true, "h", Kind::Table, false, "full: dep changed: m.a_changed"),
            (Some(&same), true, "h", Kind::Table, false, "skip: deps unchanged"),
        ];
        for (last_commit, table_exists, hash, kind, fetch, expected) in rows {
            let decision = decide(&ModelFacts { kind, fetch, hash, table_exists, last_commit }, state_of);
            assert_eq!(format!("{}: {}", decision.run_type, decision.reason), expected);
        }
    }

    #[test]
    fn an_unreadable_commit_is_an_error_and_no_first_run() {
        let error = LastCommit::read("a.b", "{").unwrap_err().to_string();
        assert!(error.starts_with("run_type check: the recorded commit of a.b"), "{error}");
    }
}
