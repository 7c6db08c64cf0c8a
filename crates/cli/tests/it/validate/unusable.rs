//! Checks, masks and arguments that can never run, and configuration that cannot be read: a run fails of each.

use super::rules::{API, Case, check};
use super::{found, report, with_files};

const MODEL: &str = "models/raw/x.sql";

/// A model with one directive, in its second line.
macro_rules! directive {
    ($directive:literal) => {
        Case {
            files: &[(MODEL, concat!("-- @kind: append\n-- @", $directive, "\nSELECT 1 AS x, 'y' AS phone"))],
            found: &[(MODEL, 2, "parser.unusable_check")],
        }
    };
}

/// A model that fetches, with one directive in its second line.
macro_rules! fetched {
    ($directive:literal, $sql:literal, $line:literal, $rule:literal) => {
        Case {
            files: &[API, (MODEL, concat!("-- @fetch\n-- @", $directive, "\n", $sql))],
            found: &[(MODEL, $line, $rule)],
        }
    };
}

pub(super) const UNUSABLE: &[Case] = &[
    directive!("constraint: nope(x)"),
    directive!("audit: composit_unique('x, phone')"),
    directive!("constraint: composite_unique(x, phone)"),
    directive!("constraint: not_null(x, y)"),
    directive!("audit: row_count(<>, 1)"),
    directive!("constraint: not_null(x +)"),
    directive!("constraint: not_null($1)"),
    directive!("constraint: references(x, '(SELECT)', x)"),
    directive!("constraint: valid_type(x, 'A B C')"),
    directive!("column: phone = Phone | mask_phone"),
    fetched!("column: n = Name | mask_nil", "SELECT n::VARCHAR AS n FROM api('x')", 2, "parser.unusable_check"),
    fetched!("column: m = Name | redact", "SELECT n::VARCHAR AS n FROM api('x')", 2, "parser.unusable_check"),
    Case {
        files: &[
            API,
            ("config/macros/own.sql", "CREATE MACRO mask_list(v) AS [helper(v)];\nCREATE MACRO helper(v) AS v;"),
            (MODEL, "-- @fetch\n-- @column: n = Name | MASK_LIST\nSELECT n::VARCHAR AS n FROM api('x')"),
        ],
        found: &[(MODEL, 2, "parser.unusable_check")],
    },
    fetched!("kind: table", "SELECT n::VARCHAR AS n FROM api(nofn('x'))", 3, "strict_fetch.other"),
    Case {
        files: &[("config/sources.sql", "ATTACH 'Shop.db';"), ("models/shop/a.sql", "SELECT 1 AS x")],
        found: &[("models/shop/a.sql", 0, "parser.other")],
    },
    Case {
        files: &[
            (".env", "SHOP=shop"),
            ("config/sources.sql", "ATTACH ':memory:' AS ${SHOP};"),
            ("models/shop/a.sql", "SELECT 1 AS x"),
        ],
        found: &[("models/shop/a.sql", 0, "parser.other")],
    },
    Case { files: &[(MODEL, "SELECT '$1' AS a,\n$1 AS x")], found: &[(MODEL, 2, "parser.other")] },
    Case {
        files: &[("config/macros/own.sql", "CREATE MACRO a(v) AS v;\nCREATE MACRO b(v) AS (v +;")],
        found: &[("config/macros/own.sql", 2, "config.syntax")],
    },
    Case {
        files: &[("config/macros/own.sql", "CREATE MACRO a(v) AS v;\nCREATE MACRO Ondatra_Checks_show(v) AS v;")],
        found: &[("config/macros/own.sql", 2, "config.syntax")],
    },
    Case {
        files: &[(MODEL, "-- @constraint: not_in(x, '5d')\n-- @constraint: not_in(x, 5d)\nSELECT 'a' AS x")],
        found: &[(MODEL, 2, "parser.changed_text")],
    },
    Case { files: &[(MODEL, "SELECT 1 AS a,\n2\0 AS b")], found: &[(MODEL, 2, "parser.other")] },
    Case {
        files: &[("config/variables/global.sql", "SET VARIABLE a = 1;\n\nSET VARIABLE b = (SELECT 1 FROM;")],
        found: &[("config/variables/global.sql", 3, "config.syntax")],
    },
];

