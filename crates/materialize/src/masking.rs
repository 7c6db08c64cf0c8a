//! Masking (chapter 01 §4.6): the query's values go through functions before anything is kept of them.

use engine::{Connection, Value};
use model::Mask;
use types::{Column, quote};

use crate::MaterializeError;
use crate::result::{describe, first_word, shift};

/// The masks of a result, with its columns.
pub(crate) struct Masked<'a> {
    sql: &'a str,
    /// Each with its column as the query spells it.
    masks: Vec<(&'a Mask, String)>,
}

impl<'a> Masked<'a> {
    /// Looks up the columns of the output. One that is missing is an error, and so is one that is there twice: the engine
    /// would give the second one another name, under which it would be kept in clear.
    pub fn read(connection: &Connection, sql: &'a str, masks: &'a [Mask]) -> Result<Self, MaterializeError> {
        let available = output_columns(connection, sql)?;
        let find = |mask: &'a Mask| {
            let mut found = available.iter().filter(|name| name.eq_ignore_ascii_case(&mask.column));
            match (found.next(), found.next()) {
                (Some(name), None) => Ok((mask, name.clone())),
                (_, second) => Err(MaterializeError::MaskedColumn {
                    column: mask.column.clone(),
                    twice: second.is_some(),
                    available: available.clone(),
                }),
            }
        };
        Ok(Self { sql, masks: masks.iter().map(find).collect::<Result<_, _>>()? })
    }

    /// What stands before the query to mask it: order and names of the columns stay.
    pub fn select(&self) -> String {
        let replaced = self.masks.iter().map(|(mask, column)| {
            let column = quote(column);
            format!("{}({column}) AS {column}", mask.sql())
        });
        format!("SELECT * REPLACE ({}) FROM (", replaced.collect::<Vec<_>>().join(", "))
    }

    /// An error of the whole statement as one of a mask, if it is: the query alone was accepted before.
    pub fn explained(&self, connection: &Connection, error: MaterializeError) -> MaterializeError {
        if !matches!(&error, MaterializeError::Query(refused) if refused.is_refusal()) {
            return error;
        }
        let culprit = self.masks.iter().find_map(|(mask, column)| {
            let (function, column) = (mask.sql(), quote(column));
            let sql = format!("SELECT * FROM (DESCRIBE SELECT {function}({column}) FROM ({}\n))", self.sql);
            Some((mask, connection.query(&sql).err()?))
        });
        culprit.map_or(error, |(mask, error)| MaterializeError::Mask {
            column: mask.column.clone(),
            function: mask.function.clone(),
            error,
        })
    }
}

/// The names of a query's columns, as it spells them.
fn output_columns(connection: &Connection, sql: &str) -> Result<Vec<String>, MaterializeError> {
    // In brackets the engine renames a column that is there twice, but only these may stand without them.
    let is_plain = matches!(first_word(sql).as_str(), "select" | "with" | "from");
    let (before, after) = if is_plain { ("", "") } else { ("FROM (", "\n)") };
    let prefix = format!("SELECT column_name FROM (DESCRIBE {before}");
    let rows = connection
        .query(&format!("{prefix}{sql}{after}\n)"))
        .map_err(|error| shift(error, prefix.len(), sql.len()))?
        .into_values();
    Ok(rows.filter_map(|mut row| row.pop().and_then(Value::into_text)).collect())
}

/// Masks columns that a table holds in clear, in place; `masks` have their names in the table.
///
/// # Errors
/// One whose type would change: [`MaterializeError::MaskedType`].
pub fn mask_present(connection: &Connection, table: &str, masks: &[Mask]) -> Result<(), MaterializeError> {
    let present = describe(connection, table).map_err(MaterializeError::Write)?;
    let mut set = Vec::new();
    for mask in masks {
        let Some(column) = present.iter().find(|column| column.name.eq_ignore_ascii_case(&mask.column)) else {
            continue;
        };
        let (name, function) = (quote(&column.name), mask.sql());
        check_type(connection, table, column, &format!("{function}({name})"), mask)?;
        set.push(format!("{name} = {function}({name})"));
    }
    if set.is_empty() {
        return Ok(());
    }
    connection.execute(&format!("UPDATE {table} SET {}", set.join(", "))).map_err(MaterializeError::Write)
}

fn check_type(
    connection: &Connection,
    table: &str,
    column: &Column,
    masked: &str,
    mask: &Mask,
) -> Result<(), MaterializeError> {
    let typed = format!("SELECT column_type FROM (DESCRIBE SELECT {masked} AS masked FROM {table})");
    let typed = connection.query_value(&typed).map_err(|error| MaterializeError::Mask {
        column: mask.column.clone(),
        function: mask.function.clone(),
        error,
    })?;
    let typed = typed.into_text().unwrap_or_default();
    if typed == column.type_name {
        return Ok(());
    }
    Err(MaterializeError::MaskedType { column: column.name.clone(), present: column.type_name.clone(), masked: typed })
}
