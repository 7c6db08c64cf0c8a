//! Staged rows in SQL: a table per target, one text a row.

use engine::Rows;
use types::{fnv1a, quote};

use crate::StateError;
use crate::failure::Fence;
use crate::script::{Arg, without_nul};
use crate::sql_store::{SqlStore, count, optional_text, text};
use crate::staging::{FetchLease, StagedFetch, Staging};
use crate::worker::new_term;

/// Longest name of a table that every database keeps apart from others, in bytes (PostgreSQL cuts at 63).
const NAME_BYTES_MAX: usize = 63;

impl Staging for SqlStore {
    fn begin_fetch(&mut self, target: &str, run_id: &str, fingerprint: &str) -> Result<FetchLease, StateError> {
        let fetch = FetchLease { claim_id: new_term()?, target: target.to_owned() };
        let args =
            [("target", Arg::Text(target)), ("run_id", Arg::Text(run_id)), ("fingerprint", Arg::Text(fingerprint))];
        let template = [include_str!("../sql/staging_table.sql"), include_str!("../sql/begin_fetch.sql")].concat();
        let script = self.fetch_script(&template, &fetch, &args);
        self.run_fetch(&script, &fetch, None)?;
        self.held.add(&self.worker, &fetch.claim_id);
        Ok(fetch)
    }

    fn stage_rows(&mut self, fetch: &FetchLease, first_seq: u64, rows: &[String]) -> Result<(), StateError> {
        if rows.is_empty() {
            return Ok(());
        }
        let source = self.rows_of(rows);
        let args = [
            ("first_seq", Arg::Number(i64::try_from(first_seq).unwrap_or(i64::MAX))),
            ("rows", Arg::Sql(&source)),
            ("status", Arg::Text("open")),
        ];
        let template = [include_str!("../sql/fence_fetch.sql"), include_str!("../sql/stage_rows.sql")].concat();
        let script = self.fetch_script(&template, fetch, &args);
        self.run_fetch(&script, fetch, None)
    }

    fn complete_fetch(
        &mut self,
        fetch: &FetchLease,
        row_count: u64,
        empty_result: Option<&str>,
    ) -> Result<(), StateError> {
        let args = [
            ("row_count", Arg::Number(i64::try_from(row_count).unwrap_or(i64::MAX))),
            ("empty_result", Arg::Maybe(empty_result)),
            // Completing twice is completing once.
            ("status", Arg::Sql("status")),
        ];
        let template = [include_str!("../sql/fence_fetch.sql"), include_str!("../sql/complete_fetch.sql")].concat();
        let script = self.fetch_script(&template, fetch, &args);
        self.run_fetch(&script, fetch, None)
    }

    fn stage_whole(
        &mut self,
        target: &str,
        run_id: &str,
        fingerprint: &str,
        rows: &[String],
        empty_result: Option<&str>,
    ) -> Result<FetchLease, StateError> {
        let fetch = FetchLease { claim_id: new_term()?, target: target.to_owned() };
        let source = self.rows_of(rows);
        let args = [
            ("target", Arg::Text(target)),
            ("run_id", Arg::Text(run_id)),
            ("fingerprint", Arg::Text(fingerprint)),
            ("first_seq", Arg::Number(0)),
            ("rows", Arg::Sql(&source)),
            ("row_count", Arg::Number(i64::try_from(rows.len()).unwrap_or(i64::MAX))),
            ("empty_result", Arg::Maybe(empty_result)),
        ];
        let template = [
            include_str!("../sql/staging_table.sql"),
            include_str!("../sql/begin_fetch.sql"),
            if rows.is_empty() { "" } else { include_str!("../sql/stage_rows.sql") },
            include_str!("../sql/complete_fetch.sql"),
        ];
        let script = self.fetch_script(&template.concat(), &fetch, &args);
        self.run_fetch(&script, &fetch, None)?;
        self.held.add(&self.worker, &fetch.claim_id);
        Ok(fetch)
    }

    fn fetches(&mut self, target: &str) -> Result<Vec<StagedFetch>, StateError> {
        let mut found = self.all_fetches()?;
        found.retain(|fetch| fetch.target.to_lowercase() == target.to_lowercase());
        Ok(found)
    }

