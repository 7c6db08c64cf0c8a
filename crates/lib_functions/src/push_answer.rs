//! What the functions that push may return (chapter 04 §6.3).

use std::collections::BTreeSet;

use starlark::values::dict::DictRef;
use starlark::values::{Heap, Value};

use crate::BatchMode;
use crate::answers::{shown, type_name};
use crate::bounds::weigh;
use crate::host_value::HostValue;

/// What a call of `push` came to.
#[derive(Debug, Clone, PartialEq)]
pub enum PushAnswer {
    /// Each row for itself.
    Rows(Statuses),
    /// All rows were delivered.
    All {
        /// What people should know, without secrets.
        warnings: Vec<String>,
    },
    /// A job was begun, to be found by this reference.
    Job(HostValue),
}

/// What `poll` says of a job.
#[derive(Debug, Clone, PartialEq)]
pub enum PollAnswer {
    /// Not done yet.
    Waiting,
    /// Done.
    Done(Statuses),
    /// Done, and what became of the rows is not said: why the answer is none.
    Unreadable(String),
}

/// What became of each row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statuses {
    /// In the order of the batch's keys, one for each.
    pub rows: Vec<RowStatus>,
    /// What people should know, without secrets.
    pub warnings: Vec<String>,
}

/// What became of a row; texts are without secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RowStatus {
    /// Delivered.
    Ok,
    /// Delivered, with something to say about it.
    Warn(String),
    /// To be tried again later.
    Error(String),
    /// Never to be tried again.
    Reject(String),
}

/// A batch that a function answers for.
pub(crate) struct Answering<'a> {
    /// What was called, as messages name it: `crm.push()`.
    pub called: &'a str,
    /// A key for each row, unique.
    pub keys: &'a [String],
    /// Makes a message fit for people.
    pub told: &'a dyn Fn(&str) -> String,
}

impl Answering<'_> {
    /// What `push` returned.
    pub(crate) fn pushed<'v>(&self, mode: BatchMode, value: Value<'v>, heap: Heap<'v>) -> Result<PushAnswer, String> {
        match mode {
            BatchMode::Sync => self.statuses("must return", value, heap).map(PushAnswer::Rows),
            BatchMode::Atomic => Ok(PushAnswer::All { warnings: self.unread(value) }),
            BatchMode::Async => job(value, heap).map(PushAnswer::Job),
        }
    }

    /// What `poll` returned.
    pub(crate) fn polled<'v>(&self, value: Value<'v>, heap: Heap<'v>) -> Result<PollAnswer, String> {
        let dict = DictRef::from_value(value).ok_or_else(|| format!("must return dict, not {}", type_name(value)))?;
        let done = dict.get_str("done").ok_or("must include 'done' key")?;
        match done.unpack_bool() {
            None => Err(format!("'done' must be True or False, not a value of type {}", type_name(done))),
            Some(false) => Ok(PollAnswer::Waiting),
            Some(true) => {
                let rows = dict.get_str("per_row").unwrap_or_else(Value::new_none);
                Ok(match self.statuses("'per_row' must be", rows, heap) {
                    Ok(statuses) => PollAnswer::Done(statuses),
                    Err(message) => PollAnswer::Unreadable((self.told)(&self.of_function(&message))),
                })
            }
        }
    }

    /// A message about what the function returned.
    fn of_function(&self, message: &str) -> String {
        format!("{}: {message}", self.called.trim_end_matches("()"))
    }

    /// A status for every row, from a dict.
    fn statuses<'v>(&self, must: &str, value: Value<'v>, heap: Heap<'v>) -> Result<Statuses, String> {
        let must = format!("{must} a dict with a status for every row");
        let Some(dict) = DictRef::from_value(value) else {
            let (came, first) = (type_name(value), self.keys.first().map_or("", String::as_str));
            return Err(format!("{must}, not {came}: \"{first}\" has none"));
        };
        weigh(value, heap).map_err(|excess| format!("{must}: {excess}"))?;
        let missing: Vec<&String> = self.keys.iter().filter(|key| dict.get_str(key).is_none()).collect();
        if let Some(first) = missing.first() {
            let (count, all) = (missing.len(), self.keys.len());
            return Err(format!("{must}: \"{first}\" has none ({count} of {all} rows)"));
        }
        let values = self.keys.iter().filter_map(|key| dict.get_str(key));
        let rows = values.map(|value| self.status(value, heap)).collect();
        Ok(Statuses { rows, warnings: self.foreign(&dict, heap) })
    }

    fn status<'v>(&self, value: Value<'v>, heap: Heap<'v>) -> RowStatus {
        match value.unpack_str() {
            Some(text) => self.status_of(text),
            None => RowStatus::Error((self.told)(&no_status(&shown(value, heap)))),
        }
    }

    fn status_of(&self, text: &str) -> RowStatus {
        let message = |said: &str| {
            let said = said.trim();
            if said.is_empty() { format!("{} gave no reason", self.called) } else { (self.told)(said) }
        };
        match text.split_once(':') {
            None if text == "ok" => RowStatus::Ok,
            Some(("warn", said)) => RowStatus::Warn(message(said)),
            Some(("error", said)) => RowStatus::Error(message(said)),
            Some(("reject", said)) => RowStatus::Reject(message(said)),
            _ => RowStatus::Error((self.told)(&no_status(text))),
        }
    }

    /// A warning if there are keys of other batches. All keys of this one are there.
    fn foreign<'v>(&self, dict: &DictRef<'v>, heap: Heap<'v>) -> Vec<String> {
        let count = dict.iter().count().saturating_sub(self.keys.len());
        if count == 0 {
            return Vec::new();
        }
        let own: BTreeSet<&str> = self.keys.iter().map(String::as_str).collect();
        let is_foreign = |key: &Value<'v>| key.unpack_str().is_none_or(|key| !own.contains(key));
        let first = dict.keys().find(is_foreign).map(|key| shown(key, heap)).unwrap_or_default();
        let called = self.called;
        vec![(self.told)(&format!(
            "{called} answered for rows that are not in the batch: {count} ignored, first: {first}"
        ))]
    }

    /// A warning if an atomic sink answers like one that is not.
    fn unread(&self, value: Value<'_>) -> Vec<String> {
        if value.is_none() {
            return Vec::new();
        }
        vec![format!(
            "{} returned a value of type {}, which is not looked at: with \"batch_mode\": \"atomic\" all rows are \
             delivered unless it fails; if it answers for each row, the sink may be meant as \"sync\"",
            self.called,
            type_name(value)
        )]
    }
}

/// What came comes last: it may be long.
fn no_status(came: &str) -> String {
    format!("a status is ok, warn: …, error: … or reject: …, not: {came}")
}

fn job<'v>(value: Value<'v>, heap: Heap<'v>) -> Result<HostValue, String> {
    if DictRef::from_value(value).is_none() {
        return Err(format!("must return the job's reference as a dict, not a value of type {}", type_name(value)));
    }
    HostValue::from_value(value, heap).map_err(|error| error.to_string())
}
