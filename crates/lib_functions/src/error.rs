//! What can be wrong with a lib file, and go wrong in a function.

use types::{Code, Diagnose, Place, Rule};

/// What kind of error it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LibErrorKind {
    /// The file cannot be used as it is: it breaks this rule.
    File(Rule),
    /// The function failed: by `fail()`, by a fault of the script or of a builtin.
    Failed,
    /// The function was stopped, because the run was.
    Stopped,
}

/// An error of a lib file or of one of its functions.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub struct LibError {
    /// What kind.
    pub kind: LibErrorKind,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: String,
    /// Where.
    pub place: Option<Box<Place>>,
}

impl LibError {
    /// The run was stopped while a function waited.
    pub fn stopped(lib: &str) -> Self {
        let message = format!("{lib}: the run was stopped");
        Self { kind: LibErrorKind::Stopped, message, help: "run again".into(), place: None }
    }

    /// A file whose text is wrong.
    pub(crate) fn file(message: impl Into<String>, help: impl Into<String>, place: Option<Place>) -> Self {
        Self::breaking(Rule::InvalidApiDict, message, help, place)
    }

    pub(crate) fn breaking(
        rule: Rule,
        message: impl Into<String>,
        help: impl Into<String>,
        place: Option<Place>,
    ) -> Self {
        Self { kind: LibErrorKind::File(rule), message: message.into(), help: help.into(), place: place.map(Box::new) }
    }
}

impl Diagnose for LibError {
    fn code(&self) -> Code {
        match self.kind {
            LibErrorKind::File(_) => Code::LibFile,
            LibErrorKind::Failed => Code::LibFunction,
            LibErrorKind::Stopped => Code::Interrupted,
        }
    }

    fn help(&self) -> String {
        self.help.clone()
    }

    fn place(&self) -> Option<&Place> {
        self.place.as_deref()
    }
}
