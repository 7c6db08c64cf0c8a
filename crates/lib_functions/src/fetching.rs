//! Calls of the functions that fetch, and what they may return (chapter 03 §3.4).

use http_client::Stop;
use num_bigint::BigInt;
use starlark::values::dict::DictRef;
use starlark::values::list::ListRef;
use starlark::values::{Heap, Value};

use crate::LibError;
use crate::answers::{shown, type_name};
use crate::cell::Row;
use crate::explain::CallError;
use crate::host_value::HostValue;
use crate::running::{Argument, Running};

/// Rows after which it is asked whether the run was stopped.
const ROWS_BETWEEN_STOPS: u64 = 64;

/// A page that a function returned; its rows were handed over.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// How many rows it had.
    pub rows: u64,
    /// The cursor of the next page; `None` if this was the last one.
    pub next: Option<HostValue>,
    /// What an empty fetch means.
    pub empty_result: Option<String>,
    /// Keys that nobody knows.
    pub unknown_keys: Vec<String>,
}

/// Why there is no page.
#[derive(Debug)]
pub enum PageError<E> {
    /// The function ended without one.
    Call(CallError),
    /// A row was refused.
    Row(E),
}

/// What `check` says of a job.
#[derive(Debug, Clone, PartialEq)]
pub enum JobState {
    /// Not done yet.
    Waiting,
    /// Done: what `fetch_result` gets.
    Done(HostValue),
}

impl Running<'_> {
    /// Calls `fetch` for a page, and hands each row to `row` with its number and the page's `next`.
    ///
    /// # Errors
    /// What the function ended with, what is wrong with its value, or what `row` refuses.
    pub fn fetch<E>(
        &self,
        arguments: &[(&str, HostValue)],
        cursor: &HostValue,
        number: u64,
        row: impl FnMut(u64, Row<'_>, Option<&HostValue>) -> Result<(), E>,
    ) -> Result<Page, PageError<E>> {
        self.page("fetch", arguments, cursor, number, row)
    }

    /// Calls `submit`: the job's reference; `None` if there is nothing to fetch.
    ///
    /// # Errors
    /// What the function ended with.
    pub fn submit(&self, arguments: &[(&str, HostValue)]) -> Result<Option<HostValue>, CallError> {
        let passed: Vec<(&str, Argument<'_>)> =
            arguments.iter().map(|(name, value)| (*name, Argument::Value(value))).collect();
        match self.data("submit", &passed)? {
            HostValue::None => Ok(None),
            reference => Ok(Some(reference)),
        }
    }

    /// Calls `check` for a job.
    ///
    /// # Errors
    /// What the function ended with, or a bool: it would not be clear what it means.
    pub fn check(&self, job_ref: &HostValue) -> Result<JobState, CallError> {
        match self.data("check", &[("job_ref", Argument::Value(job_ref))])? {
            HostValue::None => Ok(JobState::Waiting),
            HostValue::Bool(_) => {
                Err(self.wrong("check", "must return None while the job runs, then its result, not a bool"))
            }
            result => Ok(JobState::Done(result)),
        }
    }

    /// Calls `fetch_result` for a page of a finished job.
    ///
    /// # Errors
    /// As [`Running::fetch`].
    pub fn fetch_result<E>(
        &self,
        result_ref: &HostValue,
        cursor: &HostValue,
        number: u64,
        row: impl FnMut(u64, Row<'_>, Option<&HostValue>) -> Result<(), E>,
    ) -> Result<Page, PageError<E>> {
        self.page("fetch_result", &[("result_ref", result_ref.clone())], cursor, number, row)
    }

    fn page<E>(
        &self,
        function: &str,
        arguments: &[(&str, HostValue)],
        cursor: &HostValue,
        number: u64,
        mut row: impl FnMut(u64, Row<'_>, Option<&HostValue>) -> Result<(), E>,
    ) -> Result<Page, PageError<E>> {
        let size = self.lib.api.fetch.as_ref().map_or(0, |fetch| fetch.page_size);
        let mut passed: Vec<(&str, Argument<'_>)> =
            arguments.iter().map(|(name, value)| (*name, Argument::Value(value))).collect();
        passed.push(("page", Argument::Page { cursor, size }));
        let stop = self.host.stop();
        let taken = self.call(function, &passed, |value, heap| take_page(value, heap, number, stop, &mut row));
        match taken.map_err(PageError::Call)? {
            Ok(page) => Ok(page),
            Err(Taken::Row(error)) => Err(PageError::Row(error)),
            Err(Taken::Wrong(what)) => Err(PageError::Call(self.wrong(function, &what))),
            Err(Taken::Stopped) => Err(PageError::Call(CallError::Failed(LibError::stopped(&self.lib.name)))),
        }
    }

    fn data(&self, function: &str, arguments: &[(&str, Argument<'_>)]) -> Result<HostValue, CallError> {
        self.call(function, arguments, HostValue::from_value)?.map_err(|error| self.wrong(function, &error.to_string()))
    }
}

enum Taken<E> {
    Wrong(String),
    Row(E),
    Stopped,
}

fn take_page<'v, E>(
    value: Value<'v>,
    heap: Heap<'v>,
    number: u64,
    stop: &Stop,
    row: &mut impl FnMut(u64, Row<'_>, Option<&HostValue>) -> Result<(), E>,
) -> Result<Page, Taken<E>> {
    let wrong = |what: String| Taken::Wrong(what);
    let Some(dict) = DictRef::from_value(value) else {
        return Err(wrong(format!("must return dict, not {}", type_name(value))));
    };
    let rows = dict.get_str("rows").ok_or_else(|| wrong("must include 'rows' key".into()))?;
    let Some(rows) = ListRef::from_value(rows) else {
        return Err(wrong(format!("'rows' must be a list, not {}", type_name(rows))));
    };
    let next = dict.get_str("next").map(|next| HostValue::from_value(next, heap));
    let next = next.transpose().map_err(|error| wrong(format!("'next' cannot be a cursor: {error}")))?;
    let next = next.filter(|next| !matches!(next, HostValue::None) && *next != HostValue::Text(String::new()));
    let mut count = 0;
    for value in rows.content() {
        // A page may have millions of rows.
        if count % ROWS_BETWEEN_STOPS == 0 && stop.is_requested() {
            return Err(Taken::Stopped);
        }
        count += 1;
        let cells =
            Row::new(*value, heap).map_err(|what| wrong(format!("page {number}, row {count}: a row {what}")))?;
        row(count, cells, next.as_ref()).map_err(Taken::Row)?;
    }
    let known = ["rows", "next", "empty_result"];
    let unknown = dict.keys().map(|key| shown(key, heap)).filter(|key| !known.contains(&key.as_str()));
    Ok(Page {
        rows: count,
        next,
        empty_result: dict.get_str("empty_result").filter(|value| !value.is_none()).map(|value| shown(value, heap)),
        unknown_keys: unknown.collect(),
    })
}

impl HostValue {
    /// The text of a value that SQL passes, or `None`.
    pub fn text(text: Option<impl Into<String>>) -> Self {
        text.map_or(Self::None, |text| Self::Text(text.into()))
    }

    /// An integer.
    pub fn int(int: i64) -> Self {
        Self::Int(BigInt::from(int))
    }
}
