//! What a check of `doctor` found.

use types::Diagnose;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    Ok,
    /// Runs work, but somebody should look.
    Warning,
    /// Runs fail.
    Error,
}

impl Level {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// A finding with its remedy.
pub(super) struct Finding {
    pub check: &'static str,
    pub level: Level,
    pub message: String,
    /// What to do; `None` where nothing is amiss.
    pub remedy: Option<String>,
}

impl Finding {
    pub(super) fn ok(check: &'static str, message: impl Into<String>) -> Self {
        Self { check, level: Level::Ok, message: message.into(), remedy: None }
    }

    pub(super) fn warning(check: &'static str, message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { check, level: Level::Warning, message: message.into(), remedy: Some(remedy.into()) }
    }

    pub(super) fn error(check: &'static str, message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { check, level: Level::Error, message: message.into(), remedy: Some(remedy.into()) }
    }

    /// What a run would fail with.
    pub(super) fn of_error(check: &'static str, error: &(impl Diagnose + ?Sized)) -> Self {
        Self::error(check, format!("{error} [{}]", error.code()), error.help())
    }

    /// The same with other texts.
    pub(super) fn map(self, text: impl Fn(&str) -> String) -> Self {
        let (message, remedy) = (text(&self.message), self.remedy.as_deref().map(&text));
        Self { message, remedy, ..self }
    }
}
