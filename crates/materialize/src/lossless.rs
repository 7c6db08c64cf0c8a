//! Whether a rebuild would drop rows that no query can produce again (chapter 02 §5.4).

use engine::{Connection, identity};
use types::{Column, quote};

use crate::MaterializeError;
use crate::evolution::Evolution;
use crate::keys::count;
use crate::result::{ModelResult, stored_expression};

/// Sample rows shown in an error.
const SAMPLE_MAX: usize = 3;

/// What a lossless test knows of the table.
pub(crate) struct LosslessScope<'a> {
    /// Columns that come under another name now: old and new.
    pub renames: &'a [(String, String)],
    /// Whether the table may hold closed versions.
    pub is_history: bool,
    /// Whether the model is an `append`.
    pub append: bool,
}

/// An error if the result lacks a row of the table, as multisets over the columns that both have. A value
/// that cannot be cast to its new type counts as lost, and so does a closed version of an scd2 history.
pub(crate) fn check_lossless(
    connection: &Connection,
    table: &str,
    present: &[Column],
    result: &ModelResult,
    scope: &LosslessScope<'_>,
) -> Result<(), MaterializeError> {
    let stored = result.stored_columns();
    let evolution = Evolution::between(present, &stored, scope.renames);
    let old_name = |new: &Column| {
        let renamed = evolution.renamed.iter().find(|(_, name)| *name == new.name);
        renamed.map_or_else(|| new.name.clone(), |(old, _)| old.clone())
    };
    let common: Vec<&Column> =
        stored.iter().filter(|new| !evolution.added.iter().any(|added| added.name == new.name)).collect();
    let closed = scope.is_history && present.iter().any(|column| column.name == "is_current");
    let lost = if common.is_empty() {
        format!("SELECT 1 AS nothing_in_common FROM {table}")
    } else {
        // Beside each value whether it is there, as an old value that does not cast is not the same as NULL, and
        // what tells it from others that SQL takes for equal.
        let old = |column: &&Column| {
            let (old, name) = (quote(&old_name(column)), quote(&column.name));
            let cast = format!("TRY_CAST({old} AS {})", column.type_name);
            format!("{cast} AS {name}, {old} IS NULL, {}", identity(column, &cast))
        };
        let new = |column: &&Column| {
            let name = quote(&column.name);
            format!("{name}, {name} IS NULL, {}", identity(column, &name))
        };
        let list = |form: &dyn Fn(&&Column) -> String| common.iter().map(form).collect::<Vec<_>>().join(", ");
        let expressions: Vec<String> = result.columns.iter().map(stored_expression).collect();
        let current = if closed { " WHERE is_current" } else { "" };
        let history = if closed {
            format!(" UNION ALL SELECT {} FROM {table} WHERE NOT is_current", list(&old))
        } else {
            String::new()
        };
        format!(
            "(SELECT {} FROM {table}{current} EXCEPT ALL SELECT {} FROM (SELECT {} FROM {})){history}",
            list(&old),
            list(&new),
            expressions.join(", "),
            result.table
        )
    };
    let rows = count(connection, &format!("SELECT count(*) FROM ({lost})"))?;
    if rows == 0 {
        return Ok(());
    }
    let shown: Vec<String> =
        common.iter().map(|column| format!("coalesce({}::VARCHAR, 'NULL')", quote(&column.name))).collect();
    let shown = if shown.is_empty() { "'…'".to_owned() } else { format!("concat_ws(', ', {})", shown.join(", ")) };
    let sample = format!("SELECT {shown}::VARCHAR FROM ({lost}) LIMIT {SAMPLE_MAX}");
    let sample = connection.query(&sample).map_err(MaterializeError::Write)?;
    let sample = sample.into_values().filter_map(|mut row| row.swap_remove(0).into_text()).collect();
    Err(MaterializeError::RowsWouldBeDropped { rows, sample, because: String::new(), append: scope.append })
}

/// An error if an evolution of a table whose rows are to be kept would lose values of theirs.
pub(crate) fn check_values_kept(
    connection: &Connection,
    table: &str,
    evolution: &Evolution,
) -> Result<(), MaterializeError> {
    let dropped = evolution
        .dropped
        .iter()
        .map(|column| (&column.name, quote(&column.name), "the model does not give it any more".to_owned()));
    let retyped = evolution.retyped.iter().map(|(column, type_name)| {
        let old = evolution.renamed.iter().find(|(_, new)| *new == column.name).map_or(&column.name, |(old, _)| old);
        let name = quote(old);
        (
            old,
            format!("CASE WHEN TRY_CAST({name} AS {type_name}) IS NULL THEN {name} END"),
            format!("which are no {type_name}"),
        )
    });
    for (column, lost, how) in dropped.chain(retyped) {
        let rows = count(connection, &format!("SELECT count({lost}) FROM {table}"))?;
        if rows > 0 {
            return Err(MaterializeError::ValuesWouldBeDropped { column: column.clone(), rows, how });
        }
    }
    Ok(())
}
