//! Descriptions become comments of the table, only where they differ (chapter 02 §3.5).

use std::collections::BTreeMap;

use engine::{Connection, EngineError, Value};
use model::ColumnDoc;
use types::{Column, Target, literal, quote};

/// What comments are written from.
pub(crate) struct Comments<'a> {
    /// Alias of the lake.
    pub lake: &'a str,
    /// Database and schema of the lake's metadata, quoted.
    pub metadata: &'a str,
    /// The table.
    pub target: &'a Target,
    /// Whether the table or a column of it was made in this transaction, so that comments are missing.
    pub fresh: bool,
    /// The table's comment.
    pub description: Option<&'a str>,
    /// The columns' comments.
    pub docs: &'a [ColumnDoc],
}

/// Writes what differs and returns warnings about columns that do not exist.
pub(crate) fn write_comments(
    connection: &Connection,
    comments: &Comments<'_>,
    columns: &[Column],
) -> Result<Vec<String>, EngineError> {
    if comments.description.is_none() && comments.docs.is_empty() {
        return Ok(Vec::new());
    }
    let table = comments.target.qualified(comments.lake);
    let present = if comments.fresh { BTreeMap::new() } else { present_comments(connection, comments)? };
    let differs = |key: &str, text: &str| present.get(key).is_none_or(|known| known != text);
    if let Some(text) = comments.description.filter(|text| differs("", text)) {
        connection.execute(&format!("COMMENT ON TABLE {table} IS {}", literal(text)))?;
    }
    let mut warnings = Vec::new();
    for doc in comments.docs.iter().filter(|doc| !doc.description.is_empty()) {
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

/// Comments by lower-case column name; the table's own under the empty name. Read from the lake's own
/// tables: the engine's list of tables would look into every attached database.
fn present_comments(connection: &Connection, comments: &Comments<'_>) -> Result<BTreeMap<String, String>, EngineError> {
    let (metadata, target) = (comments.metadata, comments.target);
    let sql = format!(
        "WITH t AS (SELECT t.table_id FROM {metadata}.ducklake_table t JOIN {metadata}.ducklake_schema s USING (schema_id) \
         WHERE t.end_snapshot IS NULL AND s.end_snapshot IS NULL AND lower(table_name) = {} AND lower(schema_name) = {}) \
         SELECT '', value FROM {metadata}.ducklake_tag JOIN t ON object_id = table_id \
         WHERE key = 'comment' AND end_snapshot IS NULL AND value IS NOT NULL \
         UNION ALL SELECT lower(c.column_name), g.value FROM {metadata}.ducklake_column_tag g JOIN t USING (table_id) \
         JOIN {metadata}.ducklake_column c ON c.table_id = g.table_id AND c.column_id = g.column_id AND c.end_snapshot IS NULL \
         WHERE g.key = 'comment' AND g.end_snapshot IS NULL AND g.value IS NOT NULL",
        literal(&target.name.to_lowercase()),
        literal(&target.schema.to_lowercase())
    );
    let entry = |row: Vec<Value>| match &row[..] {
        [Value::Text(name), Value::Text(comment)] => Some((name.clone(), comment.clone())),
        _ => None,
    };
    Ok(connection.query(&sql)?.into_values().filter_map(entry).collect())
}
