//! A file that breaks it, for every rule: what is found, where, and that `run` fails when it must.

use std::collections::BTreeSet;

use types::{Rule, Severity};

use super::unusable::UNUSABLE;
use super::{Found, found, report, with_files};

/// The files of a project, and all that is found in it: path, line, rule.
pub(super) struct Case {
    pub files: &'static [(&'static str, &'static str)],
    pub found: &'static [(&'static str, u64, &'static str)],
}

/// A lib function that fetches.
pub(super) const API: (&str, &str) = (
    "lib/api.star",
    "API = {\"fetch\": {\"args\": [\"what\"], \"supported_kinds\": [\"table\"], \
     \"supported_columns\": [\"id\", \"n\"]}}\n\
     def fetch(what, page):\n    return {\"rows\": []}\n",
);

/// A lib function that pushes.
const SINK: (&str, &str) = (
    "lib/sink.star",
    "API = {\"push\": {\"args\": [\"list\"], \"supported_kinds\": [\"append\", \"table\"]}}\n\
     def push(rows, list):\n    return {}\n",
);

/// One file, one finding.
macro_rules! one {
    ($path:literal, $text:expr, $line:literal, $rule:literal) => {
        Case { files: &[($path, $text)], found: &[($path, $line, $rule)] }
    };
}

/// A model that fetches with [`API`] in the project.
macro_rules! fetch {
    ($sql:literal, $($line:literal $rule:literal),+) => {
        Case {
            files: &[API, ("models/raw/x.sql", concat!("-- @fetch\n", $sql))],
            found: &[$(("models/raw/x.sql", $line, $rule)),+],
        }
    };
}

/// A model that pushes with [`SINK`] in the project.
macro_rules! push {
    ($text:literal, $($line:literal $rule:literal),+) => {
        Case {
            files: &[SINK, ("models/raw/a.sql", "SELECT 1 AS id"), ("models/sync/x.sql", $text)],
            found: &[$(("models/sync/x.sql", $line, $rule)),+],
        }
    };
}

/// A lib file that cannot be used as it is.
macro_rules! lib {
    ($text:expr, $line:literal, $rule:literal) => {
        one!("lib/x.star", $text, $line, $rule)
    };
}

