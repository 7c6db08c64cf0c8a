//! How a fetch fails.

use std::time::Duration;

use engine::EngineError;
use lib_functions::LibError;
use state::StateError;
use types::{Code, Diagnose, Place};

/// An error of a fetch; nothing of it is in the lake.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The function failed.
    #[error(transparent)]
    Lib(#[from] LibError),
    /// The state, where rows are staged, failed.
    #[error(transparent)]
    State(#[from] StateError),
    /// A value is not of the declared type.
    #[error("page {page}, row {row}, {message}")]
    Value {
        /// The page, from 1.
        page: u64,
        /// The row in it, from 1.
        row: u64,
        /// Column, value and type, without secrets.
        message: String,
    },
    /// A page cannot be masked.
    #[error("a page cannot be masked: {}", .0.cleaned())]
    Mask(EngineError),
    /// The pages do not come to an end.
    #[error("{lib}: {message}")]
    Pages {
        /// The lib function.
        lib: String,
        /// What is wrong with the pages.
        message: String,
    },
    /// A job did not end in time.
    #[error("{lib}: the job timed out after {after:?} (poll_timeout)")]
    TimedOut {
        /// The lib function.
        lib: String,
        /// How long it was waited for.
        after: Duration,
    },
}

impl Diagnose for FetchError {
    fn code(&self) -> Code {
        match self {
            Self::Lib(error) => error.code(),
            Self::State(error) => error.code(),
            Self::Value { .. } => Code::FetchValue,
            Self::Mask(_) => Code::Mask,
            Self::Pages { .. } => Code::FetchPages,
            Self::TimedOut { .. } => Code::FetchTimeout,
        }
    }

    fn help(&self) -> String {
        match self {
            Self::Lib(error) => error.help(),
            Self::State(error) => error.help(),
            Self::Value { .. } => {
                "declare another type in the SELECT, or write TRY_CAST to make such values NULL".into()
            }
            Self::Mask(_) => {
                "correct the masking function, in config/macros/, or the tag of the @column directive".into()
            }
            Self::Pages { .. } => {
                "return another \"next\" with each page, and none with the last; or raise \"max_pages\"".into()
            }
            Self::TimedOut { .. } => "raise \"poll_timeout\" in API[\"fetch\"], or look at the job in the API".into(),
        }
    }

    fn place(&self) -> Option<&Place> {
        match self {
            Self::Lib(error) => error.place(),
            Self::State(error) => error.place(),
            _ => None,
        }
    }
}
