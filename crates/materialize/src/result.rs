//! The temporary table that holds a run's result (chapter 02 §0, step 3).

use engine::{Connection, EngineError, Value};
use model::{TokenKind, tokens};
use types::{Column, Target, quote};

use crate::MaterializeError;

/// A built result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelResult {
    /// The temporary table, qualified and quoted.
    pub table: String,
    /// Its columns.
    pub columns: Vec<Column>,
    /// Its rows.
    pub rows: i64,
}

/// Runs a model's SQL into its temporary table.
pub fn build_result(connection: &Connection, target: &Target, sql: &str) -> Result<ModelResult, MaterializeError> {
    let table = format!("temp.main.{}", quote(&target.temp_name()));
    let (before, after) = wrapping(sql);
    let prefix = format!("CREATE OR REPLACE TEMP TABLE {} AS\n{before}", quote(&target.temp_name()));
    connection.execute(&format!("{prefix}{sql}{after}")).map_err(|error| shift(error, prefix.len(), sql.len()))?;
    let columns = describe(connection, &table).map_err(MaterializeError::Write)?;
    let rows = connection.query_value(&format!("SELECT count(*) FROM {table}")).map_err(MaterializeError::Write)?;
    let result = ModelResult { table, columns, rows: rows.as_i64().unwrap_or(0) };
    check_types(connection, &result)?;
    Ok(result)
}

/// Drops the temporary table, if it is there.
pub fn drop_result(connection: &Connection, target: &Target) -> Result<(), EngineError> {
    connection.execute(&format!("DROP TABLE IF EXISTS temp.main.{}", quote(&target.temp_name())))
}

/// The columns of a table, in order.
pub(crate) fn describe(connection: &Connection, table: &str) -> Result<Vec<Column>, EngineError> {
    let rows = connection.query(&format!("SELECT column_name, column_type FROM (DESCRIBE {table})"))?;
    let column = |row: Vec<Value>| match &row[..] {
        [Value::Text(name), Value::Text(type_name)] => {
            Some(Column { name: name.clone(), type_name: type_name.clone() })
        }
        _ => None,
    };
    Ok(rows.into_values().filter_map(column).collect())
}

/// `SUMMARIZE`, `DESCRIBE` and `SHOW` stand only inside brackets; everything else may need to stand alone.
fn wrapping(sql: &str) -> (&'static str, &'static str) {
    let first = tokens(sql).into_iter().find(|token| token.kind == TokenKind::Word);
    let word = first.map(|token| sql[token.span].to_lowercase()).unwrap_or_default();
    // The line break keeps a comment at the end of the SQL from swallowing the bracket.
    if matches!(word.as_str(), "summarize" | "describe" | "show") { ("FROM (", "\n)") } else { ("", "") }
}

/// Makes an error's offset one of the model's SQL.
fn shift(error: EngineError, prefix: usize, len: usize) -> MaterializeError {
    MaterializeError::Query(match error {
        EngineError::Sql { class, message, offset } => {
            let offset = offset.and_then(|at| at.checked_sub(prefix)).filter(|&at| at <= len);
            EngineError::Sql { class, message, offset }
        }
        other => other,
    })
}

/// The type under which the lake stores a column: HUGEINT would silently become DOUBLE (engine facts), also
/// inside lists and structs.
pub(crate) fn stored_type(type_name: &str) -> String {
    let pieces = tokens(type_name);
    let mut stored = String::with_capacity(type_name.len());
    for (at, token) in pieces.iter().enumerate() {
        let text = &type_name[token.span.clone()];
        // A word that a blank follows is the name of a struct's field.
        let is_type =
            token.kind == TokenKind::Word && pieces.get(at + 1).is_none_or(|next| next.kind != TokenKind::Space);
        stored.push_str(if is_type && matches!(text, "HUGEINT" | "UHUGEINT") { "DECIMAL(38,0)" } else { text });
    }
    stored
}

fn check_types(connection: &Connection, result: &ModelResult) -> Result<(), MaterializeError> {
    for column in &result.columns {
        let unsupported = ["ENUM(", "UNION("].iter().any(|word| column.type_name.contains(word))
            || ["BIT", "BIGNUM"].contains(&column.type_name.as_str())
            || has_fixed_length(&column.type_name);
        if unsupported {
            let Column { name, type_name } = column.clone();
            return Err(MaterializeError::UnsupportedType { column: name, type_name });
        }
        if stored_type(&column.type_name) != column.type_name {
            check_fits(connection, result, column)?;
        }
    }
    Ok(())
}

/// `INTEGER[3]`, but not `INTEGER[]`.
fn has_fixed_length(type_name: &str) -> bool {
    type_name.split('[').skip(1).any(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

fn check_fits(connection: &Connection, result: &ModelResult, column: &Column) -> Result<(), MaterializeError> {
    let (name, stored) = (quote(&column.name), stored_type(&column.type_name));
    let sql = format!(
        "SELECT {name}::VARCHAR FROM {} WHERE {name} IS NOT NULL AND TRY_CAST({name} AS {stored}) IS NULL LIMIT 1",
        result.table
    );
    match connection.query_value(&sql).map_err(MaterializeError::Write)? {
        Value::Null => Ok(()),
        value => Err(MaterializeError::HugeValue {
            column: column.name.clone(),
            type_name: column.type_name.clone(),
            value: value.into_text().unwrap_or_default(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::{has_fixed_length, stored_type};

    #[test]
    fn huge_integers_are_stored_as_decimals_wherever_they_stand() {
        for (type_name, stored) in [
            ("HUGEINT", "DECIMAL(38,0)"),
            ("UHUGEINT[]", "DECIMAL(38,0)[]"),
            ("STRUCT(hugeint HUGEINT, \"HUGEINT\" INTEGER)", "STRUCT(hugeint DECIMAL(38,0), \"HUGEINT\" INTEGER)"),
            ("MAP(VARCHAR, HUGEINT)", "MAP(VARCHAR, DECIMAL(38,0))"),
            ("TIMESTAMP WITH TIME ZONE", "TIMESTAMP WITH TIME ZONE"),
        ] {
            assert_eq!(stored_type(type_name), stored);
        }
    }

    #[test]
    fn arrays_are_told_from_lists() {
        assert!(has_fixed_length("INTEGER[3]") && !has_fixed_length("INTEGER[][]"));
    }
}
