//! Changes to feed a queue with, as a change feed would give them.

use std::sync::Arc;

use engine::{Connection, Database, EngineError, Rows};
use state::{Fed, Feed, Position, Queue};

/// A made-up table of the lake: its change number `n` is that of row `n * 7 % rows`.
pub struct Changes {
    connection: Connection,
    rows: i64,
}

impl Changes {
    /// A table of so many rows.
    pub fn of_rows(rows: i64) -> Self {
        Self { connection: Arc::new(Database::open(&[]).unwrap()).connect().unwrap(), rows }
    }

    /// The row of a change, in a table of so many rows.
    pub fn row_of(change: i64, rows: i64) -> i64 {
        change * 7 % rows
    }

    /// Changes from `first` to `last`, each of a snapshot of its own number.
    pub fn between(&self, first: i64, last: i64) -> Result<Rows, EngineError> {
        self.connection.query(&format!(
            "SELECT i * 7 % {} AS row_key, i AS rowid, 'insert' AS change_type, i AS snapshot_id \
             FROM range({first}, {last} + 1) AS r(i) ORDER BY i",
            self.rows
        ))
    }

    /// Feeds a target up to change `last`, from wherever it is.
    pub fn feed(&self, queue: &mut dyn Queue, target: &str, last: i64) -> Result<(), state::StateError> {
        loop {
            let position = queue.position(target)?;
            let from = position.as_ref().map_or(0, |position| position.snapshot);
            if from >= last || self.step(queue, target, position.as_ref(), last)? != Fed::Elsewhere {
                return Ok(());
            }
        }
    }

    /// One step of a target's position.
    pub fn step(
        &self,
        queue: &mut dyn Queue,
        target: &str,
        from: Option<&Position>,
        last: i64,
    ) -> Result<Fed, state::StateError> {
        let feed = Feed { target, from, snapshot: last, table_uuid: "uuid", definition_hash: "hash" };
        let first = from.map_or(0, |position| position.snapshot.max(0)) + 1;
        queue.feed(&feed, &mut || self.between(first, last))
    }
}
