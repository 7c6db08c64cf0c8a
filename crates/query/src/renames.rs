//! Which columns of a query were renamed by an edit, told by what they are made of.

use types::{ColumnLineage, LineageSource, Transformation};

/// Pairs of an old and a new name for what is still the same column of the same table.
///
/// A column that took the name of another is no rename: `a` and `b` selected crosswise under each other's names
/// have both names before and after.
pub fn renamed_columns(
    old: &[ColumnLineage],
    new: &[ColumnLineage],
    old_columns: &[String],
    new_columns: &[String],
) -> Vec<(String, String)> {
    let has = |columns: &[String], name: &str| columns.iter().any(|column| column.eq_ignore_ascii_case(name));
    let mut renamed = Vec::new();
    for after in new.iter().filter(|after| !has(old_columns, &after.column)) {
        let Some(source) = only_source(after).filter(|source| feeds_one(new, source) && feeds_one(old, source)) else {
            continue;
        };
        let is_before =
            |before: &&ColumnLineage| only_source(before).is_some_and(|other| is_same_column(other, source));
        let before = old.iter().find(is_before).filter(|before| !has(new_columns, &before.column));
        renamed.extend(before.map(|before| (before.column.clone(), after.column.clone())));
    }
    renamed
}

/// The column that another is, unchanged.
fn only_source(lineage: &ColumnLineage) -> Option<&LineageSource> {
    match lineage.sources.as_slice() {
        [source] if source.transformation == Transformation::Identity => Some(source),
        _ => None,
    }
}

/// Whether exactly one column is made of this one.
fn feeds_one(lineage: &[ColumnLineage], source: &LineageSource) -> bool {
    let is_fed = |column: &&ColumnLineage| column.sources.iter().any(|other| is_same_column(other, source));
    lineage.iter().filter(is_fed).count() == 1
}

fn is_same_column(one: &LineageSource, other: &LineageSource) -> bool {
    one.table.eq_ignore_ascii_case(&other.table) && one.column.eq_ignore_ascii_case(&other.column)
}