/// Line 0 stands for the file as a whole.
const PARSER: &[Case] = &[
    one!("models/raw/x.sql", "SELECT 1 AS a;\nSELECT 2 AS b", 2, "parser.multi_statement"),
    one!("models/raw/x.sql", "-- @kind: append\n-- @knid: x\nSELECT 1 AS a", 2, "parser.invalid_directive"),
    one!("models/raw/x.sql", "SELECT 1 AS a,\n-- @kind: append\n2 AS b", 2, "parser.invalid_directive"),
    one!("models/raw/x.sql", "-- @extension: h3; DROP\nSELECT 1 AS a", 1, "parser.invalid_directive"),
    one!("models/raw/x.sql", "-- a\n-- @constraint: not_null(a\nSELECT 1 AS a", 2, "parser.invalid_directive"),
    one!("models/raw/x.sql", "-- @kind: table\n-- @audit: 1x(a)\nSELECT 1 AS a", 2, "parser.invalid_directive"),
    one!("models/raw/x.sql", "-- @constraint: compare(a) > 1, =, 1)\nSELECT 1 AS a", 1, "parser.invalid_directive"),
    one!("models/raw/x.sql", "\n-- @kind: tabel\nSELECT 1 AS a", 2, "parser.invalid_kind"),
    one!("models/raw/x.sql", "-- @kind: view\nSELECT 1 AS a", 1, "parser.invalid_kind"),
    one!("models/raw/x.sql", "-- @unique_key: a.b\nSELECT 1 AS a", 1, "parser.invalid_unique_key"),
    one!(
        "models/raw/x.sql",
        "-- @kind: merge\n-- @unique_key: a, b\nSELECT 1 AS a, 2 AS b",
        2,
        "parser.invalid_unique_key"
    ),
    one!("models/raw/x.sql", "-- hello\n-- @kind: merge\nSELECT 1 AS a", 2, "parser.invalid_unique_key"),
    one!(
        "models/raw/x.sql",
        "-- @kind: tracked\n-- @group_key: a\n-- @unique_key: a\nSELECT 1 AS a",
        3,
        "parser.invalid_unique_key"
    ),
    one!("models/raw/x.sql", "-- @incremental: a b\nSELECT 1 AS a", 1, "parser.invalid_incremental"),
    one!(
        "models/raw/x.sql",
        "-- @incremental: a\n-- @column: a = x | mask_x\nSELECT 1 AS a",
        1,
        "parser.invalid_incremental"
    ),
    one!("models/raw/x.sql", "-- @sorted_by: a DESC\nSELECT 1 AS a", 1, "parser.invalid_sorted_by"),
    one!("models/raw/x.sql", "-- @partitioned_by: week(a)\nSELECT 1 AS a", 1, "parser.invalid_partitioned_by"),
    Case {
        files: &[API, ("models/raw/x.sql", "SELECT *\nFROM (SELECT * FROM API('x')) AS t")],
        found: &[("models/raw/x.sql", 2, "parser.missing_directive")],
    },
    Case {
        files: &[("models/orders.sql", "SELECT 1 AS a"), ("models/Main/Orders.sql", "SELECT 1 AS a")],
        found: &[("models/orders.sql", 0, "parser.duplicate_target")],
    },
    one!(
        "models/raw/x.sql",
        "-- @kind: append\n/* never /* closed */\nSELECT 1 AS a",
        2,
        "parser.unterminated_block_comment"
    ),
    one!("models/raw/x.sql", "-- @sink: x\nSELECT 1 AS a", 1, "parser.deprecated_sink"),
    one!("models/raw/x.sql", "-- @script: x\nSELECT 1 AS a", 1, "parser.deprecated_script"),
    one!("models/raw/x.sql", "-- @sink_detect_deletes: x\nSELECT 1 AS a", 1, "parser.deprecated_sink_detect_deletes"),
    one!(
        "models/raw/x.sql",
        "-- @sink_delete_threshold: 1\nSELECT 1 AS a",
        1,
        "parser.deprecated_sink_delete_threshold"
    ),
    one!("models/raw/a-b.sql", "SELECT 1 AS a", 0, "parser.other"),
    one!("models/lake/x.sql", "SELECT 1 AS a", 0, "parser.other"),
    one!("models/raw/x.sql", "-- nothing\n", 0, "parser.other"),
    one!("models/raw/x.sql", "-- @kind: tracked\nSELECT 1 AS a", 1, "parser.other"),
    one!("models/raw/x.sql", "-- @group_key: a\nSELECT 1 AS a", 1, "parser.other"),
    one!("models/raw/x.sql", "-- @column: ssn\nSELECT 1 AS a", 1, "parser.other"),
    one!("models/raw/x.sql", "-- a\n-- @column: ssn = SSN | mask-ssn\nSELECT 1 AS ssn", 2, "parser.other"),
    one!("models/raw/x.sql", "-- @column: ssn = SSN | mask_ssn |\nSELECT 1 AS ssn", 1, "parser.other"),
    one!("models/raw/x.sql", "-- @column: ssn = SSN | mask_ssn | two words\nSELECT 1 AS ssn", 1, "parser.other"),
    one!("models/raw/x.sql", "-- @fetch x\nSELECT 1 AS a", 1, "parser.other"),
    one!("models/raw/x.sql", "SELECT 1 AS a,\n  2 AS é FROM FROM", 2, "parser.other"),
    one!("models/raw/x.sql", "INSERT INTO raw.y VALUES (1)", 1, "parser.other"),
    one!("models/raw/x.sql", "SELECT 'open\n", 1, "parser.other"),
];

