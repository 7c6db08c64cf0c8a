//! How a table of the fork differs from production's: the fork itself as it was before the run (chapter 05 §4.3).

use engine::{EngineError, LakeFacts, Value, identity};
use feed::Window;
use types::{Column, Target, literal, quote};

use crate::Session;
use crate::masking::in_clear;
use crate::planning::{PlannedModel, last_commit};

/// Most rows of each kind that are shown.
const SAMPLES: usize = 2;
/// In the place of a value that the model masks and production's table holds in clear.
const MASKED: &str = "(masked)";

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
        let has_other_rows = self.rows.0 != self.rows.1 || self.added > 0 || self.removed > 0;
        self.is_new || self.has_other_columns() || has_other_rows || !self.problems.is_empty()
    }
}

/// The two snapshots: production's, and the newest.
pub(super) type Ends = (i64, i64);

/// Compares a model's table; `counts` says whether rows are counted although nothing touched the table.
pub(super) fn compare(
    session: &Session,
    window: &Window<'_>,
    ends: Ends,
    (planned, facts): (&PlannedModel, &LakeFacts),
    counts: bool,
) -> Comparison {
    let mut comparison = Comparison::default();
    let tables = Tables { session, window, ends, target: planned.target() };
    if let Err(error) = tables.compare(planned, facts, counts, &mut comparison) {
        comparison.problems.push(format!("comparison failed: {}", error.cleaned()));
    }
    comparison
}

/// A table at both ends.
struct Tables<'a> {
    session: &'a Session,
    window: &'a Window<'a>,
    ends: Ends,
    target: &'a Target,
}

/// A column that both have.
struct Common {
    name: String,
    then: Column,
    now: Column,
    is_hidden: bool,
}

