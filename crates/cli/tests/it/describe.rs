//! `ondatrasql describe <model>`: what is known of it (chapter 05 §3.9).

use std::fs;

use serde_json::{Value, json};
use testkit::{Lake, Project};

use crate::schema::document;
use crate::terminal::on_terminal;
use crate::{BINARY, project};

const TOTALS: &str = "-- @kind: merge
-- @unique_key: id
-- @description: Orders by <customer> & day
-- @column: id = Number of the customer
-- @constraint: not_null(id)
-- @audit: row_count(>, 0)
-- @warning: not_null(n)
SELECT
    id,   -- the customer
    count(*) AS n
FROM raw.orders
GROUP BY id
";

fn orders() -> Project {
    let project = project();
    project.model("raw/orders", "SELECT range % 3 AS id FROM range(1500)");
    project.model("mart/Totals", TOTALS);
    project.model("mart/report", "SELECT sum(n) AS s FROM mart.totals");
    project.run(&["run"]).success();
    project
}

#[track_caller]
fn described(project: &Project, model: &str) -> Value {
    let output = project.run(&["--json", "describe", model]).success();
    assert_eq!(output.stderr, "");
    document("describe", &output.stdout)
}

#[test]
fn all_is_told_whatever_case_the_name_is_typed_in() {
    let project = orders();
    let told = described(&project, "MART.totals");
    assert_eq!(
        (&told["target"], &told["kind"], &told["schema"]),
        (&json!("mart.Totals"), &json!("merge"), &json!("mart"))
    );
    assert_eq!(
        (&told["materialization"], &told["source_file"]),
        (&json!("backfill"), &json!("models/mart/Totals.sql"))
    );
    assert_eq!((&told["total_runs"], &told["total_rows"], &told["success_rate"]), (&json!(1), &json!(3), &json!(100)));
    assert_eq!((&told["dependencies"], &told["downstream"]), (&json!(["raw.orders"]), &json!(["mart.report"])));
    assert_eq!(
        told["columns"],
        json!([
            {"name": "id", "type": "BIGINT", "nullable": "NULL", "constraint": "unique_key",
             "description": "Number of the customer"},
            {"name": "n", "type": "BIGINT", "nullable": "NULL"},
        ])
    );
    assert_eq!(told["description"], "Orders by <customer> & day");
    assert_eq!(told["constraints"], json!(["not_null(id)"]));
    assert_eq!((&told["audits"], &told["warnings"]), (&json!(["row_count(>, 0)"]), &json!(["not_null(n)"])));
    let definition = told["definition"].as_str().unwrap();
    assert!(definition.starts_with("SELECT\n    id,   -- the customer\n") && !definition.contains('@'), "{definition}");
    assert_eq!((&told["last_run"], &told["last_run"]), (&told["first_run"], &told["recent_runs"][0]["timestamp"]));
    assert!(told["table_size"].as_str().unwrap().ends_with('B') && told["duckdb_version"].is_string());
    assert_eq!(told["steps"][0]["status"], "ok");
    assert!(told.get("gather_warnings").is_none() && told.get("blueprint").is_none(), "{told:#}");
}

