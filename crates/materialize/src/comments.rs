//! Descriptions become comments of the table, only where they differ (chapter 02 §3.5).

use std::collections::BTreeMap;

use engine::{Connection, EngineError, Value};
use model::ColumnDoc;
use types::{Column, Target, literal, quote};

/// Writes what differs and returns warnings about columns that do not exist.
pub(crate) fn write_comments(
    connection: &Connection,
    lake: &str,
    target: &Target,
    description: Option<&str>,
    docs: &[ColumnDoc],
    columns: &[Column],
) -> Result<Vec<String>, EngineError> {
    if description.is_none() && docs.is_empty() {
        return Ok(Vec::new());
    }
    let table = target.qualified(lake);
    let present = present_comments(connection, lake, target)?;
    let differs = |key: &str, text: &str| present.get(key).is_none_or(|known| known != text);
    if let Some(text) = description.filter(|text| differs("", text)) {
        connection.execute(&format!("COMMENT ON TABLE {table} IS {}", literal(text)))?;
    }
    let mut warnings = Vec::new();
    for doc in docs.iter().filter(|doc| !doc.description.is_empty()) {
        match columns.iter().find(|column| column.name.eq_ignore_ascii_case(&doc.name)) {
            None => warnings.push(format!("@column {}: the model has no such column", doc.name)),
            Some(column) if differs(&column.name.to_ascii_lowercase(), &doc.description) => {
                let name = quote(&column.name);
                connection.execute(&format!("COMMENT ON COLUMN {table}.{name} IS {}", literal(&doc.description)))?;
            }
            Some(_) => {}
        }
    }
    Ok(warnings)
}

/// Comments by lower-case column name; the table's own under the empty name.
fn present_comments(
    connection: &Connection,
    lake: &str,
    target: &Target,
) -> Result<BTreeMap<String, String>, EngineError> {
    let filter = format!(
        "database_name = {} AND schema_name = {} AND table_name = {} AND comment IS NOT NULL",
        literal(lake),
        literal(&target.schema),
        literal(&target.name)
    );
    let sql = format!(
        "SELECT '', comment FROM duckdb_tables() WHERE {filter} \
         UNION ALL SELECT lower(column_name), comment FROM duckdb_columns() WHERE {filter}"
    );
    let entry = |row: Vec<Value>| match &row[..] {
        [Value::Text(name), Value::Text(comment)] => Some((name.clone(), comment.clone())),
        _ => None,
    };
    Ok(connection.query(&sql)?.into_values().filter_map(entry).collect())
}