const READ_ONLY: &[Case] = &[
    one!(
        "models/raw/x.sql",
        "WITH c AS (SELECT 1 AS a\n  LIMIT 10%)\nSELECT a FROM c",
        2,
        "read_only.limit_disallowed"
    ),
    one!("models/raw/x.sql", "SELECT (SELECT 1 AS a\n  FETCH FIRST 1 ROWS ONLY) AS b", 2, "read_only.limit_disallowed"),
    one!("models/raw/x.sql", "SELECT 1 AS a\nLIMIT 1 OFFSET 1", 2, "read_only.limit_disallowed"),
    one!("models/raw/x.sql", "SELECT 1 AS a UNION ALL (SELECT 2\nOFFSET 1)", 2, "read_only.offset_disallowed"),
];

const FETCH: &[Case] = &[
    fetch!("SELECT *\nFROM api('x')", 2 "strict_fetch.cast_required"),
    fetch!("SELECT id::INT AS id,\n  n AS n FROM api('x')", 3 "strict_fetch.cast_required"),
    fetch!("SELECT (id + 1)::INT AS id FROM api('x')", 2 "strict_fetch.cast_required"),
    fetch!("SELECT id::INT FROM api('x')", 2 "strict_fetch.alias_required"),
    fetch!("SELECT id::INT AS id FROM api('x')\nWHERE id > 1", 3 "strict_fetch.where_clause_disallowed"),
    fetch!("SELECT id::INT AS id FROM api('x')\nGROUP BY id", 3 "strict_fetch.group_by_disallowed"),
    fetch!("SELECT DISTINCT id::INT AS id FROM api('x')", 2 "strict_fetch.distinct_disallowed"),
    fetch!("SELECT id::INT AS id FROM api('x')\nORDER BY 1", 3 "strict_fetch.order_by_disallowed"),
    fetch!(
        "SELECT id::INT AS id FROM api('x')\nUNION ALL SELECT id::INT AS id FROM api('y')",
        3 "strict_fetch.union_disallowed"
    ),
    fetch!("SELECT a.id::INT AS id FROM api('x') AS a,\n api('y') AS b", 3 "strict_fetch.multiple_lib_calls"),
    fetch!("SELECT id::INT AS id\nFROM raw.t", 3 "strict_fetch.no_lib_call"),
    fetch!("SELECT id::INT AS id", 2 "strict_fetch.no_lib_call"),
    fetch!("SELECT id::INT AS id, n::INT AS ID FROM api('x')", 2 "strict_fetch.other"),
    fetch!("SELECT other::INT AS id FROM api('x')", 2 "strict_fetch.other"),
    fetch!("SELECT n::INT AS n,\n id::NO_SUCH_TYPE AS id FROM api('x')", 3 "strict_fetch.other"),
    fetch!("SELECT n::INT AS n,\n id::ENUM('a') AS id FROM api('x')", 3 "strict_fetch.other"),
    fetch!("-- @incremental: nope\nSELECT id::INT AS id FROM api('x')", 2 "parser.invalid_incremental"),
    fetch!("-- @sorted_by: nope\nSELECT id::INT AS id FROM api('x')", 2 "parser.invalid_sorted_by"),
    fetch!("-- @partitioned_by: year(id)\nSELECT id::INT AS id FROM api('x')", 2 "parser.invalid_partitioned_by"),
    Case {
        files: &[
            ("lib/everything.star", "API = {\"fetch\": {}}\ndef fetch(page):\n    return {\"rows\": []}\n"),
            (
                "models/raw/m.sql",
                "-- @kind: merge\n-- @unique_key: nope\n-- @fetch\nSELECT id::INT AS id FROM everything()",
            ),
            (
                "models/raw/t.sql",
                "-- @kind: tracked\n-- @group_key: id, nope\n-- @fetch\nSELECT id::INT AS id FROM everything()",
            ),
        ],
        found: &[("models/raw/m.sql", 2, "parser.invalid_unique_key"), ("models/raw/t.sql", 2, "parser.other")],
    },
    fetch!("SELECT id::INT AS id FROM api(1e400)", 2 "strict_fetch.other"),
    Case {
        files: &[API, ("models/raw/x.sql", "-- @kind: append\n-- @fetch\nSELECT id::INT AS id\nFROM api('x')")],
        found: &[("models/raw/x.sql", 4, "strict_fetch.other")],
    },
    fetch!(
        "SELECT id::INT AS id FROM api('x')\nLIMIT 1 OFFSET 2",
        3 "read_only.limit_disallowed", 3 "read_only.offset_disallowed"
    ),
    fetch!(
        "SELECT id::INT AS id\nFROM (SELECT 1 AS id\nLIMIT 1)",
        3 "strict_fetch.no_lib_call", 4 "read_only.limit_disallowed"
    ),
    fetch!("SELECT id::INT AS id FROM api()", 2 "cross_ast.args_mismatch"),
    fetch!("SELECT id::INT AS id FROM api('x',\n 'y')", 3 "cross_ast.args_mismatch"),
    fetch!("SELECT id::INT AS id FROM api(\n'x', wat => 'y')", 3 "cross_ast.args_mismatch"),
    fetch!("SELECT id::INT AS id\nFROM apii('x') LIMIT 1", 3 "cross_ast.unknown_lib"),
    Case {
        files: &[SINK, ("models/raw/x.sql", "-- @fetch\nSELECT id::INT AS id FROM sink('x')")],
        found: &[("models/raw/x.sql", 2, "cross_ast.unknown_lib")],
    },
    Case {
        files: &[SINK, ("models/raw/x.sql", "SELECT *\nFROM sink('x')")],
        found: &[("models/raw/x.sql", 2, "cross_ast.unknown_lib")],
    },
];

