//! Every shipped check in a real run: on a temporary result, in a transaction of the lake, and after the commit. What each
//! says of which rows is tested in the room `checks`.

use testkit::Lake;

use crate::checks::{records, texts};
use crate::project;

/// A model whose schema, name and column have to be quoted.
const PATH: &str = "order/select";
const ROWS: &str = "SELECT unnest([1, 1, 5, NULL]) AS \"My Col\", unnest(['x', 'a@b.de', '', NULL]) AS tExt, \
                    unnest(['1.5', 'nan', 'inf', NULL]::DOUBLE[]) AS f";

/// A directive of each constraint that finds something in these rows.
const CONSTRAINTS: [&str; 30] = [
    "primary_key(\"My Col\")",
    "not_null(\"My Col\")",
    "unique(\"My Col\")",
    "composite_unique('\"My Col\", \"My Col\"')",
    "not_empty(text)",
    "compare(\"My Col\", >, 1)",
    "between(\"My Col\", 1, 4)",
    "in_list(text, 'x, y')",
    "not_in(text, 'x, y')",
    "like(text, '%, (%)''')",
    "not_like(TEXT, %@%)",
    "matches(text, '[a-z,]{1,2}')",
    "email(text)",
    "uuid(text)",
    "length_between(text, 1, 9)",
    "length_eq(text, 1)",
    "references(\"My Col\", \"order\".\"Select from\", \"Group By\")",
    "check('a, (label)', \"My Col\" <> 5)",
    "required_if(\"My Col\", text IS NULL)",
    "at_least_one(nullif(f, f))",
    "not_constant(\"My Col\" IS NULL AND false)",
    "null_percent(\"My Col\", 10)",
    "distinct_count(\"My Col\", >, 2)",
    "duplicate_percent(\"My Col\", 10)",
    "sequential(\"My Col\")",
    "sequential_step(\"My Col\", 3)",
    "no_overlap(\"My Col\", \"My Col\" + 1)",
    "valid_type(text, 'DECIMAL(10,2)')",
    "no_nan(f)",
    "finite(f)",
];

const AUDITS: [&str; 18] = [
    "row_count(>, 4)",
    "freshness(DATE '2020-01-01' + \"My Col\", 24h)",
    "mean(\"My Col\", >, 100)",
    "median(\"My Col\", >, 100)",
    "min(\"My Col\", >, 100)",
    "max(\"My Col\", >, 100)",
    "sum(\"My Col\", >, 100)",
    "mean_between(\"My Col\", 50, 100)",
    "stddev(\"My Col\", 0.5)",
    "zscore(\"My Col\", 0.5)",
    "percentile(\"My Col\", 0.5, >, 100)",
    "entropy(\"My Col\", >, 100)",
    "approx_distinct(\"My Col\", >, 100)",
    "reconcile_count(\"order\".\"Select from\")",
    "reconcile_sum(\"My Col\", \"order\".\"Select from\", \"Group By\")",
    "column_exists(\"No Col\")",
    "column_type(\"My Col\", VARCHAR)",
    "golden('tests/it''s (golden), 100%.csv')",
];

const WARNINGS: [&str; 14] = [
    "freshness(DATE '2020-01-01' + \"My Col\", 24h)",
    "row_count(>, 4)",
    "row_count_delta(20)",
    "sum_delta(\"My Col\", 20)",
    "mean_delta(\"My Col\", 20)",
    "approaching_limit(\"My Col\" * 1000000)",
    "null_percent(\"My Col\", 10)",
    "not_null(\"My Col\")",
    "unique(\"My Col\")",
    "min(\"My Col\", >, 100)",
    "compare(\"My Col\", >, 1)",
    "mean(\"My Col\", >, 100)",
    "low_entropy(\"My Col\", 9)",
    "cardinality(\"My Col\", >, 100)",
];

/// A project made by `init`, on whose lake another tool works, too.
fn new_project() -> (testkit::Project, Lake) {
    let project = project();
    std::fs::remove_dir_all(project.root().join("config")).unwrap();
    project.run(&["init"]).success();
    let lake = Lake::open(&project);
    lake.execute("CREATE SCHEMA \"order\"; CREATE TABLE \"order\".\"Select from\" AS SELECT 1 AS \"Group By\"");
    project.write("tests/it's (golden), 100%.csv", "a,b,c\n1,x,2\n");
    (project, lake)
}

fn model(stage: &str, directives: &[&str]) -> String {
    let header: String = directives.iter().map(|directive| format!("-- @{stage}: {directive}\n")).collect();
    format!("{header}{ROWS}")
}

