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
    /// A key column is not in the output.
    #[error("{directive} column \"{key}\" is not in the model output (available columns: {})", available.join(", "))]
    KeyMissing {
        /// The directive that names it.
        directive: &'static str,
        /// The column.
        key: String,
        /// The output's columns.
        available: Vec<String>,
    },
    /// A key column is NULL somewhere.
    #[error("{rows} row(s) have NULL in {} column(s) [{}] — {} must not be NULL", directive.trim_start_matches('@'), keys.join(", "), if *directive == "@unique_key" { "unique keys" } else { "group keys" })]
    KeyNull {
        /// Rows.
        rows: i64,
        /// The directive that names them.
        directive: &'static str,
        /// The columns.
        keys: Vec<String>,
    },
    /// A masked column is not in the output, or more than once: then the others would stay in clear.
    #[error("the masked column `{column}` is {} (available columns: {})", if *twice { "in the model output more than once" } else { "not in the model output" }, available.join(", "))]
    MaskedColumn {
        /// The column.
        column: String,
        /// Whether it is there more than once.
        twice: bool,
        /// The output's columns.
        available: Vec<String>,
    },
    /// A column cannot be masked.
    #[error("column `{column}` cannot be masked with {function}: {}", error.unsuggested())]
    Mask {
        /// The column.
        column: String,
        /// The function.
        function: String,
        /// The engine's answer.
        error: EngineError,
    },
    /// The table holds a column in clear that is masked from now on, and cannot be masked where it is.
    #[error("the table holds column `{column}` in clear as {present}, and masked it is {masked}")]
    MaskedType {
        /// The column.
        column: String,
        /// Its type in the table.
        present: String,
        /// Its type when masked.
        masked: String,
    },
    /// A unique key repeats.
    #[error("{values} unique_key value(s) occur more than once in column {key}: {}", sample.join(", "))]
    KeyRepeated {
        /// Values that repeat.
        values: i64,
        /// The column.
        key: String,
        /// Some of the values.
        sample: Vec<String>,
    },
    /// A rebuild would lose rows that no query gives again.
    #[error("{rows} rows would be dropped by a rebuild{because}, for example: {}", sample.join("; "))]
    RowsWouldBeDropped {
        /// Rows.
        rows: i64,
        /// Why the table would be rebuilt, in brackets behind a blank; empty where the reason of the run says it.
        because: String,
        /// Whether the model is an `append`, which can go on without a rebuild.
        append: bool,
        /// Some of them.
        sample: Vec<String>,
    },
    /// Rows are to be kept, but not the values of a column.
    #[error("column `{column}`: {rows} values would be lost, {how}")]
    ValuesWouldBeDropped {
        /// Column of the table.
        column: String,
        /// Values that are not NULL.
        rows: i64,
        /// What would become of them.
        how: String,
    },
    /// A partition that cannot be made from its column's type.
    #[error("@partitioned_by {term}: the column is {type_name}")]
    PartitionType {
        /// The term as written.
        term: String,
        /// Its column.
        column: String,
        /// The column's type.
        type_name: String,
    },
    /// The table has to be made as a whole, and the result is only a part: the caller runs the whole query.
    #[error("the whole table has to be written")]
    NeedsWhole,
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

    /// The same without what the engine may tell of a value, and without columns that do not stand in the model's
    /// `sql` ([`EngineError::without_values`]).
    #[must_use]
    pub fn without_values(self, sql: &str) -> Self {
        match self {
            Self::Query(error) => Self::Query(error.without_values(sql)),
            Self::Write(error) => Self::Write(error.without_values(sql)),
            Self::Mask { column, function, error } => Self::Mask { column, function, error: error.without_values(sql) },
            Self::MaskedColumn { column, twice, available } => {
                Self::MaskedColumn { column, twice, available: named_in(sql, available) }
            }
            Self::KeyMissing { directive, key, available } => {
                Self::KeyMissing { directive, key, available: named_in(sql, available) }
            }
            other => other,
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

/// The columns that the text names, and `…` for the others.
fn named_in(sql: &str, columns: Vec<String>) -> Vec<String> {
    let sql = sql.to_lowercase();
    let (mut named, others): (Vec<String>, Vec<String>) =
        columns.into_iter().partition(|column| sql.contains(&column.to_lowercase()));
    named.extend((!others.is_empty()).then(|| "…".to_owned()));
    named
}

impl Diagnose for MaterializeError {
    fn code(&self) -> Code {
        match self {
            Self::Query(error) | Self::Write(error) => error.code(),
            Self::MaskedColumn { .. } | Self::Mask { .. } => Code::Mask,
            Self::KeyMissing { .. } | Self::KeyNull { .. } | Self::KeyRepeated { .. } => Code::Key,
            Self::RowsWouldBeDropped { .. } | Self::ValuesWouldBeDropped { .. } | Self::MaskedType { .. } => {
                Code::RowsWouldBeDropped
            }
            Self::Inexact { .. } | Self::UnsupportedType { .. } | Self::ReservedColumn { .. } | Self::NeedsWhole => {
                Code::Sql
            }
            Self::PartitionType { .. } => Code::DirectiveValue,
        }
    }

    fn help(&self) -> String {
        match self {
            Self::Query(error) | Self::Write(error) => error.help(),
            Self::KeyMissing { key, .. } => format!("select `{key}` in the model, or name another column"),
            Self::MaskedColumn { column, twice: false, .. } => {
                format!("select `{column}` in the model, or take the tag out of its @column directive")
            }
            Self::MaskedColumn { column, .. } => {
                format!("select `{column}` once, and give the others names of their own, each with its own tag")
            }
            Self::Mask { function, .. } => format!(
                "name a masking function that takes the column's values: mask_email, mask_ssn, hash_pii, redact, or a \
                 macro of your own, `CREATE OR REPLACE MACRO {function}(v) AS …` in config/macros/"
            ),
            Self::MaskedType { .. } => "rebuild the table: run the model with --full-refresh".into(),
            Self::KeyNull { .. } => {
                "filter these rows out in the model, or give the key a value with coalesce()".into()
            }
            Self::KeyRepeated { key, .. } => format!(
                "keep one row for each `{key}` in the model, for example QUALIFY row_number() OVER (PARTITION BY {key} ORDER BY …) = 1"
            ),
            Self::RowsWouldBeDropped { append: true, .. } => {
                "run the model with --keep: every row stays, and what is new since its last run is added, as far as \
                 that can be told; or with --full-refresh: the table is rebuilt, and these rows are lost"
                    .into()
            }
            Self::RowsWouldBeDropped { .. } => {
                "to rebuild the table all the same and lose them: run the model with --full-refresh".into()
            }
            Self::ValuesWouldBeDropped { column, .. } => format!(
                "keep `{column}` in the model, for example as `NULL AS {column}`; or rebuild the table with --full-refresh"
            ),
            Self::PartitionType { .. } => {
                "year, month and day need a date or a timestamp, hour a timestamp: cast the column in the model".into()
            }
            Self::NeedsWhole => "run the model again".into(),
            Self::ReservedColumn { column } => format!("give `{column}` another name in the model"),
            Self::Inexact { column, .. } => {
                format!("cast `{column}` in the model to a type that holds it, for example VARCHAR")
            }
            Self::UnsupportedType { column, .. } => format!(
                "cast `{column}` in the model: VARCHAR in place of ENUM, UNION, BIT, BIGNUM, TIME_NS and nested intervals, \
                 JSON in place of a nested VARIANT, a list T[] in place of an array T[n]"
            ),
        }
    }
}
