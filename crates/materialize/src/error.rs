//! Why a result could not be written.

use engine::EngineError;
use types::{Code, Diagnose};

/// An error while a model's result is built or written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MaterializeError {
    /// The model's own SQL was refused; an offset is a byte of that SQL.
    #[error(transparent)]
    Query(EngineError),
    /// A statement of the runtime's was refused.
    #[error(transparent)]
    Write(EngineError),
    /// A value that the lake cannot hold exactly.
    #[error("column `{column}` is {type_name}, which the lake stores as {stored}: value {value} does not fit")]
    Inexact {
        /// Output column.
        column: String,
        /// Its type.
        type_name: String,
        /// What the lake stores.
        stored: String,
        /// The first value that does not fit.
        value: String,
    },
    /// A column whose name belongs to the runtime.
    #[error("column `{column}`: names that begin with `__ondatra_` are reserved for the runtime")]
    ReservedColumn {
        /// Output column.
        column: String,
    },
    /// A type that the lake has no form for.
    #[error("column `{column}` has type {type_name}, which the lake cannot store")]
    UnsupportedType {
        /// Output column.
        column: String,
        /// Its type.
        type_name: String,
    },
}

impl MaterializeError {
    /// Whether the same transaction may succeed when run again.
    pub fn is_conflict(&self) -> bool {
        matches!(self, Self::Query(error) | Self::Write(error) if error.is_conflict())
    }

    /// Byte of the model's SQL at which the engine failed.
    pub fn offset(&self) -> Option<usize> {
        match self {
            Self::Query(error) => error.offset(),
            _ => None,
        }
    }

    /// The text for the output, without class prefixes and excerpts.
    pub fn cleaned(&self) -> String {
        match self {
            Self::Query(error) | Self::Write(error) => error.cleaned(),
            other => other.to_string(),
        }
    }
}

impl Diagnose for MaterializeError {
    fn code(&self) -> Code {
        match self {
            Self::Query(error) | Self::Write(error) => error.code(),
            Self::Inexact { .. } | Self::UnsupportedType { .. } | Self::ReservedColumn { .. } => Code::Sql,
        }
    }

    fn help(&self) -> String {
        match self {
            Self::Query(error) | Self::Write(error) => error.help(),
            Self::ReservedColumn { column } => format!("give `{column}` another name in the model"),
            Self::Inexact { column, .. } => {
                format!("cast `{column}` in the model to a type that holds it, for example VARCHAR")
            }
            Self::UnsupportedType { column, .. } => format!(
                "cast `{column}` in the model: VARCHAR in place of ENUM, UNION, BIT, BIGNUM, TIME_NS and nested intervals, \
                 a list T[] in place of an array T[n]"
            ),
        }
    }
}
