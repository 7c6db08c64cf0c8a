//! Many rows and long ones: they are carried into the lake part by part.

use super::{model, run, silent, with_lib};

/// 90,001 rows by pages of 10,000; the last has an `ab` that is no UUID.
const COUNTING: &str = r#"
COUNT = 90001
def fetch(page):
    start = page.cursor or 0
    end = min(start + 10000, COUNT)
    uuids = ["00000000-0000-0000-0000-" + ("000000000000" + str(i))[-12:] for i in range(start, end)]
    rows = [{"id": start + at, "ab": uuid if start + at < COUNT - 1 else "odd"} for at, uuid in enumerate(uuids)]
    return {"rows": rows, "next": end if end < COUNT else None}
"#;

#[test]
fn rows_of_several_parts_keep_their_order_and_all_arrive() {
    let project = with_lib(&silent(), "", COUNTING);
    model(&project, "raw/x", "table", "id::BIGINT AS id, TRY_CAST(ab AS UUID) AS ab", "api()");
    assert!(run(&project).contains("90001 rows"));
    let found = "SELECT count(*), count(DISTINCT id), count(DISTINCT ab), sum(id - rowid)::BIGINT FROM raw.x";
    assert_eq!(project.rows(found), "90001,90001,90000,0\n");
}

#[test]
fn a_bad_value_in_a_later_part_is_named_with_its_place_and_nothing_is_written() {
    let project = with_lib(&silent(), "", COUNTING);
    model(&project, "raw/x", "table", "id::BIGINT AS id, ab::UUID AS ab", "api()");
    let output = project.run(&["run"]).failure(1);
    let said = "raw.x: page 10, row 1, column \"ab\": the value odd is not valid for UUID: the engine cannot cast it";
    assert!(output.stderr.contains(said), "{}", output.stderr);
    assert_eq!(project.rows("SELECT count(*) FROM information_schema.tables WHERE table_name = 'x'"), "0\n");
}

#[test]
fn a_row_may_be_longer_than_a_part() {
    let long = "def fetch():\n    return {\"rows\": [{\"v\": \"ab\" * n} for n in [1, 20 << 20, 2, 3]]}\n";
    let project = with_lib(&silent(), "", long);
    model(&project, "raw/x", "table", "v::VARCHAR AS v", "api()");
    run(&project);
    assert_eq!(project.rows("SELECT rowid, length(v) FROM raw.x ORDER BY ALL"), "0,2\n1,41943040\n2,4\n3,6\n");
}
