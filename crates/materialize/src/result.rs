//! The temporary table that holds a run's result (chapter 02 §0, step 3).

use engine::{Connection, EngineError, Value};
use model::{Mask, TokenKind, tokens};
use types::{Column, Target, quote};

use crate::MaterializeError;
use crate::masking::Masked;
use crate::output::check_storable;

/// A built result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelResult {
    /// Name of the temporary table that it was built in, and begin of the names of others beside it.
    pub name: String,
    /// The table that holds it, qualified and quoted.
    pub table: String,
    /// Its columns.
    pub columns: Vec<Column>,
    /// Its rows.
    pub rows: i64,
}

impl ModelResult {
    /// The columns as the lake stores them.
    pub(crate) fn stored_columns(&self) -> Vec<Column> {
        let stored = |column: &Column| Column { name: column.name.clone(), type_name: stored_type(&column.type_name) };
        self.columns.iter().map(stored).collect()
    }

    /// Without the columns whose names belong to the runtime.
    pub(crate) fn without(&self, names: &[&str]) -> Self {
        let own = |column: &&Column| !names.iter().any(|name| column.name.eq_ignore_ascii_case(name));
        Self { columns: self.columns.iter().filter(own).cloned().collect(), ..self.clone() }
    }

    /// With columns added by `source`, as a temporary table of its own.
    pub(crate) fn extended(
        &self,
        connection: &Connection,
        source: &str,
        added: &[Column],
    ) -> Result<Self, EngineError> {
        let name = self.beside("written");
        connection.execute(&format!("CREATE OR REPLACE TEMP TABLE {} AS {source}", quote(&name)))?;
        let columns = self.columns.iter().chain(added).cloned().collect();
        Ok(Self { table: temp_table(&name), name, columns, rows: self.rows })
    }

    /// Name of a further temporary table of this run; [`drop_result`] drops it.
    pub(crate) fn beside(&self, what: &str) -> String {
        format!("{}_{what}", self.name)
    }
}

/// What a run may keep beside its result.
const BESIDE: [&str; 2] = ["written", "keys"];

/// A temporary table, qualified and quoted.
pub(crate) fn temp_table(name: &str) -> String {
    format!("temp.main.{}", quote(name))
}

/// Which rows of a query a result holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResultRows {
    /// All.
    All,
    /// None: only names and types count.
    None,
    /// All, and they are there: the SQL is the name of the table that holds them, and that somebody else drops.
    Ready,
}

/// Runs a model's SQL into its temporary table. What `masks` name is masked in the same statement, so that nothing else
/// is ever kept of it; where the rows are ready, they are masked already.
pub fn build_result(
    connection: &Connection,
    target: &Target,
    sql: &str,
    rows: ResultRows,
    masks: &[Mask],
) -> Result<ModelResult, MaterializeError> {
    let name = target.temp_name();
    let table = if rows == ResultRows::Ready {
        sql.to_owned()
    } else {
        build_into(connection, &format!("TEMP TABLE {}", quote(&name)), sql, rows, masks)?;
        temp_table(&name)
    };
    let columns = describe(connection, &table).map_err(MaterializeError::Write)?;
    let rows = connection.query_value(&format!("SELECT count(*) FROM {table}")).map_err(MaterializeError::Write)?;
    let rows = rows.as_i64().ok_or_else(|| {
        MaterializeError::Write(EngineError::Sql {
            class: String::new(),
            message: "the result has no row count".into(),
            offset: None,
        })
    })?;
    let result = ModelResult { name, table, columns, rows };
    check_storable(&result.columns)?;
    check_exact(connection, &result)?;
    Ok(result)
}

/// Runs a model's SQL into `table`, which other connections see once the transaction is committed; [`build_result`] makes
/// a result of it there, as of rows that are ready.
pub fn build_shared(
    connection: &Connection,
    table: &str,
    sql: &str,
    rows: ResultRows,
    masks: &[Mask],
) -> Result<(), MaterializeError> {
    build_into(connection, &format!("TABLE {table}"), sql, rows, masks)
}

fn build_into(
    connection: &Connection,
    place: &str,
    sql: &str,
    rows: ResultRows,
    masks: &[Mask],
) -> Result<(), MaterializeError> {
    let is_empty = rows == ResultRows::None;
    if masks.is_empty() {
        let around = if is_empty { ("FROM (", "\n) LIMIT 0") } else { wrapping(sql) };
        return build_table(connection, place, sql, around);
    }
    let masked = Masked::read(connection, sql, masks)?;
    let end = if is_empty { "\n) LIMIT 0" } else { "\n)" };
    build_table(connection, place, sql, (&masked.select(), end)).map_err(|error| masked.explained(connection, error))
}

