//! The output that a model that fetches declares: it is known as a whole before the first request.

use engine::{Connection, EngineError, EngineParser};
use fetch::Column;
use materialize::{Output, check_output};
use model::{Model, SyntaxTree};
use query::{DeclaredType, FetchColumn, FetchQuery};
use types::Code;

use crate::RunError;
use crate::places::output_place;
use crate::task::{kind_write, layout};

/// The columns with the types that the engine makes of what was declared.
pub(crate) fn declared_columns(
    connection: &Connection,
    model: &Model,
    query: &FetchQuery,
) -> Result<Vec<Column>, RunError> {
    let null = null_tree(connection)?;
    let tree = query.types_query(&null).ok_or_else(no_tree)?;
    let types = match described(connection, &tree) {
        Ok(types) => types,
        Err(error) if error.is_statement_fault() => return Err(unknown_type(connection, model, query, &null, error)),
        Err(error) => return Err(error.into()),
    };
    let column = |(column, sql_type): (&FetchColumn, String)| Column {
        source: column.source.clone(),
        alias: column.alias.clone(),
        declared: DeclaredType::parse(&sql_type),
        sql_type,
        is_try: column.is_try,
    };
    Ok(query.columns.iter().zip(types).map(column).collect())
}

/// The complete tree of `SELECT NULL`, of which statements are made.
pub(super) fn null_tree(connection: &Connection) -> Result<SyntaxTree, EngineError> {
    EngineParser(connection).complete_tree("SELECT NULL").map_err(|_| no_tree())
}

/// The engine writes trees in a way that is not known here.
pub(super) fn no_tree() -> EngineError {
    let message = "a statement cannot be made of the model's SQL".into();
    EngineError::Sql { class: String::new(), message, offset: None }
}

fn described(connection: &Connection, tree: &SyntaxTree) -> Result<Vec<String>, EngineError> {
    let statement = EngineParser(connection).statement(tree)?;
    let rows = connection.query(&format!("DESCRIBE {statement}"))?.into_values();
    Ok(rows.filter_map(|mut row| row.swap_remove(1).into_text()).collect())
}

/// The error of the column whose type the engine does not have, at its place.
fn unknown_type(
    connection: &Connection,
    model: &Model,
    query: &FetchQuery,
    null: &SyntaxTree,
    error: EngineError,
) -> RunError {
    let fault = |column: &FetchColumn| described(connection, &column.type_query(null)?).err();
    let found = query.columns.iter().find_map(|column| fault(column).map(|fault| (column, fault)));
    let (name, offset, cause) = match found {
        Some((column, cause)) => (format!("column \"{}\"", column.alias), column.offset, cause),
        None => ("a column".to_owned(), None, error),
    };
    RunError::Refused {
        code: Code::FetchSql,
        message: format!("the type of {name} cannot be used: {}", cause.cleaned()),
        help: "declare a type of DuckDB; one of an extension needs `-- @extension: name`".into(),
        place: Box::new(model.sql_place(offset.unwrap_or(0))),
    }
}

/// What writing would refuse whatever the rows are.
pub(crate) fn check_declared(model: &Model, query: &FetchQuery, columns: &[Column]) -> Result<(), RunError> {
    let column = |column: &Column| types::Column { name: column.alias.clone(), type_name: column.sql_type.clone() };
    let columns: Vec<types::Column> = columns.iter().map(column).collect();
    let kind = kind_write(model);
    let cursor = model.incremental.as_ref().map(|incremental| incremental.column.value.as_str());
    check_output(&Output { columns: &columns, kind: &kind, layout: layout(model), cursor }).map_err(|error| {
        let place = output_place(model, &error, |name| query.column_offset(name)).map(Box::new);
        RunError::Statement { error, place }
    })
}
