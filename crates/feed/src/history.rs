//! The snapshots of one table: when it was made, which of them touched its rows, where some are missing.

use engine::{Connection, EngineError, Value};
use types::{Target, literal};

/// The lake, and where its own tables are.
#[derive(Clone, Copy)]
pub(crate) struct Lake<'a> {
    pub connection: &'a Connection,
    /// Alias.
    pub alias: &'a str,
    /// Database and schema of its metadata, quoted.
    pub metadata: &'a str,
}

/// A table of the lake as it is now, for a position in its changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableNow {
    /// Identity: a table that is made anew gets another.
    pub uuid: String,
    /// The lake's number of it.
    pub table_id: i64,
    /// The snapshot that made it.
    pub first_snapshot: i64,
    /// The newest snapshot that may have touched its rows. It exists: where snapshots are missing, the one
    /// behind the gap stands for them.
    pub newest_snapshot: i64,
    /// The newest snapshot of the lake.
    pub lake_snapshot: i64,
}

/// A table of the lake, whatever became of its rows.
pub(crate) struct Identity {
    pub uuid: String,
    pub table_id: i64,
    /// The snapshot that made it.
    pub first_snapshot: i64,
}

/// A snapshot at which the table may have other rows than at the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Step {
    /// The snapshot before, if there is one that has the table.
    pub before: Option<i64>,
    pub snapshot: i64,
    /// Whether snapshots between the two are missing.
    pub gap: bool,
    /// Whether rows were deleted or changed.
    pub deletes: bool,
}

/// What became of a table's rows in a span of snapshots.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Steps {
    pub steps: Vec<Step>,
    /// Whether the change feed is exact for them.
    pub trusted: bool,
}

/// What rewrites data files without changing rows: afterwards the feed tells wrong snapshots, or wrong rows.
const MAINTENANCE: [&str; 4] = ["inline_flush", "flushed_inlined", "merge_adjacent", "rewrite_delete"];

/// What touches rows, and whether it may take some away.
const TOUCHES: [(&str, bool); 4] =
    [("inserted_into_table", false), ("inlined_insert", false), ("deleted_from_table", true), ("inlined_delete", true)];

/// A snapshot as it is listed, with the words for what it did to one table.
struct Listed {
    snapshot: i64,
    before: Option<i64>,
    words: Vec<String>,
}

impl Listed {
    fn touches(&self) -> bool {
        TOUCHES.iter().any(|(word, _)| self.did(word))
    }

    fn deletes(&self) -> bool {
        TOUCHES.iter().any(|(word, deletes)| *deletes && self.did(word))
    }

    fn did(&self, word: &str) -> bool {
        self.words.iter().any(|done| done == word)
    }
}

/// What the lake holds about a table now; `None` if it is not there.
pub fn table_at(
    connection: &Connection,
    lake: &str,
    metadata: &str,
    target: &Target,
) -> Result<Option<TableNow>, EngineError> {
    let lake = Lake { connection, alias: lake, metadata };
    let newest = lake.newest()?;
    let Some(Identity { uuid, table_id, first_snapshot }) = lake.table(target, newest)? else { return Ok(None) };
    let listed = lake.listed(table_id, first_snapshot - 1)?;
    // The snapshot before the first one is listed too, as the start of the span.
    let touched = |listed: &&Listed| {
        listed.snapshot >= first_snapshot && (listed.touches() || has_gap(listed, first_snapshot - 1))
    };
    let newest_snapshot = match listed.iter().rev().find(touched) {
        Some(listed) => listed.snapshot,
        // It never had a row.
        None if lake.exists(first_snapshot)? => first_snapshot,
        None => newest,
    };
    Ok(Some(TableNow { uuid, table_id, first_snapshot, newest_snapshot, lake_snapshot: newest }))
}

fn has_gap(listed: &Listed, start: i64) -> bool {
    listed.before.unwrap_or(start) != listed.snapshot - 1
}

