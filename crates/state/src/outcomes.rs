//! Outcomes as a table of a script: those that went well as a list of numbers, the others as records.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::queue::{Outcome, OutcomeStatus};
use crate::script::{Dialect, without_nul};

/// Longest pause before a retry: what is longer is never.
const PAUSE_MAX: Duration = Duration::from_hours(24 * 365 * 10);

/// The events that have an outcome, by claim. Who holds a claim is the only one to record for it, so that nobody has
/// to ask the database.
#[derive(Default)]
pub(crate) struct Recorded(BTreeMap<String, BTreeSet<i64>>);

impl Recorded {
    /// The outcomes of events that have none yet. The first one of an event stands.
    pub(crate) fn fresh<'a>(&self, claim_id: &str, outcomes: &'a [Outcome]) -> Vec<&'a Outcome> {
        let before = self.0.get(claim_id);
        let mut named = BTreeSet::new();
        let is_fresh = |seq: i64| before.is_none_or(|before| !before.contains(&seq));
        outcomes.iter().filter(|outcome| is_fresh(outcome.seq) && named.insert(outcome.seq)).collect()
    }

    pub(crate) fn add(&mut self, claim_id: &str, outcomes: &[&Outcome]) {
        self.0.entry(claim_id.to_owned()).or_default().extend(outcomes.iter().map(|outcome| outcome.seq));
    }

    /// The claim is over.
    pub(crate) fn forget(&mut self, claim_id: &str) {
        self.0.remove(claim_id);
    }
}

/// A table of outcomes, of each event one.
pub(crate) fn table_of(dialect: Dialect, outcomes: &[&Outcome]) -> String {
    let (plain, told): (Vec<&Outcome>, Vec<&Outcome>) =
        outcomes.iter().partition(|outcome| outcome.status == OutcomeStatus::Ok && outcome.message.is_none());
    let text = dialect.text();
    let mut parts = Vec::new();
    if !plain.is_empty() {
        // Almost all of them: a list is read seven times as fast as records.
        let seqs: Vec<String> = plain.iter().map(|outcome| outcome.seq.to_string()).collect();
        parts.push(format!(
            "SELECT seq, 'ok' AS status, CAST(NULL AS {text}) AS message, CAST(NULL AS BIGINT) AS retry_ms, \
             CAST(NULL AS {text}) AS row_image FROM {}",
            dialect.numbers("seq", &seqs.join(","))
        ));
    }
    if !told.is_empty() {
        let columns =
            [("seq", "BIGINT"), ("status", text), ("message", text), ("retry_ms", "BIGINT"), ("row_image", text)];
        let records = Value::Array(told.into_iter().map(record).collect()).to_string();
        parts.push(format!(
            "SELECT seq, status, message, retry_ms, row_image FROM {} AS told",
            dialect.records(&records, &columns)
        ));
    }
    format!("({})", parts.join(" UNION ALL "))
}

/// An outcome as a record; what is NULL is left out.
fn record(outcome: &Outcome) -> Value {
    let mut record = Map::new();
    record.insert("seq".into(), json!(outcome.seq));
    let status = match &outcome.status {
        OutcomeStatus::Ok => "ok",
        OutcomeStatus::Warn => "warn",
        OutcomeStatus::Error(pause) => {
            record.insert("retry_ms".into(), json!(u64::try_from(pause.min(&PAUSE_MAX).as_millis()).unwrap_or(0)));
            "error"
        }
        OutcomeStatus::Reject(image) => {
            if let Some(image) = image {
                record.insert("row_image".into(), json!(without_nul(image)));
            }
            "reject"
        }
    };
    record.insert("status".into(), json!(status));
    if let Some(message) = &outcome.message {
        record.insert("message".into(), json!(without_nul(message)));
    }
    record.into()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Recorded, table_of};
    use crate::queue::{Outcome, OutcomeStatus};
    use crate::script::Dialect;

    fn outcome(seq: i64, status: OutcomeStatus, message: Option<&str>) -> Outcome {
        Outcome { seq, status, message: message.map(str::to_owned) }
    }

    #[test]
    fn what_went_well_is_a_list_and_the_first_outcome_of_an_event_stands() {
        let outcomes = [
            outcome(1, OutcomeStatus::Ok, None),
            outcome(3, OutcomeStatus::Ok, None),
            outcome(3, OutcomeStatus::Reject(None), Some("late")),
            outcome(2, OutcomeStatus::Error(Duration::from_millis(5)), Some("it's away")),
        ];
        let mut recorded = Recorded::default();
        let table = table_of(Dialect::DuckDb, &recorded.fresh("c", &outcomes));
        assert!(table.contains("'[1,3]'") && table.contains("it''s away") && !table.contains("late"), "{table}");
        let table = table_of(Dialect::Postgres, &recorded.fresh("c", &outcomes[..2]));
        assert!(table.contains("'{1,3}'") && !table.contains("json"), "{table}");
        recorded.add("c", &[&outcomes[1]]);
        let seqs = |claim: &str| recorded.fresh(claim, &outcomes).iter().map(|one| one.seq).collect::<Vec<_>>();
        assert_eq!((seqs("c"), seqs("d")), (vec![1, 2], vec![1, 3, 2]));
    }
}
