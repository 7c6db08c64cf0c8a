//! The rows of changes: as they are now, or as they were before the change (chapter 04 §5).
//!
//! One scan for the table as it is, and one for each older version that is asked for, whatever the number of
//! changes. Bounds of row ids let the engine pass over the parts of files in which none of them is.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use engine::{Connection, EngineError, Value};
use types::{ChangeType, Column, Target, quote};

use crate::FeedError;
use crate::history::{Identity, Lake};
use crate::layout::rangeless;

/// Which row is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImageOf {
    /// The lake's row id.
    pub rowid: i64,
    /// What happened to it.
    pub change_type: ChangeType,
    /// The snapshot that did it.
    pub snapshot: i64,
}

/// A row.
#[derive(Debug, Clone, PartialEq)]
pub enum Image {
    /// Its values.
    Row(Vec<Value>),
    /// It was inserted or changed, and is not in the table any more.
    Gone,
}

/// The rows of changes.
#[derive(Debug, Clone, PartialEq)]
pub struct Images {
    /// The columns of the table as it is; none if it is not there.
    pub columns: Vec<Column>,
    /// A row for each change, in the same order.
    pub images: Vec<Image>,
    /// The columns of older versions that have others.
    older: BTreeMap<i64, Vec<Column>>,
}

impl Images {
    /// The columns of the image of a change: a row as it was has those of its version.
    pub fn columns_of(&self, of: &ImageOf) -> &[Column] {
        of.version().and_then(|version| self.older.get(&version)).unwrap_or(&self.columns)
    }
}

impl ImageOf {
    /// The snapshot at which the row is read; `None`: as it is now.
    fn version(&self) -> Option<i64> {
        match self.change_type {
            ChangeType::Insert | ChangeType::UpdatePostimage => None,
            ChangeType::UpdatePreimage | ChangeType::Delete => Some(self.snapshot - 1),
        }
    }
}

/// Reads the rows of changes of a table; the fewer versions and the closer their row ids, the faster.
///
/// `insert` and `update_postimage` are read from the table as it is; if it is another table than at their snapshot, that
/// is an error. `update_preimage` and `delete` are read from the version before
/// their snapshot; one that cannot be read is an error.
///
/// `ducklake_merge_adjacent_files` gives rows that were updated other row ids, at all versions (measured). A
/// row that is not found after a merge is looked for at its own snapshot too: if it is not there either, its
/// id was lost, which is an error and not a row that is gone.
pub fn read_images(
    connection: &Connection,
    lake: &str,
    metadata: &str,
    target: &Target,
    wanted: &[ImageOf],
) -> Result<Images, FeedError> {
    let lake = Lake { connection, alias: lake, metadata };
    let now = lake.table(target, lake.newest()?)?;
    let first = now.as_ref().map_or(i64::MAX, |table| table.first_snapshot);
    let columns = if now.is_some() { lake.columns(target, None)? } else { Vec::new() };
    // What was inserted into another table of this name is not in this one, whatever has its row id there.
    if wanted.iter().any(|of| of.version().is_none() && of.snapshot < first) {
        return Err(FeedError::Dropped { target: target.clone() });
    }
    let mut versions: BTreeMap<Option<i64>, (BTreeSet<i64>, usize)> = BTreeMap::new();
    for of in wanted {
        let (rowids, times) = versions.entry(of.version()).or_default();
        rowids.insert(of.rowid);
        *times += 1;
    }
    let (mut rows, mut older) = (BTreeMap::new(), BTreeMap::new());
    for (version, (rowids, times)) in versions {
        let gone = |error| preimage_gone(error, target, version, &rowids);
        let own = match version {
            None => columns.clone(),
            Some(at) => lake.columns(target, Some(at)).map_err(gone)?,
        };
        let found = lake.read(target, version, &own, &rowids).map_err(gone)?;
        rows.insert(version, Found { rows: found, once: rowids.len() == times });
        if let Some(at) = version.filter(|_| own != columns) {
            older.insert(at, own);
        }
    }
    let images = wanted.iter().map(|of| image(target, of, &mut rows)).collect::<Result<Vec<_>, _>>()?;
    if let Some(table) = &now {
        let gone = wanted.iter().zip(&images).filter(|(_, image)| **image == Image::Gone);
        lake.really_gone(target, table, gone.map(|(of, _)| of).collect())?;
    }
    Ok(Images { columns, images, older })
}

