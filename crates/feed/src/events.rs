//! Which changes of a table are to be delivered, in which order, as SQL (chapter 04 §4).

use engine::{Connection, EngineError, Rows};
use types::Target;

use crate::FeedError;
use crate::history::{Lake, Steps};
use crate::net::net_changes;
use crate::raw::{feed_changes, version_changes};

/// A table, and the part of its history of which the changes are asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventSource {
    /// The table.
    pub target: Target,
    /// The columns by which rows are the same; without any, each row is itself.
    pub keys: Vec<String>,
    /// Whether a key stands for several rows: then what changed at once in them comes together.
    pub are_groups: bool,
    /// Columns that nobody is sent: rows that differ in nothing else are the same.
    pub hidden: &'static [&'static str],
    /// The position: the last snapshot whose changes are known. `None`: none are.
    pub from: Option<i64>,
    /// The last snapshot whose changes are asked for: one that exists.
    pub until: i64,
}

/// How changes are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventMethod {
    /// There are none: nothing touched the table.
    Unchanged,
    /// By the lake's change feed.
    Feed,
    /// By comparing versions, one snapshot after the other.
    Versions,
    /// By comparing the first and the last version.
    Net,
}

/// Changes, as a query. It may be run again, with the same result, as long as its snapshots exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Events {
    /// How they are found.
    pub method: EventMethod,
    /// Gives `row_key BIGINT, rowid BIGINT, change_type VARCHAR, snapshot_id BIGINT` in the order of delivery.
    pub sql: String,
}

impl Events {
    /// Runs the query.
    pub fn rows(&self, connection: &Connection) -> Result<Rows, EngineError> {
        connection.query(&self.sql)
    }

    /// No changes.
    pub fn none() -> Self {
        let sql =
            "SELECT 0::BIGINT AS row_key, 0::BIGINT AS rowid, '' AS change_type, 0::BIGINT AS snapshot_id WHERE false";
        Self { method: EventMethod::Unchanged, sql: sql.into() }
    }

    /// Puts rows of `snapshot_id, rowid, row_key, is_new, paired, first` in order: rows of one key stay
    /// together, what was before what is, and new rows as they were inserted; groups as their first row was.
    fn of(method: EventMethod, changes: &str, are_groups: bool) -> Self {
        let first = if are_groups { "min(first) OVER (PARTITION BY snapshot_id, row_key)" } else { "first" };
        let sql = format!(
            "SELECT row_key, rowid::BIGINT AS rowid, CASE WHEN paired AND is_new THEN 'update_postimage' \
             WHEN paired THEN 'update_preimage' WHEN is_new THEN 'insert' ELSE 'delete' END AS change_type, \
             snapshot_id::BIGINT AS snapshot_id FROM ({changes}) ORDER BY snapshot_id, {first}, row_key, is_new, rowid"
        );
        Self { method, sql }
    }
}

impl EventSource {
    /// Every change of each snapshot: of those after the position, or of all since the table was made if
    /// there is no position or it is that of a table of the same name before this one.
    ///
    /// They come from the lake's change feed, unless data files were rewritten since the first of them, or rows deleted from merged files, or
    /// snapshots are missing, or a column hides the feed's own. Then each version is compared with the one
    /// before it, row id by row id: a row that was written again as it was gives no event; what lies between
    /// two snapshots that exist is folded into one change, its old rows read at the snapshot before the gap;
    /// where the table's first versions are gone, every row of the oldest that is left is an `insert`.
    /// Exact, but two reads of the table for each snapshot that touched it.
    pub fn raw(&self, connection: &Connection, lake: &str, metadata: &str) -> Result<Events, FeedError> {
        let lake = Lake { connection, alias: lake, metadata };
        if self.from.is_some_and(|from| from >= self.until) {
            return Ok(Events::none());
        }
        let (id, first) = self.table_until(&lake)?;
        let start = match self.from {
            Some(from) if from >= first => self.existing(&lake, from)?,
            _ => first - 1,
        };
        let found = lake.steps(id, first, (start, self.until))?;
        if found.steps.is_empty() {
            return Ok(Events::none());
        }
        let layout = lake.layout(&self.target, id, self.until)?;
        let keys = self.key_fields(&layout)?;
        let hidden = crate::layout::named(&layout, "snapshot_id").is_some();
        if found.trusted && !hidden {
            return Ok(Events::of(EventMethod::Feed, &feed_changes(&lake, self, &keys, &found.steps), self.are_groups));
        }
        let changes = version_changes(&lake, self, id, &keys, &found.steps)?;
        Ok(Events::of(EventMethod::Versions, &changes, self.are_groups))
    }

    /// The exact difference between the table at the position and at `until`: what came and went in between,
    /// and rows that are the same, give no event. Without a position, every row is an `insert`.
    ///
    /// Rows of one key that differ are pairs of `update_preimage` and `update_postimage`; without a key, or
    /// where the older version lacks a key column, they are a `delete` and an `insert`. Old rows have the
    /// snapshot after the position, new ones `until`.
    ///
    /// Rows are compared by the names of columns, as who is sent them sees them. A column that only one of
    /// the versions has is NULL in the other: a new one changes the rows in which it has a value. A value of
    /// another type is the same if it is written the same and remains of its form, as 1 of INTEGER and of
    /// BIGINT do.
    pub fn net(&self, connection: &Connection, lake: &str, metadata: &str) -> Result<Events, FeedError> {
        let lake = Lake { connection, alias: lake, metadata };
        if self.from.is_some_and(|from| from >= self.until) {
            return Ok(Events::none());
        }
        let (id, first) = self.table_until(&lake)?;
        let from = self.from.map(|from| self.existing(&lake, from)).transpose()?;
        if let Some(from) = from.filter(|&from| from >= first) {
            let Steps { steps, .. } = lake.steps(id, first, (from, self.until))?;
            if steps.is_empty() && !lake.layout_changes(id)?.iter().any(|&at| at > from && at <= self.until) {
                return Ok(Events::none());
            }
        }
        Ok(Events::of(EventMethod::Net, &net_changes(&lake, self, id, from)?, self.are_groups))
    }

    fn table_until(&self, lake: &Lake<'_>) -> Result<(i64, i64), FeedError> {
        let until = self.existing(lake, self.until)?;
        let missing = || FeedError::NoTable { target: self.target.clone(), snapshot: until };
        lake.table(&self.target, until)?.map(|table| (table.table_id, table.first_snapshot)).ok_or_else(missing)
    }

    fn existing(&self, lake: &Lake<'_>, snapshot: i64) -> Result<i64, FeedError> {
        let lost = || FeedError::Lost { target: self.target.clone(), snapshot };
        lake.exists(snapshot)?.then_some(snapshot).ok_or_else(lost)
    }
}