#[test]
fn each_finds_what_is_wrong_in_a_run() {
    let (project, _lake) = new_project();
    project.model(PATH, &model("constraint", &CONSTRAINTS));
    let output = project.run(&["run", "--json"]).failure(1);
    let errors = texts(&records(&output)[0], "errors");
    let problems: Vec<&String> = errors.iter().filter(|text| text.contains("error:")).collect();
    assert_eq!((errors.len(), problems), (30, Vec::new()), "{errors:#?}");
    let findings = records(&output)[0]["findings"].as_array().unwrap().clone();
    let with_rows = findings.iter().filter(|finding| finding["rows"].as_i64().is_some_and(|rows| rows > 0)).count();
    assert_eq!(with_rows, 25, "{findings:#?}");

    project.model(PATH, &model("audit", &AUDITS));
    let output = project.run(&["run", "--json"]).failure(1);
    let errors = texts(&records(&output)[0], "errors");
    assert_eq!(errors.len(), 1, "{errors:#?}");
    assert_eq!(errors[0].split(" failed: ").count(), 20, "each says it once, and `audit failed` before: {errors:#?}");

    project.model(PATH, &model("warning", &WARNINGS));
    let output = project.run(&["run", "--json"]).success();
    let warnings = texts(&records(&output)[0], "warnings");
    assert_eq!(warnings.len(), 11, "there is nothing to compare with yet: {warnings:#?}");
    project.model(PATH, &model("warning", &WARNINGS).replace("[1, 1, 5, NULL]", "[1, 1, 50, 50, 50, NULL]"));
    let output = project.run(&["run", "--json"]).success();
    let warnings = texts(&records(&output)[0], "warnings");
    for delta in [
        "row_count_delta warning: from 4 to 6 rows (max 20%)",
        "sum_delta(\"My Col\") warning: from 7 to 152 (max 20%)",
        "mean_delta(\"My Col\") warning: from 2.3333333333333335 to 30.4 (max 20%)",
    ] {
        assert!(warnings.contains(&delta.to_owned()), "{warnings:#?}");
    }
}

#[test]
fn each_finds_nothing_where_nothing_is_wrong() {
    let (project, _lake) = new_project();
    let passing = [
        ("constraint", "references(\"My Col\", \"order\".\"Select from\", \"Group By\")"),
        ("constraint", "primary_key(\"My Col\")"),
        ("audit", "reconcile_count(\"order\".\"Select from\")"),
        ("audit", "reconcile_sum(\"My Col\", \"order\".\"Select from\", \"Group By\")"),
        ("audit", "golden('tests/it''s (golden), 100%.csv')"),
        ("audit", "column_type(\"my col\", INT)"),
        ("warning", "row_count_delta(0)"),
        ("warning", "approaching_limit(\"My Col\")"),
    ];
    let header: String = passing.iter().map(|(stage, call)| format!("-- @{stage}: {call}\n")).collect();
    project.model(PATH, &format!("{header}SELECT 1 AS \"My Col\", 'x' AS b, 2 AS c"));
    let output = project.run(&["run", "--json"]).success();
    assert_eq!(texts(&records(&output)[0], "warnings"), Vec::<String>::new());
    project.run(&["check", "order.select"]).success();
}

/// Trap 39, and what moves by how much.
#[test]
fn deltas_compare_with_the_models_previous_commit() {
    let (project, lake) = new_project();
    let rows = |from: i64, to: i64| {
        let warnings =
            "-- @warning: row_count_delta(20)\n-- @warning: sum_delta(v, 20)\n-- @warning: mean_delta(v, 20)";
        format!("{warnings}\nSELECT i AS v FROM range({from}, {to}) AS r(i)")
    };
    let run = |sql: &str| {
        project.model("raw/a", sql);
        texts(&records(&project.run(&["run", "raw.a", "--json"]).success())[0], "warnings")
    };
    assert_eq!(run(&rows(0, 100)), Vec::<String>::new(), "the first run has nothing before it");
    lake.execute("CREATE TABLE main.noise AS SELECT 1 AS x");
    assert_eq!(run(&format!("{} -- again", rows(0, 100))), Vec::<String>::new(), "equal data");
    assert_eq!(run(&rows(0, 110)), ["sum_delta(v) warning: from 4950 to 5995 (max 20%)"]);
    let emptied = run(&rows(0, 0));
    assert_eq!(emptied[0], "row_count_delta warning: from 110 to 0 rows (max 20%)");
    assert_eq!(emptied[1], "sum_delta(v) warning: from 5995 to NULL (max 20%)");
    assert_eq!(emptied.len(), 3);
    assert_eq!(run(&rows(5, 6)), ["row_count_delta warning: from 0 to 1 rows (max 20%)"]);
    let added = rows(5, 6).replace("AS v", "AS v, 7 AS added").replace("sum_delta(v", "sum_delta(added");
    assert_eq!(run(&added), ["schema evolution: + added (INTEGER)"], "a column that was not there had no sum");
}