const PUSH: &[Case] = &[
    push!("-- @push: sink('a')\nSELECT id FROM raw.a", 2 "strict_push.cast_required"),
    push!("-- @push: sink('a')\nSELECT id::INT FROM raw.a", 2 "strict_push.alias_required"),
    push!("-- @push: sink('a')\nSELECT *\nFROM raw.a", 2 "strict_push.select_star_disallowed"),
    push!("-- @push: sink('a')\nSELECT id::INT AS id, id::TEXT AS ID FROM raw.a", 2 "strict_push.other"),
    push!("-- @push: sink('a')\nSELECT id::INT AS id, id::TEXT AS RowId FROM raw.a", 2 "strict_push.other"),
    Case {
        files: &[API, SINK, ("models/sync/x.sql", "-- @push: sink('a')\nSELECT id::INT AS id\nFROM api('x')")],
        found: &[("models/sync/x.sql", 3, "strict_push.lib_call_disallowed")],
    },
    push!(
        "-- @kind: scd2\n-- @unique_key: id\n-- @push: sink('a')\nSELECT id::INT AS id FROM raw.a",
        3 "push.kind_not_supported"
    ),
    push!(
        "-- @kind: merge\n-- @unique_key: id\n-- @push: sink('a')\nSELECT id::INT AS id FROM raw.a",
        3 "push.kind_not_supported"
    ),
    push!("-- @push: nosink('a')\nSELECT id::INT AS id FROM raw.a", 1 "push.other"),
    push!("-- @push: sink\nSELECT id::INT AS id FROM raw.a", 1 "push.other"),
    push!("-- @push: sink('a', 'b')\nSELECT id::INT AS id FROM raw.a", 1 "push.other"),
    Case {
        files: &[API, ("models/sync/x.sql", "-- @push: api\nSELECT 1::INT AS id")],
        found: &[("models/sync/x.sql", 1, "push.other")],
    },
    lib!(
        "API = {\"push\": {\"batch_mode\": \"async\",\n\"poll_interval\": \"soon\"}}\n",
        2,
        "push.invalid_poll_interval"
    ),
    lib!("API = {\"push\": {\n\"poll_interval\": \"5s\"}}\n", 2, "push.invalid_poll_interval"),
    lib!("API = {\"push\": {\"batch_mode\": \"async\",\n\"poll_timeout\": \"0s\"}}\n", 2, "push.invalid_poll_timeout"),
    lib!("API = {\"push\": {\n\"poll_timeout\": \"5s\"}}\n", 2, "push.invalid_poll_timeout"),
    lib!("API = {\"push\": {\n\"max_concurrent\": 0}}\n", 2, "push.other"),
    lib!("API = {\"push\": {\"batch_mode\": \"atomic\",\n\"max_concurrent\": 2}}\n", 2, "push.other"),
    lib!("API = {\"push\": {\n\"rate_limit\": {\"requests\": 1}}}\n", 2, "push.other"),
];

