//! How a table of the fork differs from production's: the fork itself as it was before the run (chapter 05 §4.3).

use std::cell::OnceCell;

use engine::{EngineError, LakeFacts, Value};
use feed::Window;
use types::{Column, Kind, Target, literal};

use super::multiset::{Common, Multisets};
use super::row_count::RowCounts;
use crate::Session;
use crate::masking::in_clear;
use crate::planning::{PlannedModel, last_commit};

/// Most rows of each kind that are shown.
const SAMPLES: usize = 2;
/// The last snapshot of a version of an `scd2` table that is not current any more.
const CLOSED_AT: &str = "valid_to_snapshot";
/// What the change feed gave of both sides.
const FED_THEN: &str = "temp.main.__ondatra_sandbox_then";
const FED_NOW: &str = "temp.main.__ondatra_sandbox_now";

/// How a table differs from production's.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Comparison {
    /// Production has no such table.
    pub is_new: bool,
    /// The columns of a new table.
    pub columns: Vec<Column>,
    /// Columns that production's table does not have.
    pub added_columns: Vec<Column>,
    /// Columns that only production's table has.
    pub removed_columns: Vec<Column>,
    /// Columns of another type.
    pub changed_columns: Vec<ChangedColumn>,
    /// Rows in production, then in the sandbox; `None` if there is no such table or they were not counted.
    pub rows: (Option<i64>, Option<i64>),
    /// Rows that production does not have, by the columns that both have.
    pub added: u64,
    /// Rows that only production has.
    pub removed: u64,
    /// Versions of an `scd2` table that are current in production and not in the sandbox.
    pub closed: u64,
    /// A few of the rows that were added.
    pub sample_added: Vec<Vec<Option<String>>>,
    /// A few of the rows that were removed.
    pub sample_removed: Vec<Vec<Option<String>>>,
    /// What could not be compared, and why.
    pub problems: Vec<String>,
}

/// A column of another type than in production.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedColumn {
    /// The column.
    pub name: String,
    /// Its type in production.
    pub old: String,
    /// Its type in the sandbox.
    pub new: String,
}

impl Comparison {
    /// Whether the columns differ.
    pub fn has_other_columns(&self) -> bool {
        !self.added_columns.is_empty() || !self.removed_columns.is_empty() || !self.changed_columns.is_empty()
    }

    /// Whether anything differs, or could not be compared.
    pub fn is_changed(&self) -> bool {
        let has_other_rows = self.rows.0 != self.rows.1 || self.added > 0 || self.removed > 0 || self.closed > 0;
        self.is_new || self.has_other_columns() || has_other_rows || !self.problems.is_empty()
    }
}

/// The two snapshots: production's, and the newest.
pub(super) type Ends = (i64, i64);

/// Compares tables of the fork with what they were.
pub(super) struct Comparing<'a> {
    pub session: &'a Session,
    pub window: &'a Window<'a>,
    pub ends: Ends,
    /// The lake before the run.
    pub facts: &'a LakeFacts,
    /// Whether rows are counted although nothing touched a table.
    pub counts_all: bool,
    pub row_counts: OnceCell<RowCounts>,
}

impl Comparing<'_> {
    /// Compares a model's table.
    pub fn compare(&self, planned: &PlannedModel) -> Comparison {
        let mut comparison = Comparison::default();
        let table = Table { all: self, session: self.session, window: self.window, target: planned.target() };
        if let Err(error) = table.compare(planned, &mut comparison) {
            comparison.problems.push(format!("comparison failed: {}", error.cleaned()));
        }
        comparison
    }
}

/// A table at both ends.
struct Table<'a> {
    all: &'a Comparing<'a>,
    session: &'a Session,
    window: &'a Window<'a>,
    target: &'a Target,
}

