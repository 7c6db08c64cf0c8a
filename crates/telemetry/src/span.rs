//! Spans: each carries its own begin, end and parent, so that it does not matter which thread tells of it.

use std::time::SystemTime;

use crate::{SpanId, TraceId};

/// A piece of work that has ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Span {
    /// The trace that it belongs to.
    pub trace: TraceId,
    /// Its id.
    pub id: SpanId,
    /// What it is a part of.
    pub parent: Option<SpanId>,
    /// Whether that is a span of another process.
    pub is_parent_remote: bool,
    /// What it is called.
    pub name: String,
    /// When it began.
    pub started: SystemTime,
    /// When it ended.
    pub ended: SystemTime,
    /// What there is to know of it.
    pub attributes: Vec<(&'static str, Value)>,
    /// What happened in it.
    pub events: Vec<SpanEvent>,
    /// How it ended.
    pub outcome: Outcome,
}

/// Something that happened at a moment.
#[derive(Debug, Clone, PartialEq)]
pub struct SpanEvent {
    /// When.
    pub at: SystemTime,
    /// What.
    pub name: &'static str,
    /// What there is to know of it.
    pub attributes: Vec<(&'static str, Value)>,
}

/// The value of an attribute.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A text.
    Text(String),
    /// A number.
    Integer(i64),
    /// Yes or no.
    Bool(bool),
}

/// How a span ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Well.
    Ok,
    /// With an error; the text may be empty.
    Error(String),
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Integer(number)
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Self {
        Self::Integer(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl From<usize> for Value {
    fn from(number: usize) -> Self {
        Self::Integer(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}