fn build_table(
    connection: &Connection,
    place: &str,
    sql: &str,
    (before, after): (&str, &str),
) -> Result<(), MaterializeError> {
    let prefix = format!("CREATE OR REPLACE {place} AS\n{before}");
    connection.execute(&format!("{prefix}{sql}{after}")).map_err(|error| shift(error, prefix.len(), sql.len()))
}

/// Drops the temporary tables of a model's run, if they are there.
pub fn drop_result(connection: &Connection, target: &Target) -> Result<(), EngineError> {
    let name = target.temp_name();
    let beside = BESIDE.iter().map(|what| format!("{name}_{what}"));
    let mut tables = beside.chain([name.clone()]);
    tables.try_for_each(|table| connection.execute(&format!("DROP TABLE IF EXISTS {}", temp_table(&table))))
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
    // The line break keeps a comment at the end of the SQL from swallowing the bracket.
    if matches!(first_word(sql).as_str(), "summarize" | "describe" | "show") { ("FROM (", "\n)") } else { ("", "") }
}

/// The first word of a statement, in lower case.
pub(crate) fn first_word(sql: &str) -> String {
    let first = tokens(sql).into_iter().find(|token| token.kind == TokenKind::Word);
    first.map(|token| sql[token.span].to_lowercase()).unwrap_or_default()
}

/// Makes an error's offset one of the model's SQL.
pub(crate) fn shift(error: EngineError, prefix: usize, len: usize) -> MaterializeError {
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
    let mut stored = String::with_capacity(type_name.len());
    for (text, is_type) in type_words(type_name) {
        stored.push_str(if is_type && matches!(text, "HUGEINT" | "UHUGEINT") { "DECIMAL(38,0)" } else { text });
    }
    stored
}

/// The expression that gives a column of the result as the lake stores it.
pub(crate) fn stored_expression(column: &Column) -> String {
    let (name, stored) = (quote(&column.name), stored_type(&column.type_name));
    if column.type_name == "TIME WITH TIME ZONE" {
        // The lake keeps the instant and gives it back in UTC.
        return format!("timezone('UTC', {name}) AS {name}");
    }
    if stored == column.type_name { name } else { format!("{name}::{stored} AS {name}") }
}

/// The pieces of a type's name, and whether each is the name of a type.
pub(crate) fn type_words(type_name: &str) -> Vec<(&str, bool)> {
    let pieces = tokens(type_name);
    let words = pieces.iter().enumerate().map(|(at, token)| {
        let text = &type_name[token.span.clone()];
        // A word before another word is the name of a struct's field, but for the types of two words.
        let next_word = pieces.get(at + 2).map(|token| &type_name[token.span.clone()]);
        let is_field =
            pieces.get(at + 1).is_some_and(|next| next.kind == TokenKind::Space) && next_word != Some("WITH");
        (text, token.kind == TokenKind::Word && !is_field)
    });
    words.collect()
}

/// Refuses values that the lake would store as something else.
fn check_exact(connection: &Connection, result: &ModelResult) -> Result<(), MaterializeError> {
    for column in &result.columns {
        let type_name = &column.type_name;
        let name = quote(&column.name);
        let stored = stored_type(type_name);
        if stored != *type_name {
            let lost = format!("{name} IS NOT NULL AND TRY_CAST({name} AS {stored}) IS NULL");
            check_fits(connection, result, column, &lost, &stored)?;
        } else if type_name == "INTERVAL" {
            // Parquet keeps 32 bits of milliseconds beside months and days, all unsigned: not quite 1193.05 hours.
            let negative = ["year", "month", "day", "hour", "minute", "microseconds"]
                .map(|part| format!("date_part('{part}', {name}) < 0"))
                .join(" OR ");
            let lost = format!(
                "date_part('microseconds', {name}) % 1000 <> 0 OR date_part('hour', {name}) >= 1193 OR {negative}"
            );
            let stored = "positive months, days and less than 1193 hours in whole milliseconds";
            check_fits(connection, result, column, &lost, stored)?;
        }
    }
    Ok(())
}

/// An error that shows the first value for which `lost` holds.
fn check_fits(
    connection: &Connection,
    result: &ModelResult,
    column: &Column,
    lost: &str,
    stored: &str,
) -> Result<(), MaterializeError> {
    let name = quote(&column.name);
    let sql = format!("SELECT {name}::VARCHAR FROM {} WHERE {lost} LIMIT 1", result.table);
    match connection.query_value(&sql).map_err(MaterializeError::Write)? {
        Value::Null => Ok(()),
        value => Err(MaterializeError::Inexact {
            column: column.name.clone(),
            type_name: column.type_name.clone(),
            stored: stored.to_owned(),
            value: value.into_text().unwrap_or_default(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::stored_type;

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
}