#[test]
fn the_box_has_its_sections() {
    let project = orders();
    let output = project.run(&["describe", "mart.totals"]).success();
    insta::with_settings!({filters => vec![
        // Columns are as wide as what changes from run to run.
        (r" {2,}", " "),
        (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", "<moment>"),
        (r"Table size [0-9.]+ (Ki)?B", "Table size <size>"),
        (r"Avg duration \d+ ms", "Avg duration <time>"),
        (r"│ ([a-z]+) \d+ ok", "│ $1 <ms> ok"),
        (r"<moment> (\d+) \d+ ", "<moment> $1 <ms> "),
        (r"v\d+\.\d+\.\d+", "v<version>"),
        (r"─+[╮┤╯]", "─"),
    ]}, {
        insta::assert_snapshot!("describe", output.stdout);
    });
    assert!(!output.stdout.contains('\u{1b}'));
}

#[test]
fn only_the_last_three_runs_are_told_one_by_one_and_only_eight_lines_of_sql() {
    let project = project();
    for rows in 1..=4 {
        let columns: String = (0..10).map(|at| format!(",\n  {at} AS c{at}")).collect();
        project.model("raw/a", &format!("SELECT range AS id{columns}\nFROM range({rows})"));
        project.run(&["run"]).success();
    }
    let told = described(&project, "raw.a");
    let rows: Vec<i64> =
        told["recent_runs"].as_array().unwrap().iter().map(|run| run["rows"].as_i64().unwrap()).collect();
    assert_eq!((rows, &told["total_runs"], &told["total_rows"]), (vec![4, 3, 2], &json!(4), &json!(10)));
    assert!(told["first_run"].as_str() < told["last_run"].as_str());
    let text = project.run(&["describe", "raw.a"]).success().stdout;
    assert!(text.contains("  6 AS c6") && !text.contains("  7 AS c7") && text.contains("... (4 more lines)"), "{text}");
    assert!(text.contains("(none)"), "{text}");
}

#[test]
fn unknown_models_and_those_that_never_ran_are_told_apart() {
    let project = orders();
    project.model("raw/later", "SELECT 1 AS a");
    project.model("raw/broken", "this (is no SQL");
    for (model, expected) in [
        ("raw.nothing", "model \"raw.nothing\" not found [MODEL-009]"),
        ("nothing", "model \"nothing\" not found"),
        ("raw.order", "did you mean `raw.orders`?"),
        ("RAW.later", "RAW.later has not been run yet [RUN-007]"),
        ("raw.broken", "has not been run yet"),
        ("x'.y\"", "not found"),
    ] {
        let output = project.run(&["--json", "describe", model]).failure(1);
        assert!(output.stderr.contains(expected) && output.stdout.is_empty(), "{model}: {}", output.stderr);
    }
    assert!(project.run(&["describe"]).failure(2).stderr.contains("usage: ondatrasql describe"));
    assert!(project.run(&["describe", "a.b", "c"]).failure(2).stderr.contains("extra args: c"));
    assert!(project.run(&["describe", "a.b", "--all"]).failure(2).stderr.contains("unknown flag: --all"));
    assert!(Project::empty(BINARY).run(&["describe"]).failure(1).stderr.contains("not in an ondatrasql project"));
}

#[test]
fn what_is_left_of_a_model_is_told_and_what_is_missing_too() {
    let project = orders();
    project.remove("models/mart/Totals.sql");
    let told = described(&project, "mart.totals");
    assert!(told.get("definition").is_none() && told["columns"].as_array().unwrap().len() == 2, "{told:#}");
    assert!(told["gather_warnings"][0].as_str().unwrap().contains("its file is gone"), "{told:#}");
    // What is offered at the end works: a model without a file cannot be run, tried out or edited.
    let text = project.run(&["describe", "mart.totals"]).success().stdout;
    let offered: Vec<&str> = text.split("Commands:").nth(1).unwrap().split("ondatrasql ").skip(1).collect();
    let offered: Vec<Vec<&str>> = offered.iter().map(|call| call.split_whitespace().take(2).collect()).collect();
    assert_eq!(offered, [["history", "mart.Totals"], ["query", "mart.Totals"]]);
    for call in &offered {
        project.run(call).success();
    }
    Lake::open(&project).execute("DROP TABLE lake.mart.totals");
    let told = described(&project, "mart.totals");
    assert_eq!((&told["table_size"], &told["columns"][1]), (&json!("N/A"), &json!({"name": "n", "type": "BIGINT"})));
    project.model("mart/Totals", "-- @kind: nonsense\nSELECT 1");
    let warnings = described(&project, "mart.totals")["gather_warnings"].to_string();
    assert!(warnings.contains("its table is gone") && warnings.contains("nonsense"), "{warnings}");
    let text = project.run(&["describe", "mart.totals"]).success().stdout;
    assert!(text.contains("─ Gather Warnings ─") && text.contains("N/A"), "{text}");
}

#[test]
fn a_sum_that_the_lake_cannot_hold_as_it_is_is_told() {
    let project = orders();
    let told = described(&project, "mart.report");
    assert_eq!(told["columns"][0]["type"], "DECIMAL(38,0)");
    let warning = told["gather_warnings"][0].as_str().unwrap();
    assert_eq!(warning, "column s is HUGEINT in the query and DECIMAL(38,0) in the lake");
}

#[test]
fn a_model_is_known_after_its_snapshots_were_forgotten() {
    let project = orders();
    let lake = Lake::open(&project);
    lake.execute("INSERT INTO raw.orders VALUES (9)");
    let newest = lake.number("SELECT max(snapshot_id) FROM lake.snapshots()");
    let all: Vec<String> = (0..newest).map(|id| id.to_string()).collect();
    lake.execute(&format!("CALL ducklake_expire_snapshots('lake', versions => [{}])", all.join(",")));
    let told = described(&project, "mart.totals");
    assert!(told.get("total_runs").is_none() && told.get("recent_runs").is_none(), "{told:#}");
    assert_eq!((&told["kind"], &told["downstream"]), (&json!("merge"), &json!(["mart.report"])));
    assert_eq!(told["materialization"], "backfill");
}

#[test]
fn a_commit_that_tells_odd_things_is_described_as_far_as_it_goes() {
    let project = orders();
    let lake = Lake::open(&project);
    let info = "{\"model\":\"raw.odd\",\"kind\":7,\"columns\":\"x\",\"steps\":[{}],\"depends\":{},\"source_file\":\"../../x.sql\"}";
    lake.execute(&format!(
        "BEGIN; CREATE TABLE raw.odd (\"select\" INT NOT NULL, \"a \"\"b\" STRUCT(x INT)); \
         COMMENT ON COLUMN raw.odd.\"a \"\"b\" IS 'two\nlines'; \
         CALL lake.set_commit_message('x', 'y', extra_info => '{info}'); COMMIT"
    ));
    let told = described(&project, "raw.odd");
    assert_eq!((&told["kind"], &told["source_file"]), (&json!("table"), &json!("../../x.sql")));
    assert_eq!(
        told["columns"],
        json!([
            {"name": "select", "type": "INTEGER", "nullable": "NOT NULL"},
            {"name": "a \"b", "type": "STRUCT(x INTEGER)", "nullable": "NULL", "description": "two\nlines"},
        ])
    );
    let text = project.run(&["describe", "raw.odd"]).success().stdout;
    assert!(text.contains("two lines"), "{text}");
    lake.execute("UPDATE lake.main._ondatra_registry SET commit_info = '{broken' WHERE target = 'mart.Totals'");
    let warnings = described(&project, "mart.totals")["gather_warnings"].to_string();
    assert!(warnings.contains("its last commit cannot be read"), "{warnings}");
}

#[test]
fn the_lib_function_is_read_off_the_query() {
    let project = project();
    let lib = "API = {\"fetch\": {\"args\": [\"what\"]}}\n\ndef fetch(what, page):\n    \
               return {\"rows\": [{\"id\": 1}], \"next\": None}\n";
    project.write("lib/crm.star", lib);
    project.write("lib/other.star", lib);
    let model = "-- @fetch\n-- @kind: append\n-- other('x')\nSELECT id::BIGINT AS id FROM CRM('other()')";
    project.model("raw/people", model);
    project.run(&["run"]).success();
    let told = described(&project, "raw.people");
    assert_eq!((&told["blueprint"], told.get("blueprint_error")), (&json!("crm"), None));
    project.write("lib/crm.star", "API = {");
    let told = described(&project, "raw.people");
    assert_eq!(told["blueprint"], "crm");
    assert!(told["blueprint_error"].as_str().unwrap().contains("LIB-001"), "{told:#}");
    project.remove("lib/crm.star");
    let told = described(&project, "raw.people");
    assert!(told.get("blueprint").is_none(), "{told:#}");
    assert_eq!(told["blueprint_error"], "its query calls no function of lib/");
    project.model("raw/people", &model.replace("SELECT id", "SELECT SELECT id"));
    assert!(described(&project, "raw.people")["blueprint_error"].as_str().unwrap().contains("syntax error"));
}

#[test]
fn the_box_fits_the_terminal() {
    let project = orders();
    for columns in [40, 70, 140] {
        let (shown, code) = on_terminal(&project, columns, &["describe", "mart.report"]);
        assert_eq!(code, 0);
        let plain = shown.replace("\u{1b}[33m", "").replace("\u{1b}[0m", "");
        assert!(plain.lines().all(|line| line.chars().count() <= columns), "{columns}:\n{plain}");
        assert!(plain.contains("DECIMAL(38,0)"), "{columns}:\n{plain}");
    }
    fs::write(project.root().join("config/catalog.sql"), "ATTACH 'nothing").unwrap();
    assert!(project.run(&["describe", "mart.report"]).failure(1).stdout.is_empty());
}

#[test]
fn values_of_the_environment_are_not_shown() {
    let project = project();
    let env = fs::read_to_string(project.root().join(".env")).unwrap_or_default();
    project.write(".env", &format!("{env}CRM_TOKEN=tok-4711-abcd\n"));
    project.model(
        "raw/a",
        "-- @description: with tok-4711-abcd\n-- @column: a = or tok-4711-abcd\n-- @warning: in_list(a, tok-4711-abcd)\n\
         SELECT 'tok-4711-abcd' AS a, x AS \"tok-4711-abcd\" FROM 'tok-4711-abcd.csv' AS f(x)",
    );
    project.write("tok-4711-abcd.csv", "x\n1\n");
    project.run(&["run"]).success();
    let looked = [&["describe", "raw.a"][..], &["lineage", "raw.a"], &["lineage", "overview"]];
    for args in looked.into_iter().flat_map(|args| [args.to_vec(), [args, &["--json"]].concat()]) {
        let args = args.as_slice();
        let output = project.run(args).success();
        assert!(!output.stdout.contains("tok-4711-abcd") && output.stdout.contains("[REDACTED]"), "{}", output.stdout);
    }
}
