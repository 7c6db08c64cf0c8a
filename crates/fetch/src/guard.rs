//! Pages that do not get on: a fetch that would never end is an error (chapter 03 §3.4 *Guards*).

use std::collections::BTreeSet;

use lib_functions::HostValue;

/// Pages in a row that may bring nothing and lead back.
const IDLE_MAX: u32 = 10;

/// What was seen of the pages before.
#[derive(Default)]
pub(crate) struct Guard {
    /// Cursors that pages returned, as text.
    cursors: BTreeSet<String>,
    last: Option<(String, u64)>,
    idle: u32,
}

impl Guard {
    /// Looks at a page with its sum over all rows. False if the fetch does not advance.
    pub(crate) fn advances(&mut self, next: &HostValue, rows: u64, sum: u64) -> bool {
        let cursor = format!("{next:?}");
        let is_same = rows > 0 && self.last.as_ref().is_some_and(|last| *last == (cursor.clone(), sum));
        let is_known = !self.cursors.insert(cursor.clone());
        self.idle = if rows == 0 && is_known { self.idle + 1 } else { 0 };
        self.last = (rows > 0).then_some((cursor, sum));
        !is_same && self.idle < IDLE_MAX
    }
}

#[cfg(test)]
mod tests {
    use lib_functions::HostValue;

    use super::Guard;

    #[test]
    fn the_same_page_twice_does_not_advance() {
        let mut guard = Guard::default();
        let cursor = HostValue::int(1);
        assert!(guard.advances(&cursor, 5, 77));
        assert!(guard.advances(&cursor, 5, 78), "new rows under the same cursor are fine");
        assert!(!guard.advances(&cursor, 5, 78));
    }

    #[test]
    fn empty_pages_that_lead_back_do_not_advance_for_long() {
        let mut guard = Guard::default();
        let pages = (0..50).take_while(|_| guard.advances(&HostValue::int(1), 0, 0)).count();
        assert!(pages <= 11, "{pages}");
        let mut guard = Guard::default();
        assert!((0..50).all(|at| guard.advances(&HostValue::int(at), 0, 0)), "new cursors get on");
    }
}
