//! Makes a table hold exactly a result: what kind `table` does every time, and others when they are made or
//! rebuilt. A table is never made anew, so that its change feed goes on (chapter 02 §3.1).

use engine::{Connection, EngineError, identity};
use types::{Column, Target, quote};

use crate::evolution::Evolution;
use crate::hints::Hints;
use crate::result::{ModelResult, stored_expression};

/// Makes the table.
pub(crate) fn create(
    connection: &Connection,
    (lake, target): (&str, &Target),
    result: &ModelResult,
    hints: &Hints,
) -> Result<(), EngineError> {
    connection.execute(&format!("CREATE SCHEMA IF NOT EXISTS {}.{}", quote(lake), quote(&target.schema)))?;
    let table = target.qualified(lake);
    if hints.before.is_empty() {
        return connection.execute(&create_statement(&table, result));
    }
    connection.execute(&format!("{} LIMIT 0", create_statement(&table, result)))?;
    hints.before.iter().try_for_each(|statement| connection.execute(statement))?;
    connection.execute(&insert_statement(&table, result))
}

fn create_statement(table: &str, result: &ModelResult) -> String {
    format!("CREATE TABLE {table} AS SELECT {} FROM {}", select_list(&result.columns), result.table)
}

pub(crate) fn insert_statement(table: &str, result: &ModelResult) -> String {
    format!("INSERT INTO {table} BY NAME SELECT {} FROM {}", select_list(&result.columns), result.table)
}

/// Replaces all rows of the table, and its columns where they differ.
///
/// A refill with the rows that are already there writes nothing: downstream models then see no change and
/// skip, however the rows were obtained (decision 0005). Another layout is only had by writing.
pub(crate) fn refill(
    connection: &Connection,
    table: &str,
    evolution: &Evolution,
    result: &ModelResult,
    hints: &Hints,
) -> Result<(), EngineError> {
    let same_layout = hints.before.is_empty() && hints.after.is_empty();
    if same_layout && evolution.is_none() && holds_same_rows(connection, table, result)? {
        return Ok(());
    }
    let alterations = evolution.alterations(table);
    let rows = refill_statements(table, result);
    let statements = alterations.reshape.iter().chain(&hints.before).chain(&alterations.drop).chain(&rows);
    statements.chain(&hints.after).try_for_each(|statement| connection.execute(statement))
}

fn refill_statements(table: &str, result: &ModelResult) -> [String; 2] {
    [format!("TRUNCATE {table}"), insert_statement(table, result)]
}

/// Whether table and result are equal as multisets: as many rows, and none of the result's is missing.
fn holds_same_rows(connection: &Connection, table: &str, result: &ModelResult) -> Result<bool, EngineError> {
    let count = connection.query_value(&format!("SELECT count(*) FROM {table}"))?;
    if count.as_i64() != Some(result.rows) {
        return Ok(false);
    }
    if has_variant(result) {
        return Ok(false);
    }
    let identities: Vec<String> = result.columns.iter().map(|column| identity(column, &quote(&column.name))).collect();
    let identities = identities.join(", ");
    let sql = format!(
        "SELECT NOT EXISTS (SELECT {identities} FROM (SELECT {} FROM {}) EXCEPT ALL SELECT {identities} FROM {table})",
        select_list(&result.columns),
        result.table,
    );
    Ok(connection.query_value(&sql)?.as_bool() == Some(true))
}

/// Whether there is a VARIANT, of which nothing tells two values apart for certain: its text does not tell 1
/// from '1', and its type says so only on the outside.
pub(crate) fn has_variant(result: &ModelResult) -> bool {
    result.columns.iter().any(|column| column.type_name.contains("VARIANT"))
}

/// Aliases of a table's and a result's row in one statement: columns cannot be called so.
pub(crate) const OLD: &str = "__ondatra_t";
/// See [`OLD`].
pub(crate) const NEW: &str = "__ondatra_s";

/// The condition under which a column differs between the rows [`OLD`] and [`NEW`].
pub(crate) fn differs(column: &Column) -> String {
    let name = quote(&column.name);
    let (old, new) = (format!("{OLD}.{name}"), format!("{NEW}.{name}"));
    let is_null = format!("({old} IS NULL) IS DISTINCT FROM ({new} IS NULL)");
    let nested = match column.type_name.as_str() {
        // What is in it cannot be compared, so it counts as changed.
        "VARIANT" => format!(" OR regexp_matches(variant_typeof({new}), '^(OBJECT|ARRAY)')"),
        _ => String::new(),
    };
    format!("({is_null} OR {} IS DISTINCT FROM {}{nested})", identity(column, &old), identity(column, &new))
}

/// The result's columns as the lake stores them.
pub(crate) fn select_list(columns: &[Column]) -> String {
    columns.iter().map(stored_expression).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use types::Column;

    use super::{create_statement, refill_statements};
    use crate::ModelResult;

    #[test]
    fn the_sql_of_a_refill() {
        let columns = [("id", "BIGINT"), ("to\"tal", "HUGEINT")];
        let columns =
            columns.map(|(name, type_name)| Column { name: name.into(), type_name: type_name.into() }).to_vec();
        let result = ModelResult {
            name: "tmp_mart_order".into(),
            table: "temp.main.\"tmp_mart_order\"".into(),
            columns,
            rows: 0,
        };
        assert_eq!(
            create_statement("t", &result),
            r#"CREATE TABLE t AS SELECT "id", "to""tal"::DECIMAL(38,0) AS "to""tal" FROM temp.main."tmp_mart_order""#
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