#[test]
fn rules_of_what_can_never_run() {
    check(UNUSABLE);
}

#[test]
fn names_that_a_run_finds_are_known() {
    let project = with_files(&[
        (
            "config/macros/own.sql",
            "CREATE OR REPLACE TEMP MACRO \"Mask_Own\"(v) AS '***';\n\
            CREATE MACRO memory.main.ondatra_constraint_own(t, a, b) AS TABLE SELECT NULL AS m;\n\
            CREATE MACRO in_lake(v) AS (SELECT v || '{{catalog}}' FROM {{catalog}}.snapshots());\n\
            CREATE MACRO text() AS '${NAME}'; CREATE MACRO piece() AS (SELECT ${NAME});",
        ),
        ("config/variables/local.sql", "SET VARIABLE n = 1; -- done"),
        API,
        (
            "models/raw/a.sql",
            "-- @constraint: OWN(1, 2)\n-- @column: a = x | MASK_OWN\n-- @column: b = x | hash\n\
            -- @column: c = x | Redact\n-- @constraint: Not_Null(a)\n-- @constraint: check(\"a b\", a > 0 AND b IN (1, 2))\n\
            SELECT 1 AS a, 2 AS b, 3 AS c",
        ),
        (
            "models/raw/b.sql",
            "-- @fetch\n-- @column: N = x | mask_own\n\
            SELECT n::VARCHAR AS n FROM api(upper(in_lake('x') || ondatra_now()::VARCHAR || coalesce(hash_pii('a'), 'b')))",
        ),
    ]);
    assert_eq!(found(&report(&project, &[])), []);
}

#[test]
fn names_are_not_judged_where_macros_cannot_be_known() {
    for (path, text) in [
        ("config/macros/own.sql", "CREATE MACRO ondatra_constraint_${NAME}(t) AS TABLE SELECT NULL AS m;"),
        ("config/macros/broken.sql/of_a_folder", ""),
    ] {
        let project = with_files(&[
            (path, text),
            (MODEL, "-- @constraint: nope()\n-- @column: x = x | mask_x\n-- @audit: row_count(1)\nSELECT 1 AS x"),
        ]);
        let found = found(&report(&project, &[]));
        assert_eq!(found, [(MODEL.to_owned(), Some(3), "parser.unusable_check".to_owned())], "{path}");
    }
}

#[test]
fn what_was_meant_is_suggested_by_the_name_that_people_write() {
    for (directive, message, help) in [
        (
            "constraint: composit_unique('x, y')",
            "there is no constraint `composit_unique`",
            "did you mean `composite_unique`?",
        ),
        ("constraint: posit(x)", "there is no constraint `posit`", "did you mean `positiv`?"),
        (
            "column: y = Y | mask_emial",
            "column `y` cannot be masked with mask_emial: there is no such function",
            "did you mean `mask_email`?",
        ),
        (
            "column: y = Y | mask_phon",
            "column `y` cannot be masked with mask_phon: there is no such function",
            "did you mean `mask_phone`?",
        ),
    ] {
        let project = with_files(&[
            (
                "config/macros/own.sql",
                "CREATE MACRO mask_phone(v) AS '*';\n\
             CREATE MACRO ondatra_constraint_positiv(t, c) AS TABLE SELECT NULL AS m;",
            ),
            (MODEL, &format!("-- @{directive}\nSELECT 1 AS x, 2 AS y")),
        ]);
        let report = report(&project, &[]);
        let finding = &report["files"][0]["findings"][0];
        assert_eq!((&finding["message"], &finding["help"]), (&message.into(), &help.into()), "{report:#}");
        if directive.starts_with("constraint") {
            let output = project.run(&["run"]).failure(1);
            assert!(output.stderr.contains(&format!("help: {help}")), "{}", output.stderr);
            assert!(!output.stderr.contains("Did you mean"), "{}", output.stderr);
        }
    }
}
