//! The output that a model that fetches declares: it is known as a whole before the first request.

use fetch::Column;
use model::Model;
use query::{DeclaredType, FetchColumn, FetchQuery};
use validate::{DeclaredFault, DeclaredTypes};

use crate::RunError;

/// The columns with the types that the engine makes of what was declared.
pub(crate) fn declared_columns(
    types: &mut DeclaredTypes<'_>,
    model: &Model,
    query: &FetchQuery,
) -> Result<Vec<Column>, RunError> {
    let types = types.of(model, query)?;
    let column = |(column, sql_type): (&FetchColumn, String)| Column {
        source: column.source.clone(),
        alias: column.alias.clone(),
        declared: DeclaredType::parse(&sql_type),
        sql_type,
        is_try: column.is_try,
        is_masked: false,
    };
    Ok(query.columns.iter().zip(types).map(column).collect())
}

impl From<DeclaredFault> for RunError {
    fn from(fault: DeclaredFault) -> Self {
        match fault {
            DeclaredFault::Type(finding) => Self::refused(&finding),
            DeclaredFault::Output(error, place) => Self::Statement { error, place: place.map(Box::new) },
            DeclaredFault::Engine(error) => error.into(),
        }
    }
}
