//! What the SQL of a model with `@fetch` may hold (chapter 03 §3.4, "Model rules").
#![allow(clippy::unwrap_used)]

mod world;

use model::SyntaxTree;
use query::{FetchQuery, LibFacts, SqlFinding, lib_calls, read_fetch_query, types_query};
use serde_json::json;
use types::Kind;
use world::{ODD, World, damaged};

fn texts(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

fn libs() -> Vec<LibFacts> {
    let fetching = |name: &str, args: &[&str], required: &[&str]| LibFacts {
        name: name.into(),
        can_fetch: true,
        args: texts(args),
        required: texts(required),
        ..LibFacts::default()
    };
    let mut narrow = fetching("narrow", &[], &[]);
    narrow.supported_columns = Some(texts(&["id", "Full Name"]));
    narrow.supported_kinds = Some(vec![Kind::Append, Kind::Merge]);
    vec![
        fetching("api", &["resource", "since"], &[]),
        fetching("Other", &["key", "size"], &["key"]),
        fetching("order", &["resource"], &[]),
        narrow,
        LibFacts { name: "crm".into(), args: texts(&["list"]), ..LibFacts::default() },
        LibFacts { name: "broken".into(), is_broken: true, ..LibFacts::default() },
    ]
}

/// The result, which must not depend on what a tree leaves out.
fn read(world: &World, sql: &str, kind: Kind) -> Result<FetchQuery, Vec<SqlFinding>> {
    let full = world.full_tree(sql).unwrap_or_else(|| panic!("{sql}"));
    let result = read_fetch_query(&full, sql, kind, &libs());
    let lean = read_fetch_query(&world.tree(sql), sql, kind, &libs());
    assert_eq!(lean.map(|_| ()), result.clone().map(|_| ()), "{sql}");
    result
}

fn refused(world: &World, sql: &str) -> Vec<SqlFinding> {
    read(world, sql, Kind::Table).err().unwrap_or_default()
}

/// Each case: the query with `^` where the finding points, the rule, a part of the message. There is no other.
fn check(cases: &[(&str, &str, &str)]) {
    let world = World::new();
    for (marked, rule, message) in cases {
        let (sql, offset) = (marked.replace('^', ""), marked.find('^'));
        let found = refused(&world, &sql);
        let rules: Vec<&str> = found.iter().map(|finding| finding.rule.id()).collect();
        assert_eq!(rules, [*rule], "{sql}\n{found:#?}");
        assert!(found[0].message.contains(message), "{sql}\n{}", found[0].message);
        assert_eq!(found[0].offset, offset, "{sql}\n{}", found[0].message);
        assert!(!found[0].help.is_empty(), "{sql}");
    }
}

/// Each case: all rules, in the order of their places.
fn check_all(cases: &[(&str, &[&str])]) {
    let world = World::new();
    for (sql, rules) in cases {
        let found = refused(&world, sql);
        assert_eq!(found.iter().map(|finding| finding.rule.id()).collect::<Vec<_>>(), *rules, "{sql}\n{found:#?}");
    }
}

#[test]
fn a_cast_and_named_column_of_one_call_is_all_there_is() {
    let world = World::new();
    for sql in [
        "SELECT id::INT AS id FROM api('x')",
        "SELECT id::INT id, CAST(b AS VARCHAR) AS \"B b\", TRY_CAST(c AS DATE) AS c FROM api('x') AS t",
        "FROM api('x') SELECT z: id::INT",
        "(SELECT id::INT AS id FROM API())",
        "-- a comment with where, distinct and window\nSELECT id::INT AS \"where\", b::INT AS window FROM \"Api\"(resource => 'x')",
        "SELECT id::INT AS id FROM \"order\"('x')",
        "SELECT id::INT AS id FROM LATERAL api('x')",
        "SELECT ALL \"ü\"::INT AS \"Ü\", \"user\"::VARCHAR AS u FROM oTHER('é')",
        "SELECT id::INT AS id FROM broken('x', y => 1)",
    ] {
        assert!(read(&world, sql, Kind::Table).is_ok(), "{sql}\n{:#?}", refused(&world, sql));
    }
}

#[test]
fn from_is_one_call_of_a_lib_function() {
    check(&[
        ("SELECT id::INT AS id FROM ^t", "strict_fetch.no_lib_call", "no lib calls"),
        ("SELECT id::INT AS id FROM ^api", "strict_fetch.no_lib_call", "the table \"api\""),
        ("SELECT id::INT AS id ^FROM (SELECT * FROM api('x')) AS s", "strict_fetch.no_lib_call", "subquery"),
        ("SELECT id::INT AS id", "strict_fetch.no_lib_call", "there is no FROM"),
        ("SELECT id::INT AS id ^FROM (VALUES (1)) AS v", "strict_fetch.no_lib_call", "no lib calls"),
        (
            "SELECT id::INT AS id FROM api('x') AS a ^JOIN t ON true",
            "strict_fetch.multiple_lib_calls",
            "JOIN is not allowed",
        ),
        ("SELECT id::INT AS id FROM api('x'), ^t", "strict_fetch.multiple_lib_calls", "JOIN is not allowed"),
        ("SELECT id::INT AS id FROM t, ^api('x')", "strict_fetch.multiple_lib_calls", "JOIN is not allowed"),
        (
            "SELECT id::INT AS id FROM api('x'), ^api('y') AS b",
            "strict_fetch.multiple_lib_calls",
            "JOIN is not allowed",
        ),
        (
            "SELECT id::INT AS id FROM api('x') ^JOIN crm('y') USING (id) JOIN typo('z') USING (id)",
            "strict_fetch.multiple_lib_calls",
            "second lib call",
        ),
    ]);
    check_all(&[
        (
            "SELECT id::INT AS id FROM t JOIN u USING (a)",
            &["strict_fetch.no_lib_call", "strict_fetch.multiple_lib_calls"],
        ),
        // Of a nested query nothing else is judged.
        (
            "SELECT * FROM (SELECT DISTINCT a FROM t LIMIT 1)",
            &["strict_fetch.cast_required", "strict_fetch.no_lib_call"],
        ),
    ]);
}

#[test]
fn an_unknown_function_is_the_only_finding() {
    check(&[
        ("SELECT *, 1 FROM ^apy('x') WHERE true LIMIT 1", "cross_ast.unknown_lib", "unknown lib function \"apy\""),
        ("SELECT * FROM ^range(3)", "cross_ast.unknown_lib", "lib/range.star"),
        ("SELECT * FROM ^\"Größe\"('x')", "cross_ast.unknown_lib", "\"Größe\""),
        ("SELECT * FROM ^crm('x') GROUP BY ALL", "cross_ast.unknown_lib", "only pushes"),
        ("SELECT * FROM ^main.api('x')", "cross_ast.unknown_lib", "\"main.api\""),
        ("SELECT * FROM ^memory.main.\"API\"('x')", "cross_ast.unknown_lib", "\"memory.main.API\""),
        ("SELECT * FROM ^typo('x'), t", "cross_ast.unknown_lib", "typo"),
    ]);
    let world = World::new();
    let help = |sql: &str| refused(&world, sql).remove(0).help;
    assert_eq!(help("SELECT * FROM Ordr('x')"), "did you mean \"order\"?");
    assert_eq!(help("SELECT * FROM brokn('x')"), "did you mean \"broken\"?");
    assert!(!help("SELECT * FROM crn('x')").contains("crm"), "it does not fetch");
    assert!(help("SELECT * FROM main.api('x')").contains("no schema"));
}

#[test]
fn who_calls_a_broken_lib_is_not_told_that_it_is_missing() {
    check_all(&[
        ("SELECT id::INT AS id FROM (SELECT * FROM broken('x')) AS s", &[]),
        ("SELECT id::INT AS id FROM typo((SELECT max(a) FROM Broken()))", &[]),
        (
            "SELECT id FROM crm('x') JOIN broken() ON true",
            &["strict_fetch.cast_required", "strict_fetch.alias_required", "strict_fetch.multiple_lib_calls"],
        ),
    ]);
}

#[test]
fn every_column_is_cast_and_named() {
    check(&[
        ("SELECT ^* FROM api('x')", "strict_fetch.cast_required", "SELECT * is not allowed"),
        ("^FROM api('x')", "strict_fetch.cast_required", "SELECT * is not allowed"),
        ("SELECT ^api.* FROM api('x')", "strict_fetch.cast_required", "SELECT * is not allowed"),
        ("SELECT ^* EXCLUDE (a) FROM api('x')", "strict_fetch.cast_required", "SELECT * is not allowed"),
        ("SELECT ^COLUMNS('a') FROM api('x')", "strict_fetch.cast_required", "SELECT * is not allowed"),
        ("SELECT ^COLUMNS(*)::INT AS a FROM api('x')", "strict_fetch.cast_required", "must be <col>::TYPE AS alias"),
        ("SELECT ^id AS id FROM api('x')", "strict_fetch.cast_required", "column \"id\" is not cast"),
        ("SELECT ^api.id AS id FROM api('x')", "strict_fetch.cast_required", "column \"api.id\" is not cast"),
        ("SELECT ^id::INT + 1 AS id FROM api('x')", "strict_fetch.cast_required", "column 1 is not cast"),
        ("SELECT id::INT AS i, ^lower(a) AS a FROM api('x')", "strict_fetch.cast_required", "column 2 is not cast"),
        ("SELECT ^1 AS one FROM api('x')", "strict_fetch.cast_required", "is not cast"),
        ("SELECT ^a::VARCHAR COLLATE nocase AS a FROM api('x')", "strict_fetch.cast_required", "is not cast"),
        ("SELECT (^id + 1)::INT AS id FROM api('x')", "strict_fetch.cast_required", "must be <col>::TYPE AS alias"),
        (
            "SELECT ^CAST(lower(a) AS INT) AS a FROM api('x')",
            "strict_fetch.cast_required",
            "must be <col>::TYPE AS alias",
        ),
        ("SELECT ^id::INT::BIGINT AS id FROM api('x')", "strict_fetch.cast_required", "must be <col>::TYPE AS alias"),
        ("SELECT ^'é'::VARCHAR AS e FROM api('x')", "strict_fetch.cast_required", "must be <col>::TYPE AS alias"),
        ("SELECT ^l[1]::INT AS e FROM api('x')", "strict_fetch.cast_required", "must be <col>::TYPE AS alias"),
        (
            "SELECT ^(SELECT max(a) FROM t)::INT AS e FROM api('x')",
            "strict_fetch.cast_required",
            "must be <col>::TYPE AS alias",
        ),
        ("SELECT ^id::INT FROM api('x')", "strict_fetch.alias_required", "has no explicit alias"),
        (
            "SELECT id::INT AS id, ^TRY_CAST(b AS INT) FROM api('x')",
            "strict_fetch.alias_required",
            "column 2 has no explicit alias",
        ),
        (
            "SELECT a::INT AS id, ^b::INT AS ID FROM api('x')",
            "strict_fetch.other",
            "duplicate output column name \"ID\"",
        ),
        ("SELECT a::INT AS \"Ü\", ^b::INT AS ü FROM api('x')", "strict_fetch.other", "duplicate output column name"),
    ]);
    check_all(&[
        ("SELECT id FROM api('x')", &["strict_fetch.cast_required", "strict_fetch.alias_required"]),
        (
            "SELECT a::INT AS x, b::INT AS x, c AS X FROM api('x')",
            &["strict_fetch.other", "strict_fetch.cast_required", "strict_fetch.other"],
        ),
    ]);
}

#[test]
fn a_qualifier_is_the_alias_or_the_lib_name() {
    check(&[
        ("SELECT ^t.id::INT AS id FROM api('x')", "strict_fetch.other", "\"t.id\""),
        ("SELECT ^main.api.id::INT AS id FROM api('x')", "strict_fetch.other", "\"main.api.id\""),
        ("SELECT ^a.s.f::INT AS id FROM api('x') AS a", "strict_fetch.other", "qualifier must be \"a\""),
    ]);
    let world = World::new();
    for sql in [
        "SELECT API.id::INT AS id FROM api('x')",
        "SELECT t.id::INT AS id FROM api('x') AS \"T\"",
        "SELECT api.id::INT AS id FROM Api('x') AS t",
        "SELECT \"order\".id::INT AS id FROM \"order\"('x')",
    ] {
        assert!(read(&world, sql, Kind::Table).is_ok(), "{sql}");
    }
}

#[test]
fn no_clause_stands_beside_it() {
    check(&[
        ("SELECT id::INT AS id FROM api('x') ^WHERE true", "strict_fetch.where_clause_disallowed", "WHERE"),
        (
            "SELECT \"where\"::INT AS id FROM api('x') ^where \"where\" > 1",
            "strict_fetch.where_clause_disallowed",
            "WHERE",
        ),
        ("SELECT id::INT AS id FROM api('x') ^GROUP BY id", "strict_fetch.group_by_disallowed", "GROUP BY"),
        ("SELECT id::INT AS id FROM api('x') ^GROUP BY ALL", "strict_fetch.group_by_disallowed", "GROUP BY"),
        ("SELECT id::INT AS id FROM api('x') ^HAVING true", "strict_fetch.group_by_disallowed", "HAVING"),
        ("SELECT ^DISTINCT id::INT AS id FROM api('x')", "strict_fetch.distinct_disallowed", "DISTINCT"),
        ("SELECT ^DISTINCT ON (id) id::INT AS id FROM api('x')", "strict_fetch.distinct_disallowed", "DISTINCT"),
        ("SELECT id::INT AS id FROM \"order\"('x') ^ORDER BY id", "strict_fetch.order_by_disallowed", "ORDER BY"),
        ("SELECT id::INT AS id FROM api('x') ^ORDER BY ALL", "strict_fetch.order_by_disallowed", "ORDER BY"),
        ("^WITH c AS (SELECT 1) SELECT id::INT AS id FROM api('x')", "strict_fetch.other", "WITH"),
        ("^WITH c AS MATERIALIZED (SELECT 1) SELECT id::INT AS id FROM api('x')", "strict_fetch.other", "WITH"),
        ("SELECT id::INT AS id FROM api('x') ^QUALIFY true", "strict_fetch.other", "QUALIFY"),
        ("SELECT id::INT AS id FROM api('x') USING ^SAMPLE 10%", "strict_fetch.other", "SAMPLE"),
        ("SELECT id::INT AS id FROM api('x') ^TABLESAMPLE 10%", "strict_fetch.other", "SAMPLE"),
        ("SELECT id::INT AS id FROM api('x') ^WINDOW w AS (ORDER BY id)", "strict_fetch.other", "WINDOW"),
        ("SELECT id::INT AS id FROM api('x') ^window \"W\" AS ()", "strict_fetch.other", "WINDOW"),
        ("SELECT id::INT AS id FROM ^api('x') AS t(id)", "strict_fetch.other", "column alias list"),
        ("SELECT id::INT AS id FROM api('x') WITH ^ORDINALITY", "strict_fetch.other", "ORDINALITY"),
        ("SELECT id::INT AS id FROM ^api(DISTINCT 'x')", "strict_fetch.other", "inside a lib call"),
        ("SELECT id::INT AS id FROM ^api('x' ORDER BY 1)", "strict_fetch.other", "inside a lib call"),
        ("SELECT id::INT AS id FROM api('x') ^LIMIT 10", "read_only.limit_disallowed", "LIMIT"),
        ("SELECT id::INT AS id FROM api('x') ^LIMIT 10%", "read_only.limit_disallowed", "LIMIT"),
        ("SELECT id::INT AS id FROM api('x') ^FETCH FIRST 2 ROWS ONLY", "read_only.limit_disallowed", "LIMIT"),
        ("SELECT id::INT AS id FROM api('x') ^OFFSET 5", "read_only.offset_disallowed", "OFFSET"),
    ]);
}

#[test]
fn grouping_by_nothing_is_grouping() {
    let world = World::new();
    let sql = "SELECT id::INT AS id FROM api('x') GROUP BY ()";
    // Only a complete tree tells.
    let found = read_fetch_query(&world.full_tree(sql).unwrap(), sql, Kind::Table, &libs()).unwrap_err();
    assert_eq!((found.len(), found[0].rule.id()), (1, "strict_fetch.group_by_disallowed"));
}

#[test]
fn queries_are_not_put_together() {
    let branch = "SELECT id::INT AS id FROM api('x')";
    for operator in ["UNION", "UNION ALL", "UNION ALL BY NAME", "INTERSECT", "EXCEPT ALL"] {
        let marked = format!("{branch} ^{operator} SELECT id::INT AS id FROM api('y')");
        check(&[(&marked, "strict_fetch.union_disallowed", "UNION")]);
    }
    check_all(&[
        // The branch that fetches is judged, wherever it stands.
        (
            "SELECT 1 UNION SELECT id::INT AS id FROM api('x') WHERE true ORDER BY 1",
            &[
                "strict_fetch.union_disallowed",
                "strict_fetch.where_clause_disallowed",
                "strict_fetch.order_by_disallowed",
            ],
        ),
        (
            "SELECT a::INT AS a FROM t UNION SELECT a FROM u",
            &["strict_fetch.no_lib_call", "strict_fetch.union_disallowed"],
        ),
        ("SELECT a FROM t UNION SELECT a FROM typo() UNION SELECT 2", &["cross_ast.unknown_lib"]),
    ]);
}

#[test]
fn all_broken_rules_are_found_at_once() {
    check_all(&[(
        "WITH c AS (SELECT 1) SELECT DISTINCT *, id, b::INT FROM api('x', 'y', 'z') JOIN t ON true WHERE true \
         GROUP BY 1 HAVING true WINDOW w AS () QUALIFY true ORDER BY 1 LIMIT 1 OFFSET 2",
        &[
            "strict_fetch.other",
            "strict_fetch.distinct_disallowed",
            "strict_fetch.cast_required",
            "strict_fetch.cast_required",
            "strict_fetch.alias_required",
            "strict_fetch.alias_required",
            "cross_ast.args_mismatch",
            "strict_fetch.multiple_lib_calls",
            "strict_fetch.where_clause_disallowed",
            "strict_fetch.group_by_disallowed",
            "strict_fetch.group_by_disallowed",
            "strict_fetch.other",
            "strict_fetch.other",
            "strict_fetch.order_by_disallowed",
            "read_only.limit_disallowed",
            "read_only.offset_disallowed",
        ],
    )]);
}

#[test]
fn kinds_and_columns_are_those_that_the_lib_supports() {
    let world = World::new();
    let sql = "SELECT ID::INT AS a, narrow.\"full name\"::VARCHAR AS b FROM narrow()";
    assert!(read(&world, sql, Kind::Append).is_ok());
    let found = read(&world, sql, Kind::Scd2).unwrap_err();
    assert_eq!((found.len(), found[0].rule.id(), found[0].offset), (1, "strict_fetch.other", sql.find("narrow()")));
    assert!(found[0].message.contains("does not support @kind: scd2"), "{}", found[0].message);
    assert_eq!(found[0].help, "it supports: append, merge");
    let found = read(&world, "SELECT x::INT AS id FROM narrow()", Kind::Append).unwrap_err();
    assert_eq!((found.len(), found[0].rule.id(), found[0].offset), (1, "strict_fetch.other", Some(7)));
    assert!(found[0].message.contains("\"x\" is not in supported_columns"), "{}", found[0].message);
    assert_eq!(found[0].help, "it has: id, Full Name");
}

#[test]
fn what_is_read_is_as_written() {
    let world = World::new();
    let sql = "SELECT é.\"Größe\"::DECIMAL(10, 2) AS größe, TRY_CAST(b AS DATE) AS B\nFROM \"Order\"('x') AS é";
    let query = read(&world, sql, Kind::Table).unwrap();
    assert_eq!((query.function.as_str(), query.function_offset), ("Order", sql.find("\"Order\"")));
    let columns: Vec<_> =
        query.columns.iter().map(|c| (c.source.as_str(), c.alias.as_str(), c.is_try, c.offset)).collect();
    assert_eq!(columns, [("Größe", "größe", false, Some(7)), ("b", "B", true, sql.find("TRY_CAST"))]);
}

#[test]
fn calls_of_lib_functions_are_found_anywhere_in_from() {
    let world = World::new();
    let calls = |sql: &str| {
        let is_lib = |name: &str| libs().iter().any(|lib| lib.name.eq_ignore_ascii_case(name));
        let found = lib_calls(&world.tree(sql), is_lib);
        assert_eq!(lib_calls(&world.full_tree(sql).unwrap(), is_lib), found);
        found.into_iter().map(|call| (call.name.clone(), call.offset)).collect::<Vec<_>>()
    };
    for marked in [
        "SELECT * FROM ^api('x')",
        "SELECT a FROM t JOIN ^\"API\"('x') AS b ON true",
        "WITH c AS (SELECT * FROM ^api()) SELECT 1 FROM t",
        "SELECT (SELECT max(a) FROM ^api()) AS m FROM t",
        "SELECT 'é' AS e, a FROM t UNION ALL SELECT 1, 2 FROM (SELECT * FROM ^api())",
        "SELECT a FROM t WHERE EXISTS (FROM ^api())",
    ] {
        let sql = marked.replace('^', "");
        assert_eq!(calls(&sql), [("api".to_owned(), marked.find('^'))], "{sql}");
    }
    for sql in ["SELECT api('x') AS a", "SELECT * FROM api", "SELECT * FROM main.api('x')", "SELECT * FROM range(3)"] {
        assert_eq!(calls(sql), [], "{sql}");
    }
    let call = lib_calls(&world.tree("SELECT * FROM crm('x')"), |_| true).remove(0);
    let finding = call.missing_directive();
    assert_eq!((finding.rule.id(), finding.offset), ("parser.missing_directive", Some(14)));
    assert!(finding.message.contains("lacks @fetch"));
}

#[test]
fn nothing_fails_over_odd_queries() {
    let world = World::new();
    let fetching = [
        "SELECT id::DECIMAL(5) AS id, TRY_CAST(b AS STRUCT(a INT)) AS b FROM api('x', since => [1.5, 1e3]) AS a",
        "WITH c AS (SELECT 1) SELECT DISTINCT *, a.b.c FROM api(x, y => ?) AS a JOIN t ON true WHERE a UNION SELECT 1 \
         FROM api(lambda x: y, d = 1) AS k(a) GROUP BY ALL ORDER BY 1 LIMIT 1",
    ];
    let null = world.full_tree("SELECT NULL").unwrap();
    for sql in ODD.into_iter().chain(fetching) {
        let Some(tree) = world.full_tree(sql) else { continue };
        damaged(&tree, |broken| {
            for text in [sql, "é"] {
                if let Ok(query) = read_fetch_query(broken, text, Kind::Table, &libs()) {
                    types_query(&query.columns, &null);
                    query.arguments_query(&null);
                    types_query(&query.columns, broken);
                }
            }
            lib_calls(broken, |_| true);
        });
    }
    for tree in
        [json!(null), json!({}), json!([1]), json!({ "statements": [] }), json!({ "statements": [{ "node": 1 }] })]
    {
        let found = read_fetch_query(&SyntaxTree(tree), "", Kind::Table, &libs()).unwrap_err();
        assert_eq!(found[0].rule.id(), "strict_fetch.no_lib_call");
    }
}
