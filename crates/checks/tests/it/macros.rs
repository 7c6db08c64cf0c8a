//! Every check says what the table of cases says, whatever its column is called.

use std::collections::BTreeSet;
use std::fs;

use checks::{Stage, shipped};
use tempfile::TempDir;
use types::{literal, quote};

use crate::cases::{CASES, Case};
use crate::world::World;

/// Names as SQL writes them, plain and hostile.
const COLUMNS: [&str; 10] = [
    "v",
    "MiXed",
    "\"My Col\"",
    "\"select\"",
    "\"a\"\"b\"",
    "\"it's\"",
    "\"50%\"",
    "\"f(x)\"",
    "\"c, d\"",
    "\"{v} -- ; DROP TABLE t\"",
];

/// An argument in quotes, if it would not survive without.
fn argument(column: &str) -> String {
    if column.contains(['\'', '(', ',', '{']) { literal(column) } else { column.to_owned() }
}

/// A directive about `column`: within a quoted argument its quotes are doubled, as part of another one it has to be
/// quoted together with that.
fn directive(case: &Case, column: &str, dir: &str) -> Option<String> {
    let Case(_, template, ..) = case;
    let template = template.replace("{dir}", dir);
    if column == "v" || !template.contains("{v}") {
        return Some(template.replace("{v}", column));
    }
    // Whole arguments only: parts of larger ones are covered by plain names.
    let is_whole = template.contains("({v})") || template.contains("({v},");
    (is_whole && template.matches("{v}").count() == 1).then(|| template.replace("{v}", &argument(column)))
}

