//! Pages that do not get on: a fetch that would never end is an error (chapter 03 §3.4 *Guards*).

use std::collections::BTreeSet;

use lib_functions::{Cell, CellKind, HostValue, Row};

use crate::bad_value::KEPT;
use crate::json_write;

/// Pages in a row that may bring nothing and lead back.
const IDLE_MAX: u32 = 10;

/// What was seen of the pages before.
#[derive(Default)]
pub(crate) struct Guard {
    /// Cursors that pages returned, as text.
    cursors: BTreeSet<String>,
    /// The cursor that the page before was asked with.
    asked: Option<HostValue>,
    /// The sum of its rows, if it was asked with the same one as the page before it.
    last: Option<u64>,
    idle: u32,
}

impl Guard {
    /// A sum for the rows of the page that is asked for with `cursor`, if they are to be compared: a page under the
    /// cursor of the page before.
    pub(crate) fn begin(&mut self, cursor: &HostValue) -> Option<Sum> {
        let is_again = self.asked.as_ref() == Some(cursor);
        if !is_again {
            self.asked = Some(cursor.clone());
            self.last = None;
        }
        is_again.then(Sum::default)
    }

    /// Looks at a page that was [begun](Self::begin). False if the fetch does not advance.
    pub(crate) fn advances(&mut self, next: &HostValue, rows: u64, sum: Option<Sum>) -> bool {
        let sum = sum.filter(|_| rows > 0).map(|sum| sum.0);
        let is_same = sum.is_some() && sum == self.last;
        self.last = sum;
        let is_known = !self.cursors.insert(format!("{next:?}"));
        self.idle = if rows == 0 && is_known { self.idle + 1 } else { 0 };
        !is_same && self.idle < IDLE_MAX
    }
}

/// A sum over the rows of a page, all their keys and values: two pages with the same one hold the same rows.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Sum(u64);

impl Sum {
    pub(crate) fn add(&mut self, row: Row<'_>) {
        for (key, cell) in row.cells() {
            self.add_text(key);
            self.add_cell(cell);
        }
        self.add_text("");
    }

    fn add_cell(&mut self, cell: Cell<'_>) {
        if let Ok(json) = cell.json() {
            return self.add_text(&json);
        }
        // Something in it has no JSON, like a time or NaN.
        match cell.kind() {
            CellKind::List(items) => {
                for item in items {
                    self.add_cell(item);
                }
            }
            CellKind::Dict(entries) => {
                for (key, value) in entries {
                    self.add_cell(key);
                    self.add_cell(value);
                }
            }
            _ => self.add_text(&json_write::shown(cell, KEPT)),
        }
    }

    fn add_text(&mut self, text: &str) {
        self.0 = types::fnv1a(text.as_bytes()).wrapping_add(self.0.wrapping_mul(0x0100_0000_01b3));
    }
}

#[cfg(test)]
mod tests {
    use lib_functions::HostValue;
    use lib_functions::testing::with_rows;

    use super::{Guard, Sum};

    fn sum(rows: &str) -> Sum {
        with_rows(rows, |rows| {
            let mut sum = Sum::default();
            for row in rows {
                sum.add(*row);
            }
            sum
        })
    }

    /// How many of endless pages are taken; each gives the same cursor, and the rows that `rows` tells.
    fn taken(rows: impl Fn(u64) -> u64) -> u64 {
        let (mut guard, mut cursor, next) = (Guard::default(), HostValue::None, HostValue::int(1));
        for page in 0..50 {
            let begun = guard.begin(&cursor).map(|mut sum| {
                sum.add_text(&rows(page).to_string());
                sum
            });
            if !guard.advances(&next, rows(page), begun) {
                return page + 1;
            }
            cursor = next.clone();
        }
        50
    }

    #[test]
    fn the_same_page_under_the_same_cursor_does_not_advance() {
        assert_eq!(taken(|_| 5), 4);
        assert_eq!(taken(|page| page + 1), 50, "new rows under the same cursor are fine");
        assert_eq!(taken(|page| 1 + page % 2), 50, "only pages that follow each other are compared");
    }

    #[test]
    fn empty_pages_that_lead_back_do_not_advance_for_long() {
        assert_eq!(taken(|_| 0), 11);
        let mut guard = Guard::default();
        let is_new = |at: i64| {
            let cursor = HostValue::int(at);
            let begun = guard.begin(&cursor);
            guard.advances(&HostValue::int(at + 1), 0, begun)
        };
        assert!((0..50).all(is_new), "new cursors get on");
    }

    #[test]
    fn sums_tell_rows_apart_by_all_keys_and_values() {
        let same = "[{'a': 1, 'b': [float('nan'), {'c': None}]}, {'a': 2}]";
        assert_eq!(sum(same), sum(same));
        for other in ["[{'a': 1, 'b': [float('nan'), {'c': 0}]}, {'a': 2}]", "[{'a': 2}]", "[{'a': 1}, {'b': 2}]"] {
            assert_ne!(sum(same), sum(other), "{other}");
        }
    }
}
