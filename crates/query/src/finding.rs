//! What is wrong with the SQL of a model: the rule, the place, the message, the way out.

use std::fmt;

use types::Rule;

/// One broken rule of a model's SQL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SqlFinding {
    /// The rule.
    pub rule: Rule,
    /// What is wrong.
    pub message: String,
    /// What to do next.
    pub help: String,
    /// Byte of the model's SQL, where it is known.
    pub offset: Option<usize>,
}

impl SqlFinding {
    pub(crate) fn new(rule: Rule, offset: Option<usize>, message: impl Into<String>, help: &str) -> Self {
        Self { rule, message: message.into(), help: help.to_owned(), offset }
    }
}

impl fmt::Display for SqlFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}
