//! What is wrong with a model file: the rule, the place, the message, the way out.

use std::fmt;

use types::{Code, Diagnose, Place, Rule};

/// One broken rule at one place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The rule.
    pub rule: Rule,
    /// Where; the file alone when the whole file is meant.
    pub place: Place,
    message: String,
    help: String,
}

impl Finding {
    /// A finding with its message and the next action.
    pub fn new(rule: Rule, place: Place, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { rule, place, message: message.into(), help: help.into() }
    }

    /// What is wrong, without the file.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "parse {}: {}", self.place.file().display(), self.message)
    }
}

impl std::error::Error for Finding {}

impl Diagnose for Finding {
    fn code(&self) -> Code {
        self.rule.code()
    }

    fn help(&self) -> String {
        self.help.clone()
    }

    fn place(&self) -> Option<&Place> {
        Some(&self.place)
    }
}
