//! Calls of the functions that push (chapter 04 §6).

use http_client::Stop;
use starlark::values::{Heap, Value};
use types::Kind;

use crate::explain::CallError;
use crate::host_value::HostValue;
use crate::push_answer::{Answering, PollAnswer, PushAnswer};
use crate::running::{Argument, Running};
use crate::surroundings::Surroundings;
use crate::{BatchMode, LibError};

/// A batch to be pushed.
#[derive(Debug, Clone, Copy)]
pub struct PushCall<'a> {
    /// The rows, each a dict.
    pub rows: &'a [HostValue],
    /// By what the answer names the rows: `rowid:change_type`. One for each row, all different.
    pub keys: &'a [String],
    /// Counts the batches of a run and target, from 1.
    pub batch_number: u64,
    /// The model's kind.
    pub kind: Kind,
    /// The columns of the model's key.
    pub key_columns: &'a [String],
    /// Names and types of the table's columns, as the function gets them.
    pub columns: &'a HostValue,
    /// What the directive passes, by the names in `args`.
    pub arguments: &'a [(String, HostValue)],
    /// The value of the header that the file names as its `idempotency_header`.
    pub idempotency_key: Option<&'a str>,
}

impl Running<'_> {
    /// Calls `push` for a batch, as soon as the lib's rate and what the service asked for allow it.
    ///
    /// # Errors
    /// What the function ended with, or what is wrong with its answer. Nothing is known of the rows then.
    pub fn push(&self, call: &PushCall<'_>) -> Result<PushAnswer, CallError> {
        self.push_unless(self.host().stop(), call)
    }

    /// The same, but the call does not begin once `stop` says so; one that has begun goes on as long as the host lets
    /// it.
    ///
    /// # Errors
    /// As [`Running::push`].
    pub fn push_unless(&self, stop: &Stop, call: &PushCall<'_>) -> Result<PushAnswer, CallError> {
        self.throttle.wait(stop).map_err(|_| CallError::Failed(LibError::stopped(&self.lib().name)))?;
        let push = self.lib().api.push.as_ref();
        let mut around = self.surroundings();
        let header = push.and_then(|push| push.idempotency_header.clone());
        around.idempotency = header.zip(call.idempotency_key.map(str::to_owned));
        let number = HostValue::Int(call.batch_number.into());
        let kind = HostValue::Text(call.kind.as_str().to_owned());
        let key_columns = HostValue::List(call.key_columns.iter().cloned().map(HostValue::Text).collect());
        let arguments = call.arguments.iter().map(|(name, value)| (name.as_str(), Argument::Value(value)));
        let mut passed: Vec<(&str, Argument<'_>)> = arguments.collect();
        passed.extend([
            ("rows", Argument::Items(call.rows)),
            ("batch_number", Argument::Value(&number)),
            ("kind", Argument::Value(&kind)),
            ("key_columns", Argument::Value(&key_columns)),
            ("columns", Argument::Value(call.columns)),
        ]);
        let mode = push.map_or(BatchMode::Sync, |push| push.batch_mode);
        self.answered(&around, "push", &passed, call.keys, |answering, value, heap| answering.pushed(mode, value, heap))
    }

    /// Calls `poll` for a job that `push` began with rows of these keys.
    ///
    /// # Errors
    /// What the function ended with, or what is wrong with its answer.
    pub fn poll(&self, job_ref: &HostValue, keys: &[String]) -> Result<PollAnswer, CallError> {
        let passed = [("job_ref", Argument::Value(job_ref))];
        self.answered(&self.surroundings(), "poll", &passed, keys, |answering, value, heap| {
            answering.polled(value, heap)
        })
    }

    /// Whether the file has the function `finalize`.
    pub fn has_finalize(&self) -> bool {
        self.lib().functions.contains_key("finalize")
    }

    /// Calls `finalize` after the last batch, with how many rows were delivered and how many were not. What it returns
    /// does not matter.
    ///
    /// # Errors
    /// What the function ended with.
    pub fn finalize(&self, succeeded: u64, failed: u64) -> Result<(), CallError> {
        let (succeeded, failed) = (HostValue::Int(succeeded.into()), HostValue::Int(failed.into()));
        let passed = [("succeeded", Argument::Value(&succeeded)), ("failed", Argument::Value(&failed))];
        self.answered(&self.surroundings(), "finalize", &passed, &[], |_, _, _| Ok(()))
    }

    /// Calls a function that answers for a batch.
    fn answered<T>(
        &self,
        around: &Surroundings,
        function: &str,
        passed: &[(&str, Argument<'_>)],
        keys: &[String],
        take: impl for<'v> FnOnce(&Answering<'_>, Value<'v>, Heap<'v>) -> Result<T, String>,
    ) -> Result<T, CallError> {
        let called = format!("{}.{function}()", self.lib().name);
        let answering = Answering { called: &called, keys, told: &|text| self.told(text) };
        match self.call_in(around, function, passed, |value, heap| take(&answering, value, heap)) {
            Ok(answer) => answer.map_err(|what| self.wrong(function, &what)),
            Err(CallError::Aborted) => {
                Err(self.wrong(function, "abort() was called, but what is committed cannot be aborted"))
            }
            Err(error) => Err(error),
        }
    }
}
