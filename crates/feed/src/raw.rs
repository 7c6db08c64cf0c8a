//! Every change of each snapshot: by the lake's change feed, or by comparing versions.

use std::collections::BTreeMap;

use types::literal;

use crate::history::{Lake, Step};
use crate::layout::{Field, Layout, pairs_by_id};
use crate::row_key::{row_key, row_key_by_id};
use crate::{EventSource, FeedError};

/// Changes by the feed. Not by `ducklake_table_changes`, which reads both lists twice.
pub(crate) fn feed_changes(lake: &Lake<'_>, source: &EventSource, keys: &[&Field], steps: &[Step]) -> String {
    let first = steps.first().map_or(source.until, |step| step.snapshot);
    let list = |what: &str, is_new: bool| {
        format!(
            "SELECT snapshot_id AS step, snapshot_id, rowid, {} AS row_key, {is_new} AS is_new \
             FROM ducklake_table_{what}({}, {}, {}, {first}, {})",
            row_key(keys),
            literal(lake.alias),
            literal(&source.target.schema),
            literal(&source.target.name),
            source.until
        )
    };
    let insertions = list("insertions", true);
    if !steps.iter().any(|step| step.deletes) {
        return format!("SELECT *, false AS paired, rowid AS first FROM ({insertions})");
    }
    told(keys, &format!("{} UNION ALL {insertions}", list("deletions", false)))
}

/// Changes by comparing each version with the one before.
pub(crate) fn version_changes(
    lake: &Lake<'_>,
    source: &EventSource,
    id: i64,
    keys: &[&Field],
    steps: &[Step],
) -> Result<String, FeedError> {
    let mut layouts = Layouts { lake, source, id, changes: lake.layout_changes(id)?, known: BTreeMap::new() };
    let compared: Result<Vec<String>, FeedError> =
        steps.iter().map(|step| step_changes(&mut layouts, keys, *step)).collect();
    Ok(told(keys, &compared?.join(" UNION ALL ")))
}

fn step_changes(layouts: &mut Layouts<'_>, keys: &[&Field], step: Step) -> Result<String, FeedError> {
    let Step { snapshot, before, .. } = step;
    let new = layouts.at(snapshot)?;
    let version = |at: i64| layouts.lake.version(&layouts.source.target, at);
    let new_key = row_key_by_id(keys, &new);
    let Some(before) = before else {
        return Ok(format!(
            "SELECT {snapshot} AS step, {snapshot} AS snapshot_id, rowid, {new_key} AS row_key, true AS is_new FROM {}",
            version(snapshot)
        ));
    };
    let (old_version, new_version) = (version(before), version(snapshot));
    let old = layouts.at(before)?;
    let pairs = pairs_by_id(&old, &new);
    let names: String = (0..pairs.len()).map(|at| format!(", __ondatra_i{at}")).collect();
    let list = |side: fn(&crate::layout::Pair) -> &String| -> String {
        pairs.iter().enumerate().map(|(at, pair)| format!(", {} AS __ondatra_i{at}", side(pair))).collect()
    };
    Ok(format!(
        "SELECT {snapshot} AS step, CASE WHEN bool_or(is_new) THEN {snapshot} ELSE {} END AS snapshot_id, rowid, \
         any_value(row_key) AS row_key, bool_or(is_new) AS is_new FROM (\
         SELECT rowid, {} AS row_key, false AS is_new{} FROM {old_version} UNION ALL \
         SELECT rowid, {new_key} AS row_key, true AS is_new{} FROM {new_version}) \
         GROUP BY rowid{names} HAVING count(*) FILTER (is_new) <> count(*) FILTER (NOT is_new)",
        before + 1,
        row_key_by_id(keys, &old),
        list(|pair| &pair.old),
        list(|pair| &pair.new),
    ))
}

/// A row that went and came in one step was changed. Rows come where the first old row of their key does,
/// else where they are themselves. By joins with the old rows, which are few as a rule: windows over all
/// changes take twice as long (measured).
fn told(keys: &[&Field], changes: &str) -> String {
    let (first, join) = match keys {
        [] => ("c.rowid", ""),
        _ => ("coalesce(k.first, c.rowid)", " LEFT JOIN old_keys k ON c.step = k.step AND c.row_key = k.row_key"),
    };
    format!(
        "WITH changes AS MATERIALIZED ({changes}), \
         old_keys AS (SELECT step, row_key, min(rowid) AS first FROM changes WHERE NOT is_new GROUP BY step, row_key), \
         pairs AS (SELECT DISTINCT o.step, o.rowid FROM (FROM changes WHERE NOT is_new) o \
         SEMI JOIN (FROM changes WHERE is_new) n ON o.step = n.step AND o.rowid = n.rowid) \
         SELECT c.*, p.rowid IS NOT NULL AS paired, {first} AS first FROM changes c \
         LEFT JOIN pairs p ON c.step = p.step AND c.rowid = p.rowid{join}"
    )
}

/// The columns of each version, asked for once for all versions between two changes of them.
struct Layouts<'a> {
    lake: &'a Lake<'a>,
    source: &'a EventSource,
    id: i64,
    changes: Vec<i64>,
    known: BTreeMap<i64, Layout>,
}

impl Layouts<'_> {
    fn at(&mut self, snapshot: i64) -> Result<Layout, FeedError> {
        let since = self.changes.iter().copied().filter(|&at| at <= snapshot).max().unwrap_or(0);
        if let Some(layout) = self.known.get(&since) {
            return Ok(layout.clone());
        }
        let layout = self.lake.layout(&self.source.target, self.id, snapshot)?;
        self.known.insert(since, layout.clone());
        Ok(layout)
    }
}
