//! The columns of a table at its versions, and which of two versions belong together.

use engine::{EngineError, Value, identity};
use types::{Column, Target, literal, quote};

use crate::FeedError;
use crate::history::Lake;

/// A column of a version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Field {
    /// The lake's number of it: stays when it is renamed.
    pub id: i64,
    pub column: Column,
    /// What older rows show in it, where it was added with a default.
    default: Option<String>,
}

/// The columns of a version.
pub(crate) type Layout = Vec<Field>;

/// Two expressions that are not distinct where the values are the same: one over the older version, one
/// over the newer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pair {
    pub old: String,
    pub new: String,
}

impl Lake<'_> {
    /// A version of a table as the FROM clause names it.
    pub fn version(&self, target: &Target, at: i64) -> String {
        format!("{} AT (VERSION => {at})", target.qualified(self.alias))
    }

    /// The columns of table number `id` at a snapshot.
    pub fn layout(&self, target: &Target, id: i64, at: i64) -> Result<Layout, FeedError> {
        let sql = format!(
            "SELECT c.column_id, d.column_name, d.column_type, c.initial_default \
             FROM (SELECT row_number() OVER () AS nth, * FROM (DESCRIBE SELECT * FROM {})) d \
             JOIN {}.ducklake_column c ON lower(c.column_name) = lower(d.column_name) \
             WHERE c.table_id = {id} AND c.parent_column IS NULL AND c.begin_snapshot <= {at} \
             AND (c.end_snapshot IS NULL OR c.end_snapshot > {at}) ORDER BY d.nth",
            self.version(target, at),
            self.metadata
        );
        let fields = self.connection.query(&sql)?.into_values().filter_map(|row| match &row[..] {
            [id, Value::Text(name), Value::Text(type_name), default] => Some(Field {
                id: id.as_i64()?,
                column: Column { name: name.clone(), type_name: type_name.clone() },
                default: default.as_text().map(str::to_owned),
            }),
            _ => None,
        });
        let layout: Layout = fields.collect();
        if named(&layout, "rowid").is_some() {
            return Err(FeedError::RowidColumn { target: target.clone() });
        }
        Ok(layout)
    }

    /// The snapshots at which the columns of a table changed.
    pub fn layout_changes(&self, id: i64) -> Result<Vec<i64>, EngineError> {
        let sql = format!(
            "SELECT DISTINCT unnest([begin_snapshot, end_snapshot]) FROM {}.ducklake_column WHERE table_id = {id}",
            self.metadata
        );
        Ok(self.connection.query(&sql)?.into_values().filter_map(|row| row.first()?.as_i64()).collect())
    }
}

/// The column of a name.
pub(crate) fn named<'a>(layout: &'a Layout, name: &str) -> Option<&'a Field> {
    layout.iter().find(|field| field.column.name.eq_ignore_ascii_case(name))
}

/// A column's value, without what the lake says about its range. That is about the newest version alone:
/// after `ducklake_rewrite_data_files` older versions have other values, which the engine then takes for what
/// they are not where it sorts, groups or joins them: 1 comes out as 257 (measured).
pub(crate) fn rangeless(column: &Column, name: &str) -> String {
    match column.type_name.as_str() {
        "TINYINT" | "SMALLINT" | "INTEGER" | "BIGINT" | "UTINYINT" | "USMALLINT" | "UINTEGER" | "UBIGINT" => {
            format!("xor({name}, 0::{})", column.type_name)
        }
        _ => name.to_owned(),
    }
}

/// What tells a column's values apart, in every version.
fn told_apart(column: &Column, name: &str) -> String {
    identity(column, &rangeless(column, name))
}

/// What stands in a column of another version, over `layout`, by the lake's own numbers, as its change feed
/// sees it.
pub(crate) fn value_by_id(layout: &Layout, field: &Field) -> String {
    let type_name = &field.column.type_name;
    match (layout.iter().find(|known| known.id == field.id), &field.default) {
        (Some(known), _) if known.column.type_name == *type_name => quote(&known.column.name),
        (Some(known), _) => format!("TRY_CAST({} AS {type_name})", quote(&known.column.name)),
        (None, Some(default)) => format!("TRY_CAST({} AS {type_name})", literal(default)),
        (None, None) => format!("NULL::{type_name}"),
    }
}

/// The columns of the newer version, each with what the older had in it. What only the older version has
/// does not count.
pub(crate) fn pairs_by_id(old: &Layout, new: &Layout) -> Vec<Pair> {
    let pair = |field: &Field| Pair {
        old: told_apart(&field.column, &value_by_id(old, field)),
        new: told_apart(&field.column, &quote(&field.column.name)),
    };
    new.iter().map(pair).collect()
}

/// The columns of both versions by name, as who is sent the rows sees them: a column that one version lacks
/// is NULL there.
pub(crate) fn pairs_by_name(old: &Layout, new: &Layout) -> Vec<Pair> {
    let text = |field: &Field| format!("encode({}::VARCHAR)", quote(&field.column.name));
    let none = || "NULL::BLOB".to_owned();
    let kept = new.iter().map(|field| match named(old, &field.column.name) {
        Some(before) => pair_of_name(before, field),
        None => Pair { old: none(), new: text(field) },
    });
    let dropped = old.iter().filter(|field| named(new, &field.column.name).is_none());
    kept.chain(dropped.map(|field| Pair { old: text(field), new: none() })).collect()
}

/// Values of another type are the same where they look the same to who is sent them: a number remains a
/// number, a text a text.
fn pair_of_name(old: &Field, new: &Field) -> Pair {
    let (was, is) = (quote(&old.column.name), quote(&new.column.name));
    if old.column.type_name == new.column.type_name {
        return Pair { old: told_apart(&old.column, &was), new: told_apart(&new.column, &is) };
    }
    let text = |field: &Field, name: &str| format!("encode('{} ' || {name}::VARCHAR)", form(&field.column.type_name));
    Pair { old: text(old, &was), new: text(new, &is) }
}

/// What a type's values are outside of the lake.
fn form(type_name: &str) -> String {
    match type_name {
        "TINYINT" | "SMALLINT" | "INTEGER" | "BIGINT" | "UTINYINT" | "USMALLINT" | "UINTEGER" | "UBIGINT" => "integer",
        "FLOAT" | "DOUBLE" => "float",
        "BOOLEAN" => "boolean",
        "BLOB" => "blob",
        nested if nested.contains(['(', '[']) && !nested.starts_with("DECIMAL") => return nested.replace('\'', "''"),
        _ => "text",
    }
    .to_owned()
}
