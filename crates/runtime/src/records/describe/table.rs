//! What the lake's catalog tells of a model's table: its columns, comments and files.

use std::collections::BTreeMap;

use engine::Value;
use types::{Target, literal, quote};

use super::super::commits::{Moment, moment_columns};
use super::{DescribedColumn, Description};
use crate::{RunError, Session};

/// Adds what is known of the table; nothing if there is none.
pub(super) fn read(session: &Session, target: &Target, description: &mut Description) -> Result<(), RunError> {
    let metadata = &session.metadata;
    let sql = format!(
        "SELECT t.table_id, s.schema_name, t.table_name, {}, \
         (SELECT coalesce(sum(file_size_bytes), 0)::BIGINT FROM {metadata}.ducklake_data_file f \
          WHERE f.table_id = t.table_id AND f.end_snapshot IS NULL), \
         (SELECT max(value) FROM {metadata}.ducklake_tag g \
          WHERE g.object_id = t.table_id AND g.end_snapshot IS NULL AND g.key = 'comment') \
         FROM {metadata}.ducklake_table t JOIN {metadata}.ducklake_schema s USING (schema_id) \
         LEFT JOIN {metadata}.ducklake_snapshot p ON p.snapshot_id = t.begin_snapshot \
         WHERE t.end_snapshot IS NULL AND s.end_snapshot IS NULL \
         AND lower(s.schema_name) = {} AND lower(t.table_name) = {}",
        moment_columns("p.snapshot_time::TIMESTAMPTZ"),
        literal(&target.schema.to_lowercase()),
        literal(&target.name.to_lowercase())
    );
    let Some(row) = session.connection.query(&sql)?.into_values().next() else {
        description.gather_warnings.push("its table is gone: the columns are those of the last result".into());
        return Ok(());
    };
    let [Value::Int(id), Value::Text(schema), Value::Text(name), micros, local, bytes, comment] = &row[..] else {
        return Ok(());
    };
    description.created = Moment::read(micros, local);
    description.table_bytes = bytes.as_i64().and_then(|bytes| u64::try_from(bytes).ok());
    description.description = comment.as_text().map(str::to_owned);
    let mut comments = column_comments(session, *id)?;
    let described = session.connection.query(&format!(
        "DESCRIBE {}.{}",
        quote(&session.lake),
        Target::new(schema.as_str(), name.as_str()).quoted()
    ))?;
    let told = std::mem::take(&mut description.columns);
    for row in described.into_values() {
        let [Value::Text(name), Value::Text(type_name), nullable, ..] = &row[..] else { continue };
        let known = told.iter().find(|column| column.name.eq_ignore_ascii_case(name));
        if let Some(wide) = known.filter(|known| known.type_name == "HUGEINT" && known.type_name != *type_name) {
            let what = &wide.type_name;
            description
                .gather_warnings
                .push(format!("column {name} is {what} in the query and {type_name} in the lake"));
        }
        description.columns.push(DescribedColumn {
            name: name.clone(),
            type_name: type_name.clone(),
            is_nullable: nullable.as_text().map(|word| word == "YES"),
            constraint: known.and_then(|known| known.constraint.clone()),
            description: comments.remove(name),
        });
    }
    Ok(())
}

/// Comments of a table's columns, by name.
fn column_comments(session: &Session, table: i128) -> Result<BTreeMap<String, String>, RunError> {
    let sql = format!(
        "SELECT c.column_name, g.value FROM {metadata}.ducklake_column c \
         JOIN {metadata}.ducklake_column_tag g ON g.table_id = c.table_id AND g.column_id = c.column_id \
         WHERE c.table_id = {table} AND c.end_snapshot IS NULL AND g.end_snapshot IS NULL \
         AND c.parent_column IS NULL AND g.key = 'comment'",
        metadata = session.metadata
    );
    let rows = session.connection.query(&sql)?.into_values();
    Ok(rows
        .filter_map(|row| match &row[..] {
            [Value::Text(name), Value::Text(comment)] => Some((name.clone(), comment.clone())),
            _ => None,
        })
        .collect())
}
