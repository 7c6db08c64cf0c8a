//! What each kind makes of fetched rows, run after run.

use serde_json::json;
use testkit::http::{Answer, Server};
use testkit::{Lake, Project};

use super::{COLUMNS, Items, PAGES, model, page, page_number, run, staged, with_lib};
use crate::project;

const APPEND: &str = "append\n-- @incremental: id\n-- @incremental_initial: 0";
const MERGE: &str = "merge\n-- @unique_key: id";
const TRACKED: &str = "tracked\n-- @group_key: k";
const SCD2: &str = "scd2\n-- @unique_key: id";

/// The items of the first run: two pages.
const FIRST: [(i64, i64, &str); 3] = [(1, 1, "a"), (2, 1, "b"), (3, 2, "c")];

/// A project with one model, run once, and a model that counts its rows.
fn first_run(header: &str) -> (Project, Items) {
    let (project, items) = (project(), Items::start(&FIRST));
    // Only append asks for what is new.
    items.lib(&project, 2);
    if !header.contains("@incremental") {
        let whole = super::lib(&items.api, "\"page_size\": 2", &super::ITEMS.replace("last_value", "initial_value"));
        project.write("lib/items.star", &whole);
    }
    model(&project, "raw/x", header, COLUMNS, "items()");
    project.model("staging/n", "SELECT count(*) AS n FROM raw.x");
    let output = run(&project);
    assert!(output.contains("backfill, 3 rows") && output.contains("Done: 2 ran"), "{output}");
    assert_eq!(items.api.take_seen().len(), 2);
    assert_eq!(rows(&project), "1,1,a\n2,1,b\n3,2,c\n");
    (project, items)
}

fn rows(project: &Project) -> String {
    project.rows("SELECT id, k, v FROM raw.x ORDER BY ALL")
}

/// Runs again and checks the line of the model, that of the one that reads it, and the rows.
#[track_caller]
fn again(project: &Project, line: &str, reader: &str, expected: &str) -> String {
    let output = run(project);
    assert!(output.contains(&format!("[OK] raw.x ({line}")), "{output}");
    assert!(output.contains(&format!("[{reader}] staging.n")), "{output}");
    assert_eq!(rows(project), expected);
    assert_eq!(staged(project, "raw.x"), [], "nothing stays in the state");
    output
}

fn snapshots(project: &Project) -> String {
    project.rows("SELECT max(snapshot_id) FROM lake.snapshots()")
}

#[test]
fn a_table_is_what_the_last_fetch_gave() {
    let (project, items) = first_run("table");
    let same = "1,1,a\n2,1,b\n3,2,c\n";
    again(&project, "table, full, 3 rows", "SKIP", same);
    items.set(&[(1, 1, "A"), (3, 2, "c")]);
    let output = again(&project, "table, full, 2 rows", "OK", "1,1,A\n3,2,c\n");
    assert!(output.contains("— fetch source)"), "{output}");
    items.set(&[]);
    again(&project, "table, full, 0 rows", "OK", "");
    items.set(&[(9, 9, "z")]);
    again(&project, "table, full, 1 rows", "OK", "9,9,z\n");
}

#[test]
fn append_adds_what_is_new_to_its_cursor() {
    let (project, items) = first_run(APPEND);
    let same = "1,1,a\n2,1,b\n3,2,c\n";
    again(&project, "append, incremental, 0 rows", "SKIP", same);
    assert_eq!(items.api.take_seen()[0].parameter("since").as_deref(), Some("3"));
    items.set(&[(1, 1, "a"), (2, 1, "changed"), (3, 2, "c"), (4, 2, "d"), (5, 2, "e"), (6, 3, "f")]);
    again(&project, "append, incremental, 3 rows", "OK", &format!("{same}4,2,d\n5,2,e\n6,3,f\n"));
    assert_eq!(items.api.take_seen().len(), 2);
    items.say(Some("delete_missing"));
    again(&project, "append, incremental, 0 rows", "SKIP", &format!("{same}4,2,d\n5,2,e\n6,3,f\n"));
}

#[test]
fn merge_upserts_by_its_key() {
    let (project, items) = first_run(MERGE);
    let same = "1,1,a\n2,1,b\n3,2,c\n";
    again(&project, "merge, incremental, ", "SKIP", same);
    items.set(&[(2, 1, "B"), (4, 2, "d")]);
    again(&project, "merge, incremental, 2 rows", "OK", "1,1,a\n2,1,B\n3,2,c\n4,2,d\n");
    items.set(&[]);
    again(&project, "merge, incremental, 0 rows", "SKIP", "1,1,a\n2,1,B\n3,2,c\n4,2,d\n");
    items.set(&[(7, 1, "x"), (7, 1, "y")]);
    let output = project.run(&["run"]).failure(1);
    assert!(output.stderr.contains("occur more than once in column id: 7"), "{}", output.stderr);
    assert_eq!(staged(&project, "raw.x"), [], "these rows fail every time");
}

