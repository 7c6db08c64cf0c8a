//! Pages that do not get on: a fetch that would never end is an error (chapter 03 §3.4 *Guards*).

use std::collections::HashSet;

use lib_functions::{Cell, CellKind, HostValue, Row};

use crate::bad_value::KEPT;
use crate::json_write;

/// Pages in a row that may bring nothing and lead back.
const IDLE_MAX: u32 = 10;

/// What was seen of the pages before.
#[derive(Default)]
pub(crate) struct Guard {
    /// Sums of the cursors that pages returned: there may be millions of them, each a long text.
    cursors: HashSet<u64>,
    /// The cursor that the page before was asked with.
    asked: Option<HostValue>,
    /// The sum of its rows, if it was asked with the same one as the page before or after it.
    last: Option<u64>,
    idle: u32,
}

impl Guard {
    /// Begins a page that is asked for with `cursor`.
    pub(crate) fn begin(&mut self, cursor: &HostValue) -> PageSum {
        let is_again = self.asked.as_ref() == Some(cursor);
        if !is_again {
            self.asked = Some(cursor.clone());
            self.last = None;
        }
        PageSum { is_again, sum: None }
    }

    /// Looks at a page that was [begun](Self::begin). False if the fetch does not advance.
    pub(crate) fn advances(&mut self, next: &HostValue, rows: u64, page: PageSum) -> bool {
        let sum = page.sum.map(|sum| sum.0);
        let is_same = sum.is_some() && sum == self.last;
        self.last = sum;
        let is_known = !self.cursors.insert(types::fnv1a(format!("{next:?}").as_bytes()));
        self.idle = if rows == 0 && is_known { self.idle + 1 } else { 0 };
        !is_same && self.idle < IDLE_MAX
    }
}

/// What of a page is compared with the one before and after it: only pages under the same cursor are.
pub(crate) struct PageSum {
    is_again: bool,
    sum: Option<Sum>,
}

impl PageSum {
    /// Adds a row; `leads_back` if the page's `next` is the cursor that it was asked with.
    pub(crate) fn add(&mut self, row: Row<'_>, leads_back: bool) {
        if self.is_again || leads_back {
            self.sum.get_or_insert_default().add(row);
        }
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

    use super::{Guard, PageSum, Sum};

    fn sum(rows: &str) -> Sum {
        with_rows(rows, |rows| {
            let mut sum = Sum::default();
            for row in rows {
                sum.add(*row);
            }
            sum
        })
    }

    /// Adds the row `{'a': number}` so many times as is told by the number.
    fn add_rows(page: &mut PageSum, number: u64, leads_back: bool) {
        with_rows(&format!("[{{'a': {number}}}] * {number}"), |rows| {
            for row in rows {
                page.add(*row, leads_back);
            }
        });
    }

    /// How many of endless pages are taken; each gives the same cursor, and the rows that `rows` tells.
    fn taken(rows: impl Fn(u64) -> u64) -> u64 {
        let (mut guard, mut cursor, next) = (Guard::default(), HostValue::None, HostValue::int(1));
        for page in 0..50 {
            let mut begun = guard.begin(&cursor);
            add_rows(&mut begun, rows(page), next == cursor);
            if !guard.advances(&next, rows(page), begun) {
                return page + 1;
            }
            cursor = next.clone();
        }
        50
    }

    #[test]
    fn the_same_page_under_the_same_cursor_does_not_advance() {
        assert_eq!(taken(|_| 5), 3, "the second page under the cursor ends it");
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
