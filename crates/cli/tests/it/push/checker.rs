//! Compares what a sink took with the history of the table: nothing is lost, and each row comes in order.

use std::collections::{BTreeMap, BTreeSet};

use engine::Value;
use serde_json::json;
use testkit::Lake;

use super::sink::{Row, Sink};

/// A row's columns `id`, `k`, `v`.
type Values = [i64; 3];

/// What arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrived {
    /// Rows that the sink took, each time that it did.
    pub rows: usize,
    /// Those of them that it had taken before.
    pub twice: usize,
}

/// A change as the lake tells it.
struct Event {
    change: String,
    values: Values,
}

fn numbers(lake: &Lake, sql: &str) -> Vec<Vec<Value>> {
    lake.connection.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}")).into_values().collect()
}

fn values(row: &[Value]) -> Values {
    [0, 1, 2].map(|at| row[at].as_i64().unwrap())
}

fn values_of(row: &Row) -> Values {
    ["id", "k", "v"].map(|column| row.number(column))
}

/// All changes since the table was made, by row id, in order.
fn history(lake: &Lake, table: &str) -> BTreeMap<i64, Vec<Event>> {
    let first = lake.number(&format!(
        "SELECT begin_snapshot FROM __ducklake_metadata_lake.ducklake_table WHERE table_name = '{table}' \
         AND end_snapshot IS NULL"
    ));
    let last = lake.number("SELECT max(snapshot_id) FROM lake.snapshots()");
    let sql = format!(
        "SELECT id, k, v, rowid, change_type FROM ducklake_table_changes('lake', 'sync', '{table}', {first}, {last}) \
         ORDER BY snapshot_id, change_type <> 'delete', change_type <> 'update_preimage'"
    );
    let mut history: BTreeMap<i64, Vec<Event>> = BTreeMap::new();
    for row in numbers(lake, &sql) {
        let change = row[4].as_text().unwrap().to_owned();
        history.entry(row[3].as_i64().unwrap()).or_default().push(Event { change, values: values(&row) });
    }
    history
}

/// Checks that the sink has all that the table `sync.<table>` went through, if it was fed from its first snapshot on
/// with all its changes.
#[track_caller]
pub fn check(lake: &Lake, sink: &Sink, table: &str) -> Arrived {
    let history = history(lake, table);
    let mut first = BTreeSet::new();
    let mut arrivals: BTreeMap<i64, Vec<(usize, Row)>> = BTreeMap::new();
    let mut arrived = Arrived { rows: 0, twice: 0 };
    for (call, row) in
        sink.calls().iter().enumerate().flat_map(|(at, call)| call.taken.iter().map(move |row| (at, row)))
    {
        arrived.rows += 1;
        arrived.twice += usize::from(!first.insert(row.event.clone()));
        arrivals.entry(row.rowid).or_default().push((call, row.clone()));
    }
    for rowid in arrivals.keys() {
        assert!(history.contains_key(rowid), "row {rowid} was never in the table");
    }
    for (rowid, events) in &history {
        check_row(*rowid, events, arrivals.get(rowid).map_or(&[][..], Vec::as_slice));
    }
    converged(lake, sink, table);
    arrived
}

/// The changes of one row.
#[track_caller]
fn check_row(rowid: i64, events: &[Event], arrivals: &[(usize, Row)]) {
    // The ids, in the order of their first arrival.
    let mut ids: Vec<&str> = Vec::new();
    let mut of: BTreeMap<&str, &Row> = BTreeMap::new();
    for (_, row) in arrivals {
        if of.insert(&row.event, row).is_none() {
            ids.push(&row.event);
        }
    }
    let is_gone = events.last().is_some_and(|event| event.change == "delete");
    let told = || {
        let events: Vec<&str> = events.iter().map(|event| event.change.as_str()).collect();
        let came: Vec<_> = arrivals.iter().map(|(call, row)| (call, &row.change, values_of(row))).collect();
        format!("row {rowid}: {events:?} came as {came:?}")
    };
    // Each change that arrived, by its place in the history.
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    let mut ids = ids.into_iter().peekable();
    for (place, event) in events.iter().enumerate() {
        let is_new = matches!(event.change.as_str(), "insert" | "update_postimage");
        match ids.next_if(|id| of[id].change == event.change) {
            Some(id) => {
                let found = values_of(of[id]);
                let is_right = if is_new { found[2] >= event.values[2] } else { found == event.values };
                assert!(is_right, "{found:?} for {:?}: {}", event.values, told());
                places.insert(id, place);
            }
            // How a row is now is not told of one that is gone.
            None => assert!(is_gone && is_new, "{} at {place} did not arrive: {}", event.change, told()),
        }
    }
    assert!(ids.next().is_none(), "too many: {}", told());
    in_order(arrivals, &places, &told);
}

/// Only the last call of a row may come again.
#[track_caller]
fn in_order(arrivals: &[(usize, Row)], places: &BTreeMap<&str, usize>, told: &dyn Fn() -> String) {
    let mut calls: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (call, row) in arrivals {
        calls.entry(*call).or_default().push(places[row.event.as_str()]);
    }
    let mut before = 0;
    for places in calls.values() {
        assert!(places.is_sorted() && places[0] >= before, "out of order: {}", told());
        before = places[0];
    }
}

/// Checks that the rows that the sink took, one after the other, come to what the table holds.
#[track_caller]
pub fn converged(lake: &Lake, sink: &Sink, table: &str) {
    let rows = numbers(lake, &format!("SELECT id, k, v, rowid FROM lake.sync.{table}"));
    let table: BTreeMap<i64, Values> = rows.iter().map(|row| (row[3].as_i64().unwrap(), values(row))).collect();
    let mut held: BTreeMap<i64, Values> = BTreeMap::new();
    for row in sink.taken() {
        match row.change.as_str() {
            "delete" => drop(held.remove(&row.rowid)),
            "update_preimage" => {}
            _ => drop(held.insert(row.rowid, values_of(&row))),
        }
    }
    assert_eq!(json!(held), json!(table), "what the sink holds, and the table");
}