#[test]
fn what_to_do_about_a_key_can_be_done_in_a_model_that_fetches() {
    for (rows, expected) in [
        (r#"[{"id": 1}, {"id": 1}]"#, "keep one row for each `id` in the lib function; or fetch into an append"),
        (r#"[{"id": 1}, {"id": None}]"#, "leave these rows out in the lib function"),
    ] {
        let project = super::with_lib(&super::silent(), "", &super::returning(rows));
        model(&project, "raw/x", "merge\n-- @unique_key: id", "id::BIGINT AS id", "api()");
        let output = project.run(&["run"]).failure(1);
        assert!(output.stderr.contains(&format!("help: {expected}")), "{}", output.stderr);
        assert!(output.stderr.contains("RUN-004"), "{}", output.stderr);
    }
}

#[test]
fn tracked_replaces_groups_and_an_empty_fetch_deletes_only_if_it_says_so() {
    let (project, items) = first_run(TRACKED);
    let same = "1,1,a\n2,1,b\n3,2,c\n";
    again(&project, "tracked, incremental, 0 rows", "SKIP", same);
    items.set(&[(1, 1, "a"), (2, 1, "B"), (4, 3, "d")]);
    let changed = "1,1,a\n2,1,B\n4,3,d\n";
    again(&project, "tracked, incremental, 3 rows", "OK", changed);
    items.set(&[]);
    let before = snapshots(&project);
    again(&project, "tracked, incremental, 0 rows", "SKIP", changed);
    items.say(Some("no_change"));
    again(&project, "tracked, incremental, 0 rows", "SKIP", changed);
    assert_eq!(snapshots(&project), before, "nothing was committed");
    items.say(Some("delete_all"));
    let output = again(&project, "tracked, incremental, 0 rows", "SKIP", changed);
    assert!(output.contains("WARN: items: empty_result \"delete_all\" is unknown"), "{output}");
    items.say(Some("delete_missing"));
    again(&project, "tracked, incremental, 0 rows", "OK", "");
}

#[test]
fn scd2_keeps_versions_and_an_empty_fetch_closes_them_only_if_it_says_so() {
    let (project, items) = first_run(SCD2);
    let current = |project: &Project| project.rows("SELECT id, v FROM raw.x WHERE is_current ORDER BY ALL");
    let same = "1,1,a\n2,1,b\n3,2,c\n";
    again(&project, "scd2, incremental, 0 rows", "SKIP", same);
    items.set(&[(1, 1, "a"), (2, 1, "B")]);
    again(&project, "scd2, incremental, 1 rows", "OK", "1,1,a\n2,1,B\n2,1,b\n3,2,c\n");
    assert_eq!(current(&project), "1,a\n2,B\n");
    items.set(&[]);
    let before = snapshots(&project);
    again(&project, "scd2, incremental, 0 rows", "SKIP", "1,1,a\n2,1,B\n2,1,b\n3,2,c\n");
    assert_eq!(snapshots(&project), before);
    assert_eq!(current(&project), "1,a\n2,B\n");
    items.say(Some("delete_missing"));
    again(&project, "scd2, incremental, 0 rows", "OK", "1,1,a\n2,1,B\n2,1,b\n3,2,c\n");
    assert_eq!(current(&project), "");
}

#[test]
fn an_empty_first_fetch_makes_a_typed_table() {
    for header in ["table", APPEND, MERGE, TRACKED, SCD2] {
        let (project, items) = (project(), Items::start(&[]));
        items.lib(&project, 2);
        model(&project, "raw/x", header, COLUMNS, "items()");
        let output = run(&project);
        assert!(output.contains("backfill, 0 rows"), "{header}: {output}");
        let types = "SELECT string_agg(column_name || ' ' || data_type, ',' ORDER BY column_index) FROM \
                     duckdb_columns() WHERE table_name = 'x' AND column_name IN ('id', 'k', 'v')";
        assert_eq!(project.rows(types), "\"id BIGINT,k INTEGER,v VARCHAR\"\n", "{header}");
    }
}

/// With a column more in the SELECT the columns change, whatever the fetch gives.
#[test]
fn columns_change_also_where_an_empty_fetch_keeps_the_rows() {
    for header in [TRACKED, SCD2] {
        let (project, items) = first_run(header);
        items.set(&[]);
        model(&project, "raw/x", header, &format!("{COLUMNS}, w::DOUBLE AS w"), "items()");
        let output = run(&project);
        assert!(output.contains("[OK] raw.x"), "{output}");
        assert_eq!(rows(&project), "1,1,a\n2,1,b\n3,2,c\n", "{header}");
        assert_eq!(project.rows("SELECT count(*), count(w) FROM raw.x"), "3,0\n", "{header}");
        let output = run(&project);
        assert!(output.contains("incremental, 0 rows"), "the definition is the committed one: {output}");
    }
}

/// A table that another tool changed is written as a whole, or not at all if that lost rows.
#[test]
fn a_key_that_another_tool_retyped_is_mended_without_loss_or_an_error() {
    let (project, items) = first_run(MERGE);
    let lake = Lake::open(&project);
    lake.execute("CREATE OR REPLACE TABLE raw.x AS SELECT id::VARCHAR AS id, k, v FROM raw.x");
    items.set(&[(1, 1, "a")]);
    let output = project.run(&["run", "raw.x"]).failure(1);
    assert!(output.stderr.contains("2 rows would be dropped by a rebuild"), "{}", output.stderr);
    items.set(&FIRST);
    let output = run(&project);
    assert!(output.contains("[OK] raw.x (merge, backfill, 3 rows"), "{output}");
    assert_eq!(rows(&project), "1,1,a\n2,1,b\n3,2,c\n");
}

/// An API of five pages, of which one has trouble as long as the file is there.
fn troubled(project_trouble: &std::sync::Arc<std::sync::atomic::AtomicI64>) -> Server {
    let trouble = std::sync::Arc::clone(project_trouble);
    Server::new(move |_, request| {
        let number = page_number(request);
        if number == trouble.load(std::sync::atomic::Ordering::SeqCst) {
            return Answer::new(418, &[], "trouble");
        }
        let next = (number < 5).then_some(number + 1);
        page(&json!([{"id": number * 10, "k": 1, "v": "x"}, {"id": number * 10 + 1, "k": 1, "v": "y"}]), next)
    })
}

const ALL_TEN: &str = "SELECT count(*), count(DISTINCT id), sum(id)::BIGINT FROM raw.x";

#[test]
fn a_failure_on_page_3_leaves_nothing_and_the_next_run_doubles_nothing() {
    for header in ["table", "append", MERGE, TRACKED, SCD2] {
        let trouble = std::sync::Arc::new(std::sync::atomic::AtomicI64::new(3));
        let api = troubled(&trouble);
        let project = with_lib(&api, "", PAGES);
        model(&project, "raw/x", header, COLUMNS, "api()");
        let output = project.run(&["run"]).failure(1);
        assert!(output.stderr.contains("status 418") && output.stderr.contains("LIB-002"), "{}", output.stderr);
        assert!(output.stderr.contains("lib/api.star:"), "{}", output.stderr);
        let tables = "SELECT count(*) FROM duckdb_tables() WHERE table_name = 'x'";
        assert_eq!(project.rows(tables), "0\n");
        assert_eq!(staged(&project, "raw.x"), []);
        trouble.store(0, std::sync::atomic::Ordering::SeqCst);
        let output = run(&project);
        assert!(!output.contains("WARN"), "{output}");
        assert_eq!(project.rows(ALL_TEN), "10,10,305\n", "{header}");
        trouble.store(3, std::sync::atomic::Ordering::SeqCst);
        project.run(&["run"]).failure(1);
        assert_eq!(project.rows(ALL_TEN), "10,10,305\n", "{header}");
    }
}

#[test]
fn abort_changes_nothing_whatever_was_fetched_before() {
    let aborting = PAGES.replace("fail(\"status\", resp.status_code)", "abort()");
    for header in ["table", "append", TRACKED] {
        let trouble = std::sync::Arc::new(std::sync::atomic::AtomicI64::new(2));
        let api = troubled(&trouble);
        let project = with_lib(&api, "", &aborting);
        model(&project, "raw/x", header, COLUMNS, "api()");
        let output = run(&project);
        assert!(output.contains("[OK] raw.x") && output.contains("0 rows"), "{output}");
        assert_eq!(project.rows("SELECT count(*) FROM duckdb_tables() WHERE table_name = 'x'"), "0\n");
        assert_eq!(staged(&project, "raw.x"), []);
        trouble.store(0, std::sync::atomic::Ordering::SeqCst);
        run(&project);
        project.model("staging/n", "SELECT count(*) AS n FROM raw.x");
        run(&project);
        let (count, before) = (project.rows("SELECT count(*) FROM raw.x"), snapshots(&project));
        trouble.store(2, std::sync::atomic::Ordering::SeqCst);
        let output = run(&project);
        assert!(output.contains("[OK] raw.x") && output.contains("[SKIP] staging.n"), "{output}");
        assert_eq!((project.rows("SELECT count(*) FROM raw.x"), snapshots(&project)), (count, before), "{header}");
    }
}