#[test]
fn every_check_says_what_the_table_says_whatever_its_column_is_called() {
    let (world, dir) = (World::new(), TempDir::new().unwrap());
    let path = dir.path().to_str().unwrap();
    fs::write(dir.path().join("it's, 100% (golden).csv"), "n,w\n1,x\n2,x\n,x\n").unwrap();
    world.execute("CREATE TABLE other AS SELECT unnest([1, 2, NULL]) AS id");
    world.execute("SET VARIABLE alert_amount_threshold = 1000000");
    world.execute("CREATE SCHEMA \"order\"");
    let (mut run, mut wrong) = (0, Vec::new());
    for (case, column) in CASES.iter().flat_map(|case| COLUMNS.iter().map(move |column| (case, *column))) {
        let Case(stage, _, rows, expected) = case;
        let Some(directive) = directive(case, column, path) else { continue };
        world.execute(&format!("CREATE OR REPLACE TABLE \"order\".t AS {}", rows.replace("{v}", column)));
        let expected =
            expected.map(|text| text.replace("{t}", "order.t").replace("{dir}", path).replace("{v}", column));
        let found = world.findings(*stage, &directive, "\"order\".t");
        let expected: Vec<String> = expected.into_iter().collect();
        run += 1;
        if found != Ok(expected.clone()) {
            wrong.push(format!("@{stage}: {directive} of {rows}: {found:?}, not {expected:?}"));
            continue;
        }
        let is_operator = expected.iter().any(|text| text.contains("unknown operator"));
        if let Some(at_fault) = world.rows_at_fault(*stage, &directive, "\"order\".t").filter(|_| !is_operator) {
            // A share may be within its limit; all else has rows exactly if it has a finding.
            let has_limit = directive.contains("percent") || directive.starts_with("golden");
            let nothing_there = expected.iter().any(|text| text.ends_with("actual is NULL"));
            if !has_limit && !nothing_there && (at_fault > 0) == expected.is_empty() {
                wrong.push(format!("@{stage}: {directive} of {rows}: {at_fault} rows at fault"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(run > 1000, "{run}");
}

/// The delta warnings need a lake; the tests of the binary cover them.
const OF_A_LAKE: [&str; 3] = ["row_count_delta", "sum_delta", "mean_delta"];

#[test]
fn every_check_is_seen_to_pass_and_fail_with_nulls_and_without_rows() {
    let of = |stage: Stage, name: &str, fits: &dyn Fn(&Case) -> bool| {
        CASES.iter().any(|case| case.0 == stage && case.1.split('(').next() == Some(name) && fits(case))
    };
    for check in shipped().filter(|check| !OF_A_LAKE.contains(&check.name)) {
        let (stage, name) = (check.stage, check.name);
        assert!(of(stage, name, &|case| case.3.is_none()), "{stage} {name} never passes");
        assert!(of(stage, name, &|case| case.3.is_some()), "{stage} {name} never fails");
        assert!(of(stage, name, &|case| case.2.contains("NULL")), "{stage} {name} sees no NULL");
        assert!(of(stage, name, &|case| case.2.contains("WHERE false")), "{stage} {name} sees no empty table");
    }
}

#[test]
fn the_list_has_as_many_checks_as_the_contract() {
    let count = |stage| checks::shipped_in(stage).len();
    assert_eq!(Stage::ALL.map(count), [30, 18, 14]);
    let names: BTreeSet<String> = shipped().map(checks::Check::macro_name).collect();
    assert_eq!(names.len(), 62, "a name stands twice");
    for check in shipped() {
        let call = crate::world::read(check.stage, check.example).unwrap();
        assert_eq!(call.shipped.map(|found| found.name), Some(check.name), "the example of {}", check.name);
        assert_eq!(call.arguments.len(), check.params.len(), "the example of {}", check.name);
    }
}

#[test]
fn only_the_macros_that_are_asked_for_are_made_with_what_they_are_made_of() {
    let check = |name| checks::find(Stage::Constraint, name).unwrap();
    let made = checks::create_macros(&[check("compare")]).join("\n");
    assert!(made.contains("ondatra_checks_operator") && made.contains("ondatra_checks_literal"));
    assert!(!made.contains("ondatra_checks_quantile") && !made.contains("not_null"));
    assert!(checks::create_macros(&[]).is_empty());
}

#[test]
fn names_of_the_columns_in_a_query_of_the_room_hide_no_column_of_the_users() {
    let world = World::new();
    // Each is the name of something inside of a macro, or of a parameter.
    for column in [
        "violations",
        "actual",
        "passes",
        "listed",
        "repeated",
        "times",
        "share",
        "above",
        "t",
        "col",
        "op",
        "val",
        "n",
        "here",
        "there",
        "message",
        "text",
        "call",
        "found",
        "previous",
        "difference",
        "nulls",
        "starts",
    ] {
        let name = quote(column);
        world.execute(&format!("CREATE OR REPLACE TABLE t AS SELECT unnest([1, 1, NULL]) AS {name}"));
        for check in shipped().filter(|check| !OF_A_LAKE.contains(&check.name)) {
            let first = check.params.first().map(|param| param.kind);
            if first != Some(checks::ParamKind::Expression) {
                continue;
            }
            let rest: Vec<&str> = check.params[1..]
                .iter()
                .map(|param| match (param.kind, param.name) {
                    (checks::ParamKind::Operator, _) => ">",
                    (checks::ParamKind::Table, _) => "t",
                    (checks::ParamKind::Type, _) => "INTEGER",
                    (checks::ParamKind::Expression, _) => "1",
                    (_, "p") => "0.5",
                    (_, "age") => "1h",
                    _ => "'1'",
                })
                .collect();
            let directive = format!("{}({name}, {})", check.name, rest.join(", "));
            let column_type =
                |error: &String| error.contains("LIKE") || error.contains("CAST") || error.contains("cast");
            let found = world.findings(check.stage, &directive, "t");
            assert!(found.as_ref().err().is_none_or(column_type), "{directive}: {found:?}");
        }
    }
}

#[test]
fn a_time_without_a_zone_is_read_in_that_of_the_session() {
    let world = World::new();
    world.execute("CREATE TABLE t AS SELECT now() AT TIME ZONE 'UTC' AS v");
    assert_eq!(world.findings(Stage::Audit, "freshness(v, 1h)", "t"), Ok(Vec::new()));
    world.execute("SET TimeZone = 'Asia/Tokyo'");
    assert_eq!(world.findings(Stage::Audit, "freshness(v, 1h)", "t").map(|found| found.len()), Ok(1));
}