const LIBS: &[Case] = &[
    lib!("API = {\"fetch\": {\n\"args\": args()}}\n", 2, "blueprint.invalid_api_dict"),
    lib!("def fetch(page):\n    return {\n", 2, "blueprint.invalid_api_dict"),
    lib!("API = {\"fetch\": {}}\n", 1, "blueprint.invalid_api_dict"),
    lib!("\nAPI = {\"rate_limit\": {\"requests\": 1}, \"fetch\": {}}\n", 2, "blueprint.invalid_api_dict"),
    one!("lib/range.star", "API = {\"fetch\": {}}\ndef fetch(page):\n    return {}\n", 0, "blueprint.invalid_api_dict"),
    one!("lib/helper.star", "X = 1\n", 0, "blueprint.helper_without_api"),
    Case { files: &[("lib/_helper.star", "X = 1\n")], found: &[] },
    lib!("API = {\"fetch\": {},\n\"timeuot\": 3}\ndef fetch(page):\n    return {}\n", 2, "blueprint.unknown_key"),
    lib!(
        "API = {\"fetch\": {}}\n\ndef fetch(page):\n    return {\"rows\": http.get(\"x\").json}\n",
        3,
        "blueprint.unchecked_status"
    ),
    Case {
        files: &[(
            "lib/x.star",
            "# ondatracheck:allow-unchecked-status the API never fails\nAPI = {\"fetch\": {}}\n\
             def fetch(page):\n    return {\"rows\": http.get(\"x\").json}\n",
        )],
        found: &[],
    },
    // A broken file is told once, not again by those that call it.
    Case {
        files: &[
            ("lib/x.star", "API = 1\n"),
            ("models/raw/a.sql", "-- @fetch\nSELECT id::INT AS id FROM x('a')"),
            ("models/raw/b.sql", "-- @push: x\nSELECT 1::INT AS id"),
            ("models/raw/c.sql", "SELECT * FROM x('a')"),
        ],
        found: &[("lib/x.star", 1, "blueprint.invalid_api_dict")],
    },
];

const GRAPH: &[Case] = &[
    Case {
        files: &[
            ("models/a/x.sql", "SELECT *\nFROM a.y"),
            ("models/a/y.sql", "SELECT *\n\nFROM a.X"),
            ("models/a/z.sql", "SELECT * FROM a.y"),
            ("models/a/own.sql", "SELECT * FROM a.own"),
        ],
        found: &[
            ("models/a/own.sql", 1, "dag.cycle_detected"),
            ("models/a/x.sql", 2, "dag.cycle_detected"),
            ("models/a/y.sql", 3, "dag.cycle_detected"),
        ],
    },
    // Through a macro of the configuration.
    Case {
        files: &[
            ("config/macros/own.sql", "CREATE MACRO newest() AS TABLE (SELECT 1 AS a), (n) AS TABLE (SELECT n AS b);"),
            ("models/a/x.sql", "SELECT * FROM newest(), newest(1)"),
        ],
        found: &[],
    },
    Case {
        files: &[(
            "models/mart/a.sql",
            "SELECT * FROM orders JOIN\nlegacy.orders USING (id) JOIN legacy.Orders o2 USING (id)",
        )],
        found: &[("models/mart/a.sql", 2, "dag.external_reference")],
    },
    Case {
        files: &[
            ("models/staging/b.sql", "-- @kind: broken\nSELECT 1 AS id"),
            ("models/b.sql", "SELECT 1 AS id"),
            (
                "models/mart/a.sql",
                "WITH w AS (SELECT 1) SELECT * FROM STAGING.b, lake.staging.b, b, lake.b, w, information_schema.tables",
            ),
        ],
        found: &[("models/staging/b.sql", 1, "parser.invalid_kind")],
    },
];

