//! What can be wrong with a lib file, and go wrong in a function.

use types::{Code, Diagnose, Place};

/// What kind of error it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LibErrorKind {
    /// The file cannot be used as it is.
    File,
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

    pub(crate) fn file(message: impl Into<String>, help: impl Into<String>, place: Option<Place>) -> Self {
        Self { kind: LibErrorKind::File, message: message.into(), help: help.into(), place: place.map(Box::new) }
    }
}

impl Diagnose for LibError {
    fn code(&self) -> Code {
        match self.kind {
            LibErrorKind::File => Code::LibFile,
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