impl Lake<'_> {
    /// The newest snapshot.
    pub fn newest(&self) -> Result<i64, EngineError> {
        let sql = format!("SELECT max(snapshot_id) FROM {}.ducklake_snapshot", self.metadata);
        Ok(self.connection.query_value(&sql)?.as_i64().unwrap_or(0))
    }

    /// The table that has a name at a snapshot.
    pub fn table(&self, target: &Target, at: i64) -> Result<Option<Identity>, EngineError> {
        let metadata = self.metadata;
        let alive =
            |t: &str| format!("{t}.begin_snapshot <= {at} AND ({t}.end_snapshot IS NULL OR {t}.end_snapshot > {at})");
        let sql = format!(
            "SELECT t.table_id, t.table_uuid::VARCHAR, (SELECT min(begin_snapshot) FROM {metadata}.ducklake_table f \
             WHERE f.table_id = t.table_id) FROM {metadata}.ducklake_schema s JOIN {metadata}.ducklake_table t \
             ON t.schema_id = s.schema_id AND {} AND {} \
             WHERE lower(s.schema_name) = lower({}) AND lower(t.table_name) = lower({})",
            alive("s"),
            alive("t"),
            literal(&target.schema),
            literal(&target.name)
        );
        let row = self.connection.query(&sql)?.into_values().next();
        Ok(match row.as_deref() {
            Some([id, Value::Text(uuid), first]) => {
                let ids = id.as_i64().zip(first.as_i64());
                ids.map(|(table_id, first_snapshot)| Identity { table_id, uuid: uuid.clone(), first_snapshot })
            }
            _ => None,
        })
    }

    /// Whether a snapshot exists.
    pub fn exists(&self, snapshot: i64) -> Result<bool, EngineError> {
        let sql = format!("SELECT count(*) FROM {}.ducklake_snapshot WHERE snapshot_id = {snapshot}", self.metadata);
        Ok(self.connection.query_value(&sql)?.as_i64() == Some(1))
    }

    /// The snapshots after `start` up to `until` that may have touched the rows of table `id`, which
    /// `first` made.
    pub fn steps(&self, id: i64, first: i64, (start, until): (i64, i64)) -> Result<Steps, EngineError> {
        let listed = self.listed(id, start)?;
        let span = || listed.iter().filter(|listed| listed.snapshot > start && listed.snapshot <= until);
        let is_step = |listed: &&Listed| listed.touches() || has_gap(listed, start);
        let steps: Vec<Step> = span()
            .filter(is_step)
            .map(|listed| Step {
                before: listed.before.filter(|&before| before >= first),
                snapshot: listed.snapshot,
                gap: has_gap(listed, start),
                deletes: listed.deletes(),
            })
            .collect();
        let first_step = steps.first().map_or(i64::MAX, |step| step.snapshot);
        let disturbed = |listed: &Listed| has_gap(listed, start) || MAINTENANCE.iter().any(|word| listed.did(word));
        let undisturbed = !listed.iter().filter(|listed| listed.snapshot >= first_step).any(disturbed);
        let deletes = steps.iter().any(|step| step.deletes);
        let trusted = undisturbed && !(deletes && self.has_merged_files(id, first_step)?);
        Ok(Steps { steps, trusted })
    }

    /// Whether a file held rows of several snapshots at `start` or later. What is deleted from it the feed
    /// tells of a wrong snapshot (measured), also if the files were merged long before.
    fn has_merged_files(&self, id: i64, start: i64) -> Result<bool, EngineError> {
        let sql = format!(
            "SELECT count(*) FROM {}.ducklake_data_file WHERE table_id = {id} AND partial_max IS NOT NULL \
             AND (end_snapshot IS NULL OR end_snapshot >= {start})",
            self.metadata
        );
        Ok(self.connection.query_value(&sql)?.as_i64() != Some(0))
    }

    /// The newest snapshot after `start` that merged files of table `id`, or may have: the one behind a gap.
    pub fn newest_merge(&self, id: i64, start: i64) -> Result<Option<i64>, EngineError> {
        let listed = self.listed(id, start)?;
        let merges = |listed: &&Listed| listed.did("merge_adjacent") || has_gap(listed, start);
        Ok(listed.iter().rev().filter(|listed| listed.snapshot > start).find(merges).map(|listed| listed.snapshot))
    }

    /// The snapshots from `start` on that did something to a table, and those behind a gap.
    fn listed(&self, id: i64, start: i64) -> Result<Vec<Listed>, EngineError> {
        // A name in the list may hold anything: what it adds by chance costs a look at the rows, no more.
        let sql = format!(
            "SELECT snapshot_id, before, words FROM (SELECT s.snapshot_id, \
             lag(s.snapshot_id) OVER (ORDER BY s.snapshot_id) AS before, array_to_string(list_transform(list_filter(\
             regexp_extract_all(c.changes_made, '[a-z_]+:[0-9]+'), lambda w: split_part(w, ':', 2) = '{id}'), \
             lambda w: split_part(w, ':', 1)), ',') AS words \
             FROM {metadata}.ducklake_snapshot s LEFT JOIN {metadata}.ducklake_snapshot_changes c USING (snapshot_id) \
             WHERE s.snapshot_id >= {start}) \
             WHERE words <> '' OR before IS NULL OR before <> snapshot_id - 1 ORDER BY snapshot_id",
            metadata = self.metadata
        );
        let listed = self.connection.query(&sql)?.into_values().filter_map(|row| match &row[..] {
            [snapshot, before, words] => Some(Listed {
                snapshot: snapshot.as_i64()?,
                before: before.as_i64(),
                words: words.as_text().unwrap_or_default().split(',').map(str::to_owned).collect(),
            }),
            _ => None,
        });
        Ok(listed.collect())
    }
}
