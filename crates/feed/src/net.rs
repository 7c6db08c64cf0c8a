//! The exact difference of two versions of a table, by key.

use types::{Kind, quote};

use crate::history::Lake;
use crate::layout::{Layout, Pair, named, pairs_by_name};
use crate::row_key::row_key;
use crate::{EventSource, FeedError};

/// The changes between the position and `until` in table number `id`.
pub(crate) fn net_changes(
    lake: &Lake<'_>,
    source: &EventSource,
    id: i64,
    from: Option<i64>,
) -> Result<String, FeedError> {
    let new = visible(source, lake.layout(&source.target, id, source.until)?);
    let new_key = row_key(&source.key_fields(&new)?);
    let new_version = lake.version(&source.target, source.until);
    let then = match from {
        Some(from) => lake.table(&source.target, from)?.map(|table| (from, table.table_id)),
        None => None,
    };
    let Some((from, old_id)) = then else {
        return Ok(format!(
            "SELECT {} AS snapshot_id, rowid, {new_key} AS row_key, true AS is_new, false AS paired, rowid AS first \
             FROM {new_version}",
            source.until
        ));
    };
    let old = visible_before(source, lake.layout(&source.target, old_id, from)?, &new);
    // Under another key no row is known to be the same.
    let old_key = source.key_fields(&old).ok().filter(|keys| !keys.is_empty());
    let pairs = pairs_by_name(&old, &new);
    let keys = if old_key.is_some() { key_places(source, &new) } else { Vec::new() };
    let old_key = old_key.map_or_else(|| "rowid::BIGINT".to_owned(), |keys| row_key(&keys));
    let both = both(&pairs, (&old_key, &lake.version(&source.target, from)), (&new_key, &new_version));
    Ok(difference(source, &both, pairs.len(), &keys, (from + 1, source.until)))
}

fn visible(source: &EventSource, mut layout: Layout) -> Layout {
    layout.retain(|field| !source.hidden.iter().any(|name| field.column.name.eq_ignore_ascii_case(name)));
    layout
}

/// A table that was `tracked` had a column of the runtime's own.
fn visible_before(source: &EventSource, layout: Layout, new: &Layout) -> Layout {
    let is_own = |name: &str| Kind::Tracked.own_columns().iter().any(|own| name.eq_ignore_ascii_case(own));
    let mut layout = visible(source, layout);
    layout.retain(|field| named(new, &field.column.name).is_some() || !is_own(&field.column.name));
    layout
}

/// The places of the key columns among the pairs, which begin with the newer version's columns.
fn key_places(source: &EventSource, new: &Layout) -> Vec<usize> {
    let place = |name: &String| {
        let field = named(new, name)?;
        new.iter().position(|known| known == field)
    };
    source.keys.iter().filter_map(place).collect()
}

fn both(pairs: &[Pair], (old_key, old): (&str, &str), (new_key, new): (&str, &str)) -> String {
    let list = |side: fn(&Pair) -> &String| -> String {
        pairs.iter().enumerate().map(|(at, pair)| format!(", {} AS {}", side(pair), place(at))).collect()
    };
    format!(
        "SELECT false AS is_new, rowid, {old_key} AS row_key{} FROM {old} UNION ALL \
         SELECT true AS is_new, rowid, {new_key} AS row_key{} FROM {new}",
        list(|pair| &pair.old),
        list(|pair| &pair.new)
    )
}

fn place(at: usize) -> String {
    quote(&format!("__ondatra_i{at}"))
}

/// Rows are gathered by all their values; where one version has more of them than the other, what it has
/// too many is left. What is left of one key is dealt in pairs.
fn difference(
    source: &EventSource,
    both: &str,
    columns: usize,
    keys: &[usize],
    (deleted_at, inserted_at): (i64, i64),
) -> String {
    let list =
        |places: &mut dyn Iterator<Item = usize>| places.map(|at| format!("{}, ", place(at))).collect::<String>();
    let (all, key) = (list(&mut (0..columns)), list(&mut keys.iter().copied()));
    let gathered = format!(
        "SELECT {all}list(rowid) FILTER (NOT is_new) AS olds, list(rowid) FILTER (is_new) AS news, \
         any_value(row_key) AS row_key FROM ({both}) GROUP BY {} \
         HAVING count(*) FILTER (is_new) <> count(*) FILTER (NOT is_new)",
        all.trim_end_matches(", ")
    );
    let left = |is_new: bool, many: &str, few: &str| {
        format!(
            "SELECT {key}row_key, {is_new} AS is_new, \
             unnest(list_sort({many})[coalesce(len({few}), 0) + 1:]) AS rowid FROM gathered"
        )
    };
    let paired = match keys {
        [] => "false".to_owned(),
        _ => format!("count(*) OVER (PARTITION BY {key}nth) = 2"),
    };
    let (row_key, first) = order(source, keys);
    format!(
        "WITH gathered AS MATERIALIZED ({gathered}), changed AS ({} UNION ALL {}), \
         numbered AS (SELECT *, row_number() OVER (PARTITION BY {key}is_new ORDER BY rowid) AS nth FROM changed) \
         SELECT CASE WHEN is_new THEN {inserted_at} ELSE {deleted_at} END AS snapshot_id, rowid, \
         {row_key} AS row_key, is_new, {paired} AS paired, {first} AS first FROM numbered",
        left(false, "olds", "news"),
        left(true, "news", "olds"),
    )
}

/// The row key and where its rows come in the order. Where no row is known to be the same, all old rows are
/// taken away before any new one comes.
fn order(source: &EventSource, keys: &[usize]) -> (&'static str, &'static str) {
    match keys {
        [] if source.keys.is_empty() => ("rowid::BIGINT", "CASE WHEN is_new THEN rowid ELSE -1 END"),
        [] => ("row_key", "CASE WHEN is_new THEN rowid ELSE -1 END"),
        _ => ("row_key", "min(rowid) OVER (PARTITION BY row_key)"),
    }
}
