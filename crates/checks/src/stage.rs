//! The three stages in which checks run (chapter 01 §4.1).

use std::fmt;

/// When checks run, and what a finding of theirs means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// On the rows of the run, before the write.
    Constraint,
    /// On the whole table, inside the transaction that wrote it.
    Audit,
    /// On the whole table, after the commit; nothing is undone.
    Warning,
}

impl Stage {
    /// All, in the order in which they run.
    pub const ALL: [Self; 3] = [Self::Constraint, Self::Audit, Self::Warning];

    /// The word of directives, macro names and messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Constraint => "constraint",
            Self::Audit => "audit",
            Self::Warning => "warning",
        }
    }

    /// The name of the macro behind check `name`.
    pub fn macro_name(self, name: &str) -> String {
        format!("ondatra_{self}_{name}")
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
