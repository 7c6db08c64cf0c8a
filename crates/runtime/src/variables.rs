//! The variables and functions that the runtime gives to SQL (chapter 01 §2.4).

use types::{literal, quote};

/// Variables that are known before anything is attached.
pub(crate) fn run_variables(unix_seconds: i64, random: u32) -> String {
    format!(
        "SET VARIABLE ondatra_run_time = make_timestamp({unix_seconds}000000);\n\
         SET VARIABLE ondatra_load_id = {};\n",
        literal(&format!("{unix_seconds}_{random}"))
    )
}

/// Functions that return them; they live in the `memory` database, which is current at this point.
pub(crate) const FUNCTIONS: &str = "\
    CREATE MACRO memory.main.ondatra_now() AS getvariable('ondatra_run_time');\n\
    CREATE MACRO memory.main.ondatra_load_id() AS getvariable('ondatra_load_id');\n\
    CREATE MACRO memory.main.last_snapshot() AS getvariable('curr_snapshot');\n\
    CREATE MACRO memory.main.prev_snapshot() AS getvariable('prev_snapshot');\n\
    CREATE MACRO memory.main.dag_start_snapshot() AS getvariable('dag_start_snapshot');\n";

/// What needs the lake: the function that asks it, and the snapshot variables.
pub(crate) fn snapshot_variables(lake: &str) -> String {
    let current = format!("(SELECT id FROM {}.current_snapshot())", quote(lake));
    format!(
        "CREATE MACRO memory.main.ondatra_current_snapshot() AS {current};\n\
         SET VARIABLE curr_snapshot = {current}::BIGINT;\n\
         SET VARIABLE prev_snapshot = greatest(getvariable('curr_snapshot') - 1, 0)::BIGINT;\n\
         SET VARIABLE {START} = getvariable('curr_snapshot');\n\
         SET VARIABLE dag_start_snapshot = getvariable('curr_snapshot');\n"
    )
}

/// Keeps the session's first snapshot, while `curr_snapshot` goes on.
const START: &str = "__ondatra_start_snapshot";

/// The snapshots that a model's query sees: that of the session's start, which warnings of a model before may have moved, and
/// where its news begin, behind what its last run has read if it goes on from there.
pub(crate) fn snapshots_of_query(read_before: Option<i64>) -> String {
    let start = read_before.map_or_else(|| format!("getvariable('{START}')"), |snapshot| format!("{snapshot}::BIGINT"));
    format!(
        "SET VARIABLE curr_snapshot = getvariable('{START}');\n\
         SET VARIABLE prev_snapshot = greatest(getvariable('{START}') - 1, 0)::BIGINT;\n\
         SET VARIABLE dag_start_snapshot = {start}"
    )
}

/// The cursor variables for a model without `@incremental`: nothing of an earlier model may leak.
pub(crate) const NO_CURSOR: &str = "\
    SET VARIABLE incr_last_value = NULL::VARCHAR;\n\
    SET VARIABLE incr_last_run = NULL::VARCHAR;\n\
    SET VARIABLE incr_cursor = NULL::VARCHAR;\n\
    SET VARIABLE incr_is_backfill = NULL::BOOLEAN;\n";

#[cfg(test)]
mod tests {
    use super::{FUNCTIONS, snapshot_variables};

    #[test]
    fn validate_knows_the_functions_of_a_session() {
        let made = model::written_macros(&[FUNCTIONS, &snapshot_variables("lake")].concat());
        let mut names: Vec<String> = made.into_iter().map(|written| written.name).collect();
        names.sort();
        assert_eq!(names, validate::OF_SESSION);
    }
}