#[track_caller]
pub(super) fn check(cases: &[Case]) {
    for case in cases {
        let project = with_files(case.files);
        // Without any model a run has nothing to do.
        project.model("z/plain", "SELECT 1 AS a");
        let expected: Vec<Found> = case
            .found
            .iter()
            .map(|&(path, line, rule)| (path.to_owned(), (line > 0).then_some(line), rule.to_owned()))
            .collect();
        let report = report(&project, &[]);
        assert_eq!(found(&report), expected, "{:#?}\n{report:#}", case.files);
        if report["summary"]["blockers"] != 0 {
            let output = project.run(&["run"]);
            assert_eq!(output.code, 1, "a BLOCKER that runs: {:#?}\n{}{}", case.files, output.stdout, output.stderr);
        }
    }
}

#[test]
fn rules_of_the_parser() {
    check(PARSER);
}

/// A check that never runs is a mistake, also where `run` only warns of it.
#[test]
fn a_warning_that_is_no_call_is_told_in_the_words_of_run() {
    let project = with_files(&[("models/raw/x.sql", "\n-- @warning: not_null(a) b\nSELECT 1 AS a")]);
    let report = report(&project, &[]);
    assert_eq!(found(&report), [("models/raw/x.sql".to_owned(), Some(2), "parser.invalid_directive".to_owned())]);
    let output = project.run(&["run"]).success();
    let said = "warning dispatch error: unexpected trailing text `b` in `not_null(a) b`";
    assert!(output.stdout.contains(said) && report.to_string().contains(said), "{report:#}\n{}", output.stdout);
}

#[test]
fn rules_of_reading_only() {
    check(READ_ONLY);
}

#[test]
fn rules_of_fetching() {
    check(FETCH);
}

#[test]
fn rules_of_pushing() {
    check(PUSH);
}

#[test]
fn rules_of_lib_files() {
    check(LIBS);
}

#[test]
fn rules_of_the_graph() {
    check(GRAPH);
}

#[test]
fn every_rule_has_a_case() {
    let cases = [PARSER, UNUSABLE, READ_ONLY, FETCH, PUSH, LIBS, GRAPH].concat_rules();
    let blockers = Rule::ALL.iter().filter(|rule| rule.severity() != Severity::Warn).map(|rule| rule.id());
    // The parser stands before the first two, which a test of the room reaches. Files that cannot be read, and what
    // cannot be checked, have tests of their own.
    let elsewhere = ["push.missing_unique_key", "push.missing_group_key", "blueprint.other"];
    let expected: BTreeSet<&str> = blockers.filter(|id| !elsewhere.contains(id)).collect();
    assert_eq!(cases, expected);
}

trait ConcatRules {
    fn concat_rules(&self) -> BTreeSet<&'static str>;
}

impl ConcatRules for [&[Case]; 7] {
    fn concat_rules(&self) -> BTreeSet<&'static str> {
        self.iter().flat_map(|cases| cases.iter()).flat_map(|case| case.found).map(|(_, _, rule)| *rule).collect()
    }
}
