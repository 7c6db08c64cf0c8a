//! The new rows of a table over a window: exactly the table as it is EXCEPT ALL the table as it was
//! (chapter 02 §4.1), with identity in the place of SQL's equality (decision 0005).

use engine::{Connection, EngineError, identity};
use types::{Target, literal, quote};

use crate::columns::Paired;
use crate::narrow::ROWS_MAX;
use crate::{Method, Window};

/// The new rows of a table, kept in a temporary table behind a view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delta {
    /// How they were found.
    pub method: Method,
    /// How many there are.
    pub rows: i64,
}

/// Names of the temporary relations of one table.
///
/// They are views: a temporary table would offer a `rowid` of its own in the place of the lake's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TempNames {
    rows: String,
    inserted: String,
    /// The view of the new rows.
    pub delta: String,
    /// The view of all others.
    pub before: String,
}

impl TempNames {
    /// The names for the table number `at` of a run's query.
    pub fn new(at: usize) -> Self {
        let name = |what: &str| format!("__ondatra_{what}_{at}");
        Self { rows: name("rows"), inserted: name("inserted"), delta: name("delta"), before: name("before") }
    }

    /// Drops what may be there.
    pub fn drop(&self, connection: &Connection) -> Result<(), EngineError> {
        let drop =
            |what: &str, name: &str| connection.execute(&format!("DROP {what} IF EXISTS temp.main.{}", quote(name)));
        drop("VIEW", &self.before)?;
        drop("VIEW", &self.delta)?;
        drop("TABLE", &self.rows)?;
        drop("TABLE", &self.inserted)
    }
}

impl Window<'_> {
    /// Finds the new rows of `table` and makes the view of them.
    pub fn delta(&self, table: &Target, names: &TempNames) -> Result<Delta, EngineError> {
        let method = self.method(table);
        if matches!(method, Method::Unchanged | Method::Lost) {
            return Ok(Delta { method, rows: 0 });
        }
        let columns = self.paired_columns(table)?;
        let retyped = columns.iter().any(|paired| paired.retyped);
        let method =
            if retyped && matches!(method, Method::Feed | Method::Inserted) { Method::Compare } else { method };
        let rows = quote(&names.rows);
        let sql = match method {
            Method::Feed => self.feed_sql(table, names, &columns)?,
            _ => self.delta_sql(table, method, &columns),
        };
        self.connection.execute(&format!("CREATE OR REPLACE TEMP TABLE {rows} AS {sql}"))?;
        let view = quote(&names.delta);
        self.connection.execute(&format!("CREATE OR REPLACE TEMP VIEW {view} AS SELECT * FROM temp.main.{rows}"))?;
        let count = self.connection.query_value(&format!("SELECT count(*) FROM temp.main.{rows}"))?;
        Ok(Delta { method, rows: count.as_i64().unwrap_or(0) })
    }

    /// Drops the relations of deltas that are of no use after all.
    pub fn forget(&self, deltas: &[TempNames]) -> Result<(), EngineError> {
        deltas.iter().try_for_each(|names| names.drop(self.connection))
    }

    /// Makes the view of the rows of `table` that are not new; its delta must be there.
    pub fn before(&self, table: &Target, names: &TempNames) -> Result<(), EngineError> {
        let columns = self.paired_columns(table)?;
        let delta = format!("temp.main.{}", quote(&names.delta));
        self.connection.execute(&format!(
            "CREATE OR REPLACE TEMP VIEW {} AS {}",
            quote(&names.before),
            difference(&columns, &table.qualified(self.lake), &delta)
        ))
    }

    /// What was inserted less what was deleted. Only a row that was inserted can be new, so where few were,
    /// close together, the two versions are asked for their like.
    fn feed_sql(&self, table: &Target, names: &TempNames, columns: &[Paired]) -> Result<String, EngineError> {
        let inserted = format!("temp.main.{}", quote(&names.inserted));
        let sql = format!("SELECT {} FROM {}", list(columns), self.feed("insertions", table));
        self.connection.execute(&format!("CREATE OR REPLACE TEMP TABLE {} AS {sql}", quote(&names.inserted)))?;
        let count = self.connection.query_value(&format!("SELECT count(*) FROM {inserted}"))?.as_i64().unwrap_or(0);
        if count == 0 {
            return Ok(format!("FROM {inserted}"));
        }
        let narrow = if count <= ROWS_MAX { self.narrow_column(table, columns, &inserted)? } else { None };
        Ok(match narrow {
            None => difference(columns, &inserted, &self.feed("deletions", table)),
            Some(narrow) => {
                let condition = narrow.condition(columns, &inserted);
                let part = |version: &str| format!("(FROM {version} WHERE {condition})");
                difference(columns, &part(&table.qualified(self.lake)), &part(&self.version_then(table, columns)))
            }
        })
    }

    /// The older version, with the columns of the table as it is.
    fn version_then(&self, table: &Target, columns: &[Paired]) -> String {
        let then: Vec<String> =
            columns.iter().map(|paired| format!("{} AS {}", paired.then, quote(&paired.column.name))).collect();
        format!("(SELECT {} FROM {} AT (VERSION => {}))", then.join(", "), table.qualified(self.lake), self.since)
    }

    fn delta_sql(&self, table: &Target, method: Method, columns: &[Paired]) -> String {
        let name = table.qualified(self.lake);
        match method {
            Method::All | Method::Unchanged | Method::Lost => format!("SELECT {} FROM {name}", list(columns)),
            Method::Inserted => format!("SELECT {} FROM {}", list(columns), self.feed("insertions", table)),
            Method::Feed | Method::Compare => difference(columns, &name, &self.version_then(table, columns)),
        }
    }

    /// The feed's two functions return the columns as they are now (chapter 02 §4.2).
    fn feed(&self, what: &str, table: &Target) -> String {
        format!(
            "ducklake_table_{what}({}, {}, {}, {}, {})",
            literal(self.lake),
            literal(&table.schema),
            literal(&table.name),
            self.since + 1,
            self.until
        )
    }
}

/// The rows of one relation that the other lacks, as multisets of identical rows: equal rows are numbered,
/// and pairs of equal number are taken away. EXCEPT ALL would do the same with SQL's equality, and give
/// back 0.0 for -0.0 (measured).
fn difference(columns: &[Paired], left: &str, right: &str) -> String {
    let identities: Vec<String> =
        columns.iter().map(|paired| identity(&paired.column, &quote(&paired.column.name))).collect();
    let aliased: Vec<String> =
        identities.iter().enumerate().map(|(at, sql)| format!("{sql} AS __ondatra_i{at}")).collect();
    let (all, partition) = (aliased.join(", "), identities.join(", "));
    let numbered = format!("{all}, row_number() OVER (PARTITION BY {partition}) AS __ondatra_nth");
    let same = (0..columns.len()).map(|at| format!(" AND l.__ondatra_i{at} IS NOT DISTINCT FROM r.__ondatra_i{at}"));
    format!(
        "SELECT {} FROM (SELECT {}, {numbered} FROM {left}) l ANTI JOIN (SELECT {numbered} FROM {right}) r \
         ON l.__ondatra_nth = r.__ondatra_nth{}",
        list(columns),
        list(columns),
        same.collect::<String>()
    )
}

fn list(columns: &[Paired]) -> String {
    columns.iter().map(|paired| quote(&paired.column.name)).collect::<Vec<_>>().join(", ")
}