    fn all_fetches(&mut self) -> Result<Vec<StagedFetch>, StateError> {
        let sql = self.fill(include_str!("../sql/fetches.sql"), &[]);
        let read = |mut row: Vec<engine::Value>| StagedFetch {
            claim_id: text(&mut row[0]),
            target: text(&mut row[1]),
            is_complete: row[2].as_text() == Some("complete"),
            fingerprint: text(&mut row[3]),
            row_count: count(&row[4]),
            empty_result: optional_text(&mut row[5]),
            is_dead: row[6].as_bool() == Some(true),
        };
        Ok(self.values(&sql)?.into_iter().map(read).collect())
    }

    fn adopt_fetch(&mut self, target: &str, claim_id: &str, run_id: &str) -> Result<FetchLease, StateError> {
        let fetch = FetchLease { claim_id: claim_id.to_owned(), target: target.to_owned() };
        let args = [("run_id", Arg::Text(run_id))];
        let script = self.fetch_script(include_str!("../sql/adopt_fetch.sql"), &fetch, &args);
        self.run_fetch(&script, &fetch, None)?;
        self.held.add(&self.worker, &fetch.claim_id);
        Ok(fetch)
    }

    fn staged_rows(&mut self, fetch: &FetchLease, first_seq: u64, limit: u64) -> Result<Rows, StateError> {
        let whole = |number: u64| Arg::Number(i64::try_from(number).unwrap_or(i64::MAX));
        let args = [("first_seq", whole(first_seq)), ("end_seq", whole(first_seq.saturating_add(limit)))];
        let sql = self.fetch_script(include_str!("../sql/staged_rows.sql"), fetch, &args);
        let rows = self.query(&sql, limit)?;
        // Rows that went meanwhile are not an empty fetch.
        let held = self.fetch_script(include_str!("../sql/fetch_held.sql"), fetch, &[]);
        match self.values(&held)?.first().map_or(0, |row| count(&row[0])) {
            1 => Ok(rows),
            _ => Err(StateError::LeaseLost { what: format!("staged rows of {}", fetch.target) }),
        }
    }

    fn drop_fetches(&mut self, fetches: &[FetchLease]) -> Result<(), StateError> {
        let Some(first) = fetches.first() else { return Ok(()) };
        // Whether it was complete does not matter.
        let args = [("status", Arg::Sql("status"))];
        let template = [include_str!("../sql/fence_fetch.sql"), include_str!("../sql/drop_fetch.sql")].concat();
        let script: String = fetches.iter().map(|fetch| self.fetch_script(&template, fetch, &args)).collect();
        self.run_fetch(&script, first, Some(Fence::LeaseLost))?;
        for fetch in fetches {
            self.held.remove(&self.worker, &fetch.claim_id);
        }
        Ok(())
    }
}

impl SqlStore {
    /// Rows as a table of a script.
    fn rows_of(&self, rows: &[String]) -> String {
        let rows: Vec<String> = rows.iter().map(|row| without_nul(row)).collect();
        self.dialect().texts(&serde_json::Value::from(rows).to_string())
    }

    fn fetch_script(&self, template: &str, fetch: &FetchLease, args: &[(&str, Arg<'_>)]) -> String {
        let table = staging_table(&fetch.target);
        let mut all = vec![("claim", Arg::Text(&fetch.claim_id)), ("table", Arg::Sql(&table))];
        all.extend(args);
        self.fill(template, &all)
    }

    fn run_fetch(&mut self, script: &str, fetch: &FetchLease, ends_itself: Option<Fence>) -> Result<(), StateError> {
        let what = format!("staged rows of {}", fetch.target);
        self.execute(script, ends_itself).map_err(|error| error.lease_on(&what))
    }
}

/// The quoted name of a target's staging table. A long one is cut, and told apart by a sum of the whole.
fn staging_table(target: &str) -> String {
    let name = format!("fetch:{target}");
    if name.len() <= NAME_BYTES_MAX {
        return quote(&name);
    }
    let mut cut = NAME_BYTES_MAX - 17;
    while !name.is_char_boundary(cut) {
        cut -= 1;
    }
    quote(&format!("{}:{:016x}", &name[..cut], fnv1a(target.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::staging_table;

    #[test]
    fn long_targets_keep_tables_apart() {
        assert_eq!(staging_table("raw.a"), "\"fetch:raw.a\"");
        let long = |end: &str| staging_table(&format!("raw.{}é{end}", "x".repeat(80)));
        assert_ne!(long("a"), long("b"));
        assert!(long("a").len() <= 65, "{}", long("a"));
    }
}
