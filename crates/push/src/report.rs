//! What a run delivered to a target.

use std::collections::BTreeSet;
use std::time::{Duration, SystemTime};

/// Most different texts that are kept for the user.
const WARNINGS: usize = 20;

/// What a run delivered to a target.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// Events that the sink took, or that needed no call.
    pub delivered: u64,
    /// Events that are dead letters now.
    pub rejected: u64,
    /// Events that failed and will be tried again.
    pub to_retry: u64,
    /// Events left in the queue, those to be retried included.
    pub pending: u64,
    /// Dead letters that nobody has looked at yet, those of earlier runs included.
    pub dead: u64,
    /// Why the first event failed.
    pub first_error: Option<String>,
    /// Texts for the user.
    pub warnings: Vec<String>,
    /// Texts that are left out of them.
    pub more_warnings: u64,
    /// Why `finalize` failed.
    pub finalize_error: Option<String>,
}

impl Report {
    /// The texts for the user, and how many are left out.
    pub fn texts(&self) -> Vec<String> {
        let more = (self.more_warnings > 0).then(|| format!("and {} more of such warnings", self.more_warnings));
        self.warnings.iter().cloned().chain(more).collect()
    }

    /// What failed, in one sentence.
    pub fn failure(&self) -> String {
        let count = |number: u64, what: &str| (number > 0).then(|| format!("{number} row(s) {what}"));
        let counts = [count(self.rejected, "rejected"), count(self.to_retry, "not delivered")];
        let counts = counts.into_iter().flatten().collect::<Vec<_>>().join(", ");
        match (&self.first_error, &self.finalize_error) {
            (Some(error), _) => format!("{counts}: {error}"),
            (None, Some(error)) => format!("all rows were delivered, but finalize failed: {error}"),
            (None, None) => counts,
        }
    }

    /// Whether any event failed or was rejected.
    pub fn has_failures(&self) -> bool {
        self.rejected > 0 || self.to_retry > 0 || self.finalize_error.is_some()
    }
}

/// What became of one batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchReport {
    /// Its number in the delivery; of a job that another worker submitted the number that it had there.
    pub number: u64,
    /// Events in it.
    pub events: u64,
    /// When it was sent.
    pub started: SystemTime,
    /// Until the sink had answered, or the delivery gave up waiting.
    pub duration: Duration,
    /// What the sink said of its events.
    pub counts: BatchCounts,
    /// Whether nothing is known of them: the delivery was stopped, or the job of the sink goes on, or another worker has
    /// the claim.
    pub is_open: bool,
}

/// Events of one batch by what became of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BatchCounts {
    /// Those that the sink took.
    pub delivered: u64,
    /// Those that are dead letters now.
    pub rejected: u64,
    /// Those that failed and will be tried again.
    pub to_retry: u64,
    /// Why the first one failed.
    pub first_error: Option<String>,
}

impl BatchCounts {
    /// Whether any event failed or was rejected.
    pub const fn has_failures(&self) -> bool {
        self.rejected > 0 || self.to_retry > 0
    }
}

/// What lanes have to tell, added up.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub report: Report,
    seen: BTreeSet<String>,
    /// Calls of all lanes that failed since the last one that did not.
    pub failures: u32,
    /// Events that failed in this run, by number.
    pub failed: BTreeSet<i64>,
}

impl Tally {
    /// Keeps a text for the user, each once.
    pub fn warn(&mut self, text: String) {
        if self.seen.contains(&text) {
            return;
        }
        if self.seen.len() == WARNINGS {
            self.report.more_warnings += 1;
            return;
        }
        self.seen.insert(text.clone());
        self.report.warnings.push(text);
    }

    /// Keeps why an event failed, if it is the first one.
    pub fn failure(&mut self, message: &str) {
        self.report.first_error.get_or_insert_with(|| message.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::Tally;

    #[test]
    fn the_same_warning_is_told_once_and_many_are_counted() {
        let mut tally = Tally::default();
        (0..30).chain([0, 1]).for_each(|number| tally.warn(format!("warning {number}")));
        assert_eq!((tally.report.warnings.len(), tally.report.more_warnings), (20, 10));
    }
}