type Rows = HashMap<i64, Vec<Value>>;

/// The rows of a version.
struct Found {
    rows: Rows,
    /// Whether each is asked for once.
    once: bool,
}

impl Found {
    fn row(&mut self, rowid: i64) -> Option<Vec<Value>> {
        if self.once { self.rows.remove(&rowid) } else { self.rows.get(&rowid).cloned() }
    }
}

fn image(target: &Target, of: &ImageOf, rows: &mut BTreeMap<Option<i64>, Found>) -> Result<Image, FeedError> {
    match (rows.get_mut(&of.version()).and_then(|found| found.row(of.rowid)), of.version()) {
        (Some(row), _) => Ok(Image::Row(row)),
        (None, None) => Ok(Image::Gone),
        (None, Some(_)) => {
            Err(FeedError::PreimageGone { target: target.clone(), rowid: of.rowid, snapshot: of.snapshot })
        }
    }
}

/// A version that is not there is refused by the engine before it looks at any row.
fn preimage_gone(error: FeedError, target: &Target, version: Option<i64>, rowids: &BTreeSet<i64>) -> FeedError {
    let refused = match &error {
        FeedError::Engine(engine) => engine.is_refusal() || engine.to_string().contains("No snapshot found"),
        _ => false,
    };
    match (version, rowids.first()) {
        (Some(at), Some(&rowid)) if refused => {
            FeedError::PreimageGone { target: target.clone(), rowid, snapshot: at + 1 }
        }
        _ => error,
    }
}

impl Lake<'_> {
    /// Refuses rows that are only not found because files were merged since.
    fn really_gone(&self, target: &Target, table: &Identity, gone: Vec<&ImageOf>) -> Result<(), FeedError> {
        let Some(oldest) = gone.iter().map(|of| of.snapshot).min() else { return Ok(()) };
        let Some(merged) = self.newest_merge(table.table_id, oldest)? else { return Ok(()) };
        let mut versions: BTreeMap<i64, BTreeSet<i64>> = BTreeMap::new();
        for of in gone.into_iter().filter(|of| of.snapshot < merged) {
            versions.entry(of.snapshot).or_default().insert(of.rowid);
        }
        for (snapshot, rowids) in versions {
            let found =
                if self.exists(snapshot)? { self.read(target, Some(snapshot), &[], &rowids)? } else { Rows::new() };
            if let Some(&rowid) = rowids.iter().find(|rowid| !found.contains_key(rowid)) {
                return Err(FeedError::RowIdLost { target: target.clone(), rowid, snapshot });
            }
        }
        Ok(())
    }

    fn source_at(&self, target: &Target, version: Option<i64>) -> String {
        version.map_or_else(|| target.qualified(self.alias), |at| self.version(target, at))
    }

    fn columns(&self, target: &Target, version: Option<i64>) -> Result<Vec<Column>, FeedError> {
        let described = format!(
            "SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM {})",
            self.source_at(target, version)
        );
        let columns = self.connection.query(&described)?.into_values().filter_map(|row| match &row[..] {
            [Value::Text(name), Value::Text(type_name)] => {
                Some(Column { name: name.clone(), type_name: type_name.clone() })
            }
            _ => None,
        });
        let columns: Vec<Column> = columns.collect();
        if columns.iter().any(|column| column.name.eq_ignore_ascii_case("rowid")) {
            return Err(FeedError::RowidColumn { target: target.clone() });
        }
        Ok(columns)
    }

    fn read(
        &self,
        target: &Target,
        version: Option<i64>,
        columns: &[Column],
        rowids: &BTreeSet<i64>,
    ) -> Result<Rows, FeedError> {
        let from = format!("{} WHERE {}", self.source_at(target, version), condition(rowids));
        let rows = self.rows(&from, columns)?;
        let mut found = HashMap::with_capacity(rowids.len());
        for mut row in rows {
            let rowid = row.remove(0).as_i64().unwrap_or(-1);
            if found.insert(rowid, row).is_some() {
                let snapshot = version.unwrap_or_default();
                return Err(FeedError::Ambiguous { target: target.clone(), rowid, snapshot });
            }
        }
        Ok(found)
    }

    /// The row id and the columns; a type that only has a text as the text.
    fn rows(&self, from: &str, columns: &[Column]) -> Result<Vec<Vec<Value>>, EngineError> {
        let list = |as_text: &dyn Fn(&Column) -> bool| -> String {
            let column = |column: &Column| {
                let name = quote(&column.name);
                let text = if as_text(column) { "::VARCHAR" } else { "" };
                format!(", {}{text} AS {name}", rangeless(column, &name))
            };
            columns.iter().map(column).collect()
        };
        let rows = self.connection.query(&format!("SELECT rowid{} FROM {from}", list(&|_| false)))?;
        let texts: BTreeSet<String> = rows.undecodable().into_iter().map(str::to_owned).collect();
        if texts.is_empty() {
            return Ok(rows.into_values().collect());
        }
        drop(rows);
        let sql = format!("SELECT rowid{} FROM {from}", list(&|column| texts.contains(&column.name)));
        Ok(self.connection.query(&sql)?.into_values().collect())
    }
}

