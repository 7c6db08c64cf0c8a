//! Kind `table`: replaced as a whole, but never made anew, so that its change feed goes on (chapter 02 §3.1).

use engine::{Connection, EngineError};
use model::ColumnDoc;
use types::{Column, Target, quote};

use crate::MaterializeError;
use crate::comments::{Comments, write_comments};
use crate::evolution::Evolution;
use crate::result::{ModelResult, describe, stored_expression, stored_type};

/// A result on its way into its table.
pub struct TableWrite<'a> {
    /// Alias of the lake.
    pub lake: &'a str,
    /// The table.
    pub target: &'a Target,
    /// Database and schema of the lake's metadata, quoted.
    pub metadata: &'a str,
    /// The result.
    pub result: &'a ModelResult,
    /// The table's comment.
    pub description: Option<&'a str>,
    /// The columns' comments.
    pub docs: &'a [ColumnDoc],
}

/// What a write did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Written {
    /// How the table's columns changed.
    pub evolution: Evolution,
    /// Texts for the user.
    pub warnings: Vec<String>,
}

/// Makes the table hold exactly the result.
///
/// A refill with the rows that are already there writes nothing: downstream models then see no change and
/// skip, however the rows were obtained (decision 0005).
pub fn write_table(connection: &Connection, write: &TableWrite<'_>) -> Result<Written, MaterializeError> {
    // Looked up inside the transaction: another tool may have made or dropped the table since planning.
    let present = existing_columns(connection, &write.target.qualified(write.lake)).map_err(MaterializeError::Write)?;
    let fresh_table = present.is_none();
    let mut written = match present {
        Some(columns) => refill(connection, write, &columns),
        None => create(connection, write),
    }
    .map_err(MaterializeError::Write)?;
    let comments = Comments {
        lake: write.lake,
        metadata: write.metadata,
        target: write.target,
        fresh: fresh_table || !written.evolution.is_none(),
        description: write.description,
        docs: write.docs,
    };
    let warnings = write_comments(connection, &comments, &write.result.columns);
    written.warnings.extend(warnings.map_err(MaterializeError::Write)?);
    Ok(written)
}

/// The columns of the table; `None` if there is no such table.
fn existing_columns(connection: &Connection, table: &str) -> Result<Option<Vec<Column>>, EngineError> {
    match describe(connection, table) {
        Ok(columns) => Ok(Some(columns)),
        Err(EngineError::Sql { class, message, .. })
            if class.starts_with("Catalog") && message.contains("does not exist") =>
        {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

fn create(connection: &Connection, write: &TableWrite<'_>) -> Result<Written, EngineError> {
    let (lake, schema) = (quote(write.lake), quote(&write.target.schema));
    connection.execute(&format!("CREATE SCHEMA IF NOT EXISTS {lake}.{schema}"))?;
    connection.execute(&create_statement(write))?;
    Ok(Written::default())
}

fn create_statement(write: &TableWrite<'_>) -> String {
    let table = write.target.qualified(write.lake);
    format!("CREATE TABLE {table} AS SELECT {} FROM {}", select_list(&write.result.columns), write.result.table)
}

fn refill(connection: &Connection, write: &TableWrite<'_>, present: &[Column]) -> Result<Written, EngineError> {
    let table = write.target.qualified(write.lake);
    let stored: Vec<Column> = write
        .result
        .columns
        .iter()
        .map(|column| Column { name: column.name.clone(), type_name: stored_type(&column.type_name) })
        .collect();
    let evolution = Evolution::between(present, &stored);
    if evolution.is_none() && holds_same_rows(connection, &table, write.result)? {
        return Ok(Written::default());
    }
    for statement in evolution.statements(&table) {
        connection.execute(&statement)?;
    }
    for statement in refill_statements(&table, write.result) {
        connection.execute(&statement)?;
    }
    let warnings = evolution.warning().into_iter().collect();
    Ok(Written { evolution, warnings })
}

fn refill_statements(table: &str, result: &ModelResult) -> [String; 2] {
    [
        format!("TRUNCATE {table}"),
        format!("INSERT INTO {table} BY NAME SELECT {} FROM {}", select_list(&result.columns), result.table),
    ]
}

/// Whether table and result are equal as multisets: as many rows, and none of the result's is missing.
fn holds_same_rows(connection: &Connection, table: &str, result: &ModelResult) -> Result<bool, EngineError> {
    let count = connection.query_value(&format!("SELECT count(*) FROM {table}"))?;
    if count.as_i64() != Some(result.rows) {
        return Ok(false);
    }
    // The text of a VARIANT does not tell 1 from '1', and nothing else does it exactly.
    if result.columns.iter().any(|column| column.type_name.contains("VARIANT")) {
        return Ok(false);
    }
    let collation = connection.query_value("SELECT current_setting('default_collation')")?;
    let collated = collation.as_text().is_some_and(|name| !name.is_empty());
    let identities: Vec<String> = result.columns.iter().map(|column| identity(column, collated)).collect();
    let identities = identities.join(", ");
    let sql = format!(
        "SELECT NOT EXISTS (SELECT {identities} FROM (SELECT {} FROM {}) EXCEPT ALL SELECT {identities} FROM {table})",
        select_list(&result.columns),
        result.table,
    );
    Ok(connection.query_value(&sql)?.as_bool() == Some(true))
}

/// What tells a column's values apart. SQL's equality does not always: 0.0 equals -0.0, a month equals 30
/// days, and under a collation 'abc' may equal 'ABC'.
fn identity(column: &Column, collated: bool) -> String {
    let name = quote(&column.name);
    match column.type_name.as_str() {
        "FLOAT" | "DOUBLE" => format!("{name}, signbit({name})"),
        "VARCHAR" | "JSON" if collated => format!("encode({name}::VARCHAR)"),
        "INTERVAL" => format!("{name}::VARCHAR"),
        nested if nested.contains(['(', '[']) && !nested.starts_with("DECIMAL") => format!("encode({name}::VARCHAR)"),
        _ => name,
    }
}

/// The result's columns as the lake stores them.
fn select_list(columns: &[Column]) -> String {
    columns.iter().map(stored_expression).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use types::{Column, Target};

    use super::{TableWrite, create_statement, refill_statements};
    use crate::ModelResult;

    #[test]
    fn the_sql_of_kind_table() {
        let target = Target::new("mart", "order");
        let columns = [("id", "BIGINT"), ("to\"tal", "HUGEINT")];
        let columns =
            columns.map(|(name, type_name)| Column { name: name.into(), type_name: type_name.into() }).to_vec();
        let result = ModelResult { table: "temp.main.\"tmp_mart_order\"".into(), columns, rows: 0 };
        let write =
            TableWrite { lake: "lake", target: &target, metadata: "m", result: &result, description: None, docs: &[] };
        assert_eq!(
            create_statement(&write),
            r#"CREATE TABLE "lake"."mart"."order" AS SELECT "id", "to""tal"::DECIMAL(38,0) AS "to""tal" FROM temp.main."tmp_mart_order""#
        );
        assert_eq!(
            refill_statements("t", &result),
            [
                "TRUNCATE t",
                r#"INSERT INTO t BY NAME SELECT "id", "to""tal"::DECIMAL(38,0) AS "to""tal" FROM temp.main."tmp_mart_order""#
            ]
        );
    }
}