impl Table<'_> {
    fn compare(&self, planned: &PlannedModel, found: &mut Comparison) -> Result<(), EngineError> {
        let (was_there, is_there) = self.window.is_there(self.target);
        if !is_there {
            return Ok(());
        }
        if !was_there {
            found.is_new = true;
            found.columns = self.columns(&self.now())?;
            found.rows.1 = Some(self.rows_now()?);
            return Ok(());
        }
        let is_touched = self.window.may_have_changed(self.target);
        if !is_touched && !self.window.columns_changed(self.target) {
            let rows = self.all.counts_all.then(|| self.rows_now()).transpose()?;
            found.rows = (rows, rows);
            return Ok(());
        }
        let last = last_commit(planned, self.all.facts).ok().flatten();
        let kinds = [Some(planned.model.kind), last.as_ref().and_then(|last| last.kind)];
        let is_own = |column: &Column| {
            kinds.iter().flatten().flat_map(|kind| kind.own_columns()).any(|own| column.name.eq_ignore_ascii_case(own))
        };
        let (mut then, mut now) = (self.columns(&self.then())?, self.columns(&self.now())?);
        // It is no column of both: what becomes of it is told as a number of its own.
        let has_versions = [&then, &now].iter().all(|columns| columns.iter().any(|column| column.name == CLOSED_AT));
        if planned.model.kind == Kind::Scd2 && has_versions {
            found.closed = self.closed()?;
        }
        then.retain(|column| !is_own(column));
        now.retain(|column| !is_own(column));
        let hidden = in_clear(&self.session.masks(&planned.model), last.as_ref());
        let is_hidden = |name: &str| hidden.iter().any(|mask| mask.column.eq_ignore_ascii_case(name));
        let common = sort_columns(&then, now, is_hidden, found);
        let (rows_then, rows_now) = self.rows()?;
        found.rows = (Some(rows_then), Some(rows_now));
        if !common.is_empty() {
            self.compare_rows(&common, found)?;
        }
        Ok(())
    }

    /// Versions that were closed since the fork: each is valid to one snapshot before the one that its run read.
    fn closed(&self) -> Result<u64, EngineError> {
        let sql = format!("SELECT count(*) FROM {} WHERE {CLOSED_AT} >= {}", self.now(), self.all.ends.0 - 1);
        Ok(self.session.connection.query_value(&sql)?.as_i64().and_then(|count| count.try_into().ok()).unwrap_or(0))
    }

    fn compare_rows(&self, common: &[Common], found: &mut Comparison) -> Result<(), EngineError> {
        let connection = &self.session.connection;
        if !self.window.is_fed(self.target) {
            return self.compare_sides(&Multisets { common, then: &self.then(), now: &self.now() }, found);
        }
        // What was inserted and deleted again is on both sides. It is asked for several times, and the lake is slow to find it.
        for (name, what) in [(FED_THEN, "deletions"), (FED_NOW, "insertions")] {
            connection.execute(&format!("CREATE OR REPLACE TEMP TABLE {name} AS FROM {}", self.feed(what)))?;
        }
        let compared = self.compare_sides(&Multisets { common, then: FED_THEN, now: FED_NOW }, found);
        let dropped = [FED_THEN, FED_NOW].iter().try_for_each(|name| connection.execute(&format!("DROP TABLE {name}")));
        compared.and(dropped)
    }

    fn compare_sides(&self, sides: &Multisets<'_>, found: &mut Comparison) -> Result<(), EngineError> {
        let counts = self.session.connection.query(&sides.counts())?.into_values().next().unwrap_or_default();
        let count = |at: usize| counts.get(at).and_then(Value::as_i64).and_then(|count| u64::try_from(count).ok());
        (found.added, found.removed) = (count(0).unwrap_or(0), count(1).unwrap_or(0));
        if found.added > 0 {
            found.sample_added = self.sample(&sides.sample(">", SAMPLES))?;
        }
        if found.removed > 0 {
            found.sample_removed = self.sample(&sides.sample("<", SAMPLES))?;
        }
        Ok(())
    }

    /// The first rows of a sample, whose first column says how often each is there.
    fn sample(&self, sql: &str) -> Result<Vec<Vec<Option<String>>>, EngineError> {
        let rows = self.session.connection.query(sql)?.into_values().flat_map(|row| {
            let times = row.first().and_then(Value::as_i64).and_then(|times| usize::try_from(times).ok()).unwrap_or(1);
            let texts: Vec<Option<String>> = row.into_iter().skip(1).map(Value::into_text).collect();
            std::iter::repeat_n(texts, times.min(SAMPLES))
        });
        Ok(rows.take(SAMPLES).collect())
    }

    fn now(&self) -> String {
        self.target.qualified(&self.session.lake)
    }

    fn then(&self) -> String {
        format!("{} AT (VERSION => {})", self.now(), self.all.ends.0)
    }

    fn feed(&self, what: &str) -> String {
        format!(
            "ducklake_table_{what}({}, {}, {}, {}, {})",
            literal(&self.session.lake),
            literal(&self.target.schema),
            literal(&self.target.name),
            self.all.ends.0 + 1,
            self.all.ends.1
        )
    }

    fn columns(&self, table: &str) -> Result<Vec<Column>, EngineError> {
        let sql = format!("SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM {table})");
        let columns = self.session.connection.query(&sql)?.into_values().filter_map(|row| {
            let mut texts = row.into_iter().filter_map(Value::into_text);
            Some(Column { name: texts.next()?, type_name: texts.next()? })
        });
        Ok(columns.collect())
    }

    /// The rows then and now. The engine would open every file to count them, so the metadata is asked where it tells.
    fn rows(&self) -> Result<(i64, i64), EngineError> {
        match self.row_counts()? {
            Some(rows) if self.window.is_same(self.target) => Ok(rows),
            _ => Ok((self.count(&self.then())?, self.count(&self.now())?)),
        }
    }

    fn rows_now(&self) -> Result<i64, EngineError> {
        self.row_counts()?.map_or_else(|| self.count(&self.now()), |(_, now)| Ok(now))
    }

    fn row_counts(&self) -> Result<Option<(i64, i64)>, EngineError> {
        let counts = if let Some(counts) = self.all.row_counts.get() {
            counts
        } else {
            let read = RowCounts::read(&self.session.connection, &self.session.metadata, self.all.ends)?;
            self.all.row_counts.get_or_init(|| read)
        };
        counts.of(&self.session.connection, &self.session.metadata, self.target)
    }

    fn count(&self, table: &str) -> Result<i64, EngineError> {
        Ok(self.session.connection.query_value(&format!("SELECT count(*) FROM {table}"))?.as_i64().unwrap_or(0))
    }
}

/// Notes the columns that differ, and gives those that both have.
fn sort_columns(
    then: &[Column],
    now: Vec<Column>,
    is_hidden: impl Fn(&str) -> bool,
    found: &mut Comparison,
) -> Vec<Common> {
    let is_same = |left: &Column, right: &Column| left.name.eq_ignore_ascii_case(&right.name);
    found.added_columns = now.iter().filter(|now| !then.iter().any(|then| is_same(then, now))).cloned().collect();
    found.removed_columns = then.iter().filter(|then| !now.iter().any(|now| is_same(then, now))).cloned().collect();
    let common = now.into_iter().filter_map(|now| {
        let then = then.iter().find(|then| is_same(then, &now))?.clone();
        Some(Common { name: now.name.clone(), is_hidden: is_hidden(&now.name), then, now })
    });
    let common: Vec<Common> = common.collect();
    let retyped = common.iter().filter(|common| common.then.type_name != common.now.type_name);
    let changed = retyped.map(|common| ChangedColumn {
        name: common.name.clone(),
        old: common.then.type_name.clone(),
        new: common.now.type_name.clone(),
    });
    found.changed_columns = changed.collect();
    common
}