/// More ranges cost more than they keep from being read.
const RANGES_MAX: usize = 8;
/// Row ids closer than this are likely in the same part of a file.
const GAP_MIN: i64 = 100_000;

/// The rows of some row ids. What the ranges alone say is enough where they have no holes.
fn condition(rowids: &BTreeSet<i64>) -> String {
    let ranges = ranges(rowids);
    let spanned: i64 = ranges.iter().map(|(least, greatest)| greatest - least + 1).sum();
    let between: Vec<String> =
        ranges.iter().map(|(least, greatest)| format!("rowid BETWEEN {least} AND {greatest}")).collect();
    let between = format!("({})", between.join(" OR "));
    if usize::try_from(spanned) == Ok(rowids.len()) {
        return between;
    }
    let list: Vec<String> = rowids.iter().map(ToString::to_string).collect();
    // One text: the engine's parser takes far longer over a list of ten thousand numbers.
    format!("{between} AND rowid IN (SELECT unnest(string_split('{}', ','))::BIGINT)", list.join(","))
}

/// Few ranges that hold all row ids, parted at the widest gaps.
fn ranges(rowids: &BTreeSet<i64>) -> Vec<(i64, i64)> {
    let sorted: Vec<i64> = rowids.iter().copied().collect();
    let mut gaps: Vec<(i64, usize)> = sorted
        .windows(2)
        .enumerate()
        .map(|(at, pair)| (pair[1] - pair[0], at + 1))
        .filter(|(gap, _)| *gap > GAP_MIN)
        .collect();
    gaps.sort_unstable_by(|left, right| right.cmp(left));
    let mut cuts: Vec<usize> = gaps.iter().take(RANGES_MAX - 1).map(|(_, at)| *at).collect();
    cuts.sort_unstable();
    let starts = std::iter::once(0).chain(cuts.iter().copied());
    let ends = cuts.iter().copied().chain(std::iter::once(sorted.len()));
    starts.zip(ends).filter(|(start, end)| start < end).map(|(start, end)| (sorted[start], sorted[end - 1])).collect()
}

#[cfg(test)]
mod tests {
    use super::{condition, ranges};

    #[test]
    fn row_ids_far_apart_are_parted() {
        let set = |list: &[i64]| list.iter().copied().collect();
        assert_eq!(ranges(&set(&[1, 2, 9, 500_000, 500_001])), [(1, 9), (500_000, 500_001)]);
        let far: Vec<i64> = (0..20).map(|at| at * 1_000_000).collect();
        assert_eq!(ranges(&set(&far)).len(), 8);
        assert_eq!(condition(&set(&[3, 4])), "(rowid BETWEEN 3 AND 4)");
        assert!(condition(&set(&[3, 5])).ends_with("IN (SELECT unnest(string_split('3,5', ','))::BIGINT)"));
    }
}