impl Tables<'_> {
    fn compare(
        &self,
        planned: &PlannedModel,
        facts: &LakeFacts,
        counts: bool,
        found: &mut Comparison,
    ) -> Result<(), EngineError> {
        let (was_there, is_there) = self.window.is_there(self.target);
        if !is_there {
            return Ok(());
        }
        if !was_there {
            found.is_new = true;
            found.columns = self.columns(&self.now())?;
            found.rows.1 = Some(self.count(&self.now())?);
            return Ok(());
        }
        let is_touched = self.window.may_have_changed(self.target);
        if !is_touched && !self.window.columns_changed(self.target) {
            let rows = counts.then(|| self.count(&self.now())).transpose()?;
            found.rows = (rows, rows);
            return Ok(());
        }
        let last = last_commit(planned, facts).ok().flatten();
        let kinds = [Some(planned.model.kind), last.as_ref().and_then(|last| last.kind)];
        let is_own = |column: &Column| {
            kinds.iter().flatten().flat_map(|kind| kind.own_columns()).any(|own| column.name.eq_ignore_ascii_case(own))
        };
        let (mut then, mut now) = (self.columns(&self.then())?, self.columns(&self.now())?);
        then.retain(|column| !is_own(column));
        now.retain(|column| !is_own(column));
        let hidden = in_clear(&self.session.masks(&planned.model), last.as_ref());
        let is_hidden = |name: &str| hidden.iter().any(|mask| mask.column.eq_ignore_ascii_case(name));
        let common = sort_columns(&then, now, is_hidden, found);
        found.rows = (Some(self.count(&self.then())?), Some(self.count(&self.now())?));
        if !common.is_empty() {
            self.compare_rows(&common, found)?;
        }
        Ok(())
    }

    fn compare_rows(&self, common: &[Common], found: &mut Comparison) -> Result<(), EngineError> {
        let (then, now) = if self.window.is_fed(self.target) {
            // What was inserted and deleted again is on both sides.
            (self.feed("deletions"), self.feed("insertions"))
        } else {
            (self.then(), self.now())
        };
        let both = Both { common, then: &then, now: &now };
        let counts = self.session.connection.query(&both.counts())?.into_values().next().unwrap_or_default();
        let count = |at: usize| counts.get(at).and_then(Value::as_i64).and_then(|count| u64::try_from(count).ok());
        (found.added, found.removed) = (count(0).unwrap_or(0), count(1).unwrap_or(0));
        if found.added > 0 {
            found.sample_added = self.sample(&both.sample(">"))?;
        }
        if found.removed > 0 {
            found.sample_removed = self.sample(&both.sample("<"))?;
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
        format!("{} AT (VERSION => {})", self.now(), self.ends.0)
    }

    fn feed(&self, what: &str) -> String {
        format!(
            "ducklake_table_{what}({}, {}, {}, {}, {})",
            literal(&self.session.lake),
            literal(&self.target.schema),
            literal(&self.target.name),
            self.ends.0 + 1,
            self.ends.1
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

    fn count(&self, table: &str) -> Result<i64, EngineError> {
        let count = self.session.connection.query_value(&format!("SELECT count(*) FROM {table}"))?;
        Ok(count.as_i64().unwrap_or(0))
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

/// Rows of both sides as multisets: those of now count up, those of then count down.
struct Both<'a> {
    common: &'a [Common],
    then: &'a str,
    now: &'a str,
}

impl Both<'_> {
    /// How many rows were added, and how many removed.
    fn counts(&self) -> String {
        format!(
            "SELECT coalesce(sum(n) FILTER (WHERE n > 0), 0)::BIGINT, coalesce(-sum(n) FILTER (WHERE n < 0), 0)::BIGINT \
             FROM (SELECT sum(side) AS n FROM ({}) GROUP BY {})",
            self.rows(false),
            self.keys()
        )
    }

    /// Some of the rows whose count is above or below 0, by their texts.
    fn sample(&self, above: &str) -> String {
        let texts: Vec<String> = (0..self.common.len()).map(|at| format!("first(t{at}) AS t{at}")).collect();
        let order: Vec<String> = (0..self.common.len()).map(|at| format!("t{at}")).collect();
        format!(
            "SELECT abs(sum(side))::BIGINT AS n, {} FROM ({}) GROUP BY {} HAVING sum(side) {above} 0 \
             ORDER BY {} LIMIT {SAMPLES}",
            texts.join(", "),
            self.rows(true),
            self.keys(),
            order.join(", ")
        )
    }

    fn rows(&self, with_texts: bool) -> String {
        let side = |number: &str, table: &str, is_now: bool| {
            let columns = self.common.iter().enumerate().flat_map(|(at, common)| {
                let name = quote(if is_now { &common.now.name } else { &common.then.name });
                let mut all = vec![format!("{} AS k{at}", key(common, &name, is_now))];
                if common.then.type_name != common.now.type_name {
                    all.push(format!("{name} IS NULL AS e{at}"));
                }
                if with_texts {
                    let is_shown = is_now || !common.is_hidden;
                    let text = if is_shown { format!("CAST({name} AS VARCHAR)") } else { literal(MASKED) };
                    all.push(format!("{text} AS t{at}"));
                }
                all
            });
            format!("SELECT {number} AS side, {} FROM {table}", columns.collect::<Vec<_>>().join(", "))
        };
        format!("{} UNION ALL {}", side("1", self.now, true), side("-1", self.then, false))
    }

    fn keys(&self) -> String {
        let keys = self.common.iter().enumerate().flat_map(|(at, common)| {
            let is_retyped = common.then.type_name != common.now.type_name;
            std::iter::once(format!("k{at}")).chain(is_retyped.then(|| format!("e{at}")))
        });
        keys.collect::<Vec<_>>().join(", ")
    }
}

/// What tells a value from others. One of another type counts as what it is in the new one; what it cannot be is like
/// nothing but NULL, from which `e` tells it.
fn key(common: &Common, name: &str, is_now: bool) -> String {
    if is_now || common.then.type_name == common.now.type_name {
        return identity(&common.now, name);
    }
    identity(&common.now, &format!("TRY_CAST({name} AS {})", common.now.type_name))
}
