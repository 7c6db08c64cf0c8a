//! Errors of a model's statements, for the author of the model.

use materialize::{MaterializeError, output_place};
use types::{Code, Diagnose as _};

use crate::RunError;
use crate::execute::FetchedRows;
use crate::planning::PlannedModel;
use crate::reading::Source;

/// Rows that would be lost are told with the reason for which the table would be rebuilt.
pub(crate) fn with_cause(error: MaterializeError, source: &Source) -> MaterializeError {
    let reason = source.reason.as_ref().map(ToString::to_string);
    match (error, source.warning.clone().or(reason)) {
        (MaterializeError::RowsWouldBeDropped { rows, sample, append, .. }, Some(why)) => {
            MaterializeError::RowsWouldBeDropped { rows, sample, append, because: format!(" ({why})") }
        }
        (error, _) => error,
    }
}

/// A cursor that cannot be compared with what it starts from: the directive is where to mend it.
pub(crate) fn cursor_error(planned: &PlannedModel, error: &MaterializeError) -> Option<RunError> {
    let incremental = planned.model.incremental.as_ref()?;
    let message = error.cleaned();
    let is_of_cursor = message.contains("Could not convert") && message.contains(&format!("'{}'", incremental.initial));
    is_of_cursor.then(|| RunError::Refused {
        code: Code::Sql,
        message,
        help: "the cursor starts from `@incremental_initial`: give it a value of the column's type, for example \
               `-- @incremental_initial: 0`"
            .into(),
        place: Box::new(planned.model.place(incremental.column.span.clone())),
    })
}

/// What to do where a model that fetches cannot do what helps others: its SQL holds casts alone.
fn help_to_fetch(error: &MaterializeError) -> Option<String> {
    let elsewhere = "; or fetch into an append or table model, and write a model that reads it and";
    match error {
        MaterializeError::KeyRepeated { key, .. } => Some(format!(
            "keep one row for each `{key}` in the lib function{elsewhere} keeps one of them, for example with \
             QUALIFY row_number() OVER (PARTITION BY {key} ORDER BY …) = 1"
        )),
        MaterializeError::KeyNull { .. } => {
            Some(format!("leave these rows out in the lib function, or give them a key there{elsewhere} does it"))
        }
        MaterializeError::ValuesWouldBeDropped { column, .. } => Some(format!(
            "keep `{column}` in the model, as `{column}::TYPE AS {column}`: it is NULL where rows do not have it; or \
             rebuild the table with --full-refresh"
        )),
        _ => None,
    }
}

/// An error of a model's statements, at its place: one of the SQL only if the text is the model's own.
pub(crate) fn statement_error(
    planned: &PlannedModel,
    error: MaterializeError,
    own_text: bool,
    fetched: Option<&FetchedRows<'_>>,
) -> RunError {
    let column = |name: &str| fetched.and_then(|fetched| fetched.plan.query.column_offset(name));
    let of_sql = error.offset().filter(|_| own_text).map(|offset| planned.model.sql_place(offset));
    let place = of_sql.or_else(|| output_place(&planned.model, &error, column)).map(Box::new);
    match fetched.and_then(|_| help_to_fetch(&error)) {
        Some(help) => RunError::Refused {
            code: error.code(),
            message: error.cleaned(),
            help,
            place: place.unwrap_or_else(|| Box::new(planned.model.sql_place(0))),
        },
        None => RunError::Statement { error, place },
    }
}
