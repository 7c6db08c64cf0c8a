//! Arguments of lib calls, and what the engine tells of them and of declared types (chapter 03 §3.4).
#![allow(clippy::unwrap_used)]

mod world;

use query::{DeclaredType, FetchQuery, LibFacts, SqlFinding, read_fetch_query, types_query};
use types::Kind;
use world::World;

fn libs() -> Vec<LibFacts> {
    let texts = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    let lib = |name: &str, args: &[&str], required: &[&str]| LibFacts {
        name: name.into(),
        can_fetch: true,
        args: texts(args),
        required: texts(required),
        ..LibFacts::default()
    };
    vec![
        lib("api", &["resource", "since", "Size"], &["resource"]),
        lib("alike", &["a", "A"], &[]),
        lib("free", &[], &[]),
        lib("pick", &["v", "w"], &[]),
    ]
}

fn read(world: &World, from: &str) -> Result<FetchQuery, Vec<SqlFinding>> {
    let sql = format!("SELECT a::INT AS a FROM {from}");
    read_fetch_query(&world.full_tree(&sql).unwrap_or_else(|| panic!("{sql}")), &sql, Kind::Table, &libs())
}

/// Each case: FROM, and the parameters that its arguments are for.
fn check(cases: &[(&str, &[&str])]) {
    let world = World::new();
    for (from, parameters) in cases {
        let query = read(&world, from).unwrap_or_else(|found| panic!("{from}\n{found:#?}"));
        let found: Vec<&str> = query.arguments.iter().map(|argument| argument.parameter.as_str()).collect();
        assert_eq!(found, *parameters, "{from}");
    }
}

/// Each case: FROM with `^` where the finding points, the rule, a part of the message. There is no other.
fn check_refused(cases: &[(&str, &str, &str)]) {
    let world = World::new();
    for (marked, rule, message) in cases {
        let found = read(&world, &marked.replace('^', "")).expect_err(marked);
        assert_eq!(found.iter().map(|finding| finding.rule.id()).collect::<Vec<_>>(), [*rule], "{marked}\n{found:#?}");
        assert!(found[0].message.contains(message), "{marked}\n{}", found[0].message);
        let offset = marked.find('^').map(|at| "SELECT a::INT AS a FROM ".len() + at);
        assert_eq!(found[0].offset, offset, "{marked}\n{}", found[0].message);
    }
}

#[test]
fn arguments_go_to_parameters_by_place_or_by_name() {
    check(&[
        ("free()", &[]),
        ("api('x')", &["resource"]),
        ("api('x', '2026-01-01', 3)", &["resource", "since", "Size"]),
        ("api('x', Size => 3)", &["resource", "Size"]),
        ("api(since := 'y', resource := 'x')", &["since", "resource"]),
        // The engine reads an equation in FROM as a name with a value.
        ("api('x', size = 3)", &["resource", "Size"]),
        ("api(RESOURCE => 'x', \"SIZE\" => 2)", &["resource", "Size"]),
        ("alike(A => 1, a => 2)", &["A", "a"]),
        ("pick(1 = 2)", &["v"]),
    ]);
}

#[test]
fn arguments_fit_the_declaration() {
    let rule = "cross_ast.args_mismatch";
    check_refused(&[
        ("free(^1)", rule, "too many arguments"),
        ("api('x', 'y', 3, ^4, 5)", rule, "takes 3, not 5"),
        ("api('x', sice => ^'y')", rule, "no argument \"sice\""),
        ("API('x', size2 := ^-1)", rule, "\"API\" has no argument \"size2\""),
        ("^api()", rule, "missing required argument \"resource\""),
        ("^api(since => 'y')", rule, "missing required argument \"resource\""),
        ("api(resource => 'x', ^'y')", rule, "has no name and stands behind one that has"),
        ("api('x', resource => ^'y')", rule, "\"resource\" of \"api\" is given twice"),
        ("api(since => 'x', resource => 'r', SINCE => ^'y')", rule, "\"since\" of \"api\" is given twice"),
    ]);
    let world = World::new();
    let found = read(&world, "api(resorce => 'x', since => 'é', other => 1)").unwrap_err();
    let shown: Vec<_> = found.iter().map(|finding| (finding.rule.id(), finding.help.as_str())).collect();
    let takes = "api takes: resource, since, Size";
    assert_eq!(shown, [(rule, takes), (rule, &format!("did you mean \"resource\"? {takes}")), (rule, takes),]);
}

#[test]
fn arguments_are_constants() {
    let rule = "strict_fetch.other";
    check_refused(&[
        ("api(^x)", rule, "the column \"x\""),
        ("api(^\"x\")", rule, "the column \"x\""),
        ("api(^t.x)", rule, "the column \"t.x\""),
        ("api(since => 'é', resource => lower(^x))", rule, "argument 2 of \"api\""),
        ("api(since => ^x || 'é', resource => 'x')", rule, "the column \"x\""),
        ("api(size = ^x, resource = 'x')", rule, "the column \"x\""),
        ("api(^(SELECT max(a) FROM t))", rule, "a subquery"),
        ("api('x', ^EXISTS (FROM t))", rule, "a subquery"),
        ("api('x', ^1 IN (SELECT a FROM t))", rule, "a subquery"),
        ("api(^row_number() OVER ())", rule, "a window function"),
        ("^api(?)", rule, "a parameter"),
        ("^api($1)", rule, "a parameter"),
        ("api(^COLUMNS(*))", rule, "a star"),
        ("api(list_transform([1], lambda x: x + ^y))", rule, "the column \"y\""),
        ("api(other(x -> x, ^x))", rule, "the column \"x\""),
        ("api('a' || (lower(^col) -> 'b'))", rule, "the column \"col\""),
        ("free(^*)", rule, "a star as an argument"),
        ("Pick ( ^* ) AS p", rule, "a star as an argument"),
    ]);
    let rule = "strict_fetch.multiple_lib_calls";
    check_refused(&[
        ("api(^Pick('x'))", rule, "calls the lib function \"pick\""),
        ("api(lower(^api('x')))", rule, "one lib call"),
    ]);
    check(&[
        ("api(getvariable('x'))", &["resource"]),
        (
            "api(lower('X') || now()::VARCHAR, current_date - 1, CASE WHEN true THEN 1 END)",
            &["resource", "since", "Size"],
        ),
        ("api(list_transform([1], lambda x: x + 1), [y * 2 FOR y IN [1, 2]])", &["resource", "since"]),
        ("api(list_reduce([1, 2], lambda x, y: x + y), {'a': 1}.a)", &["resource", "since"]),
        ("api('{\"a\": 1}'::JSON -> 'a', MAP {'k': NULL})", &["resource", "since"]),
        // With its schema it is the engine's own function.
        ("api(main.pick('x'))", &["resource"]),
    ]);
}

/// The tree that statements are put together from.
fn select_null(world: &World) -> model::SyntaxTree {
    world.full_tree("SELECT NULL").unwrap()
}

#[test]
fn the_engine_evaluates_arguments() {
    let world = World::new();
    world.execute("SET VARIABLE since = DATE '2026-01-02'");
    let value = |argument: &str| {
        let query = read(&world, &format!("pick('first', w => {argument})")).unwrap();
        let statement = world.statement(&query.arguments_query(&select_null(&world)).unwrap());
        world
            .texts(&format!("SELECT coalesce(b::VARCHAR, 'none') || ' ' || typeof(b) FROM ({statement}) AS t(a, b)"))
            .remove(0)
    };
    for (argument, expected) in [
        ("42", "42 INTEGER"),
        ("1.50", "1.50 DECIMAL(3,2)"),
        ("-0.5", "-0.5 DECIMAL(2,1)"),
        ("1e3", "1000.0 DOUBLE"),
        ("12345678901234567890123", "12345678901234567890123 HUGEINT"),
        ("true", "true BOOLEAN"),
        ("NULL", "none \"NULL\""),
        ("'it''s \"é\"'", "it's \"é\" VARCHAR"),
        ("getvariable('since')", "2026-01-02 DATE"),
        ("getvariable('since') + INTERVAL 1 DAY", "2026-01-03 00:00:00 TIMESTAMP"),
        ("[1, 2]", "[1, 2] INTEGER[]"),
        ("{'a b': 1.5, 'c': NULL}", "{'a b': 1.5, 'c': NULL} STRUCT(\"a b\" DECIMAL(2,1), c \"NULL\")"),
        ("list_transform([1], lambda x: x + 1)", "[2] INTEGER[]"),
        ("CAST('1' AS DECIMAL(5))", "1 DECIMAL(5,0)"),
        ("18446744073709551615", "18446744073709551615 HUGEINT"),
        ("'a\n\\b'", "a\n\\b VARCHAR"),
        ("e'a\\nb'", "a\nb VARCHAR"),
        ("$$it's$$", "it's VARCHAR"),
        ("DATE '2026-01-02'", "2026-01-02 DATE"),
        ("'{\"b\": 1, \"a\": 2}'::JSON", "{\"b\": 1, \"a\": 2} JSON"),
        ("'nan'::DOUBLE", "nan DOUBLE"),
        ("5e-324", "5e-324 DOUBLE"),
        ("x'c3a9'", "xc3a9 VARCHAR"),
        ("INTERVAL '1 month'", "1 month INTERVAL"),
        ("upper('é') COLLATE nocase", "É VARCHAR"),
    ] {
        assert_eq!(value(argument), expected, "{argument}");
    }
    assert_eq!(read(&world, "free()").unwrap().arguments_query(&select_null(&world)), None);
}

/// The name of a type as the engine gives it, and as lib functions are told it.
fn declared(world: &World, query: &FetchQuery) -> Vec<(String, DeclaredType)> {
    let statement = world.statement(&types_query(&query.columns, &select_null(world)).unwrap());
    let names = world.texts(&format!("SELECT column_type FROM (DESCRIBE {statement})"));
    names.into_iter().map(|name| (name.clone(), DeclaredType::parse(&name))).collect()
}

#[test]
fn the_engine_names_declared_types() {
    let world = World::new();
    world.execute("CREATE TYPE mood AS ENUM ('x', 'y,)')");
    world.execute("CREATE TYPE pair AS STRUCT(a INT, b mood)");
    let scalars = [
        ("INT", "INTEGER"),
        ("INT8", "BIGINT"),
        ("LONG", "BIGINT"),
        ("SHORT", "SMALLINT"),
        ("REAL", "FLOAT"),
        ("FLOAT4", "FLOAT"),
        ("FLOAT8", "DOUBLE"),
        ("DOUBLE PRECISION", "DOUBLE"),
        ("TEXT", "VARCHAR"),
        ("STRING", "VARCHAR"),
        ("CHAR(3)", "VARCHAR"),
        ("BOOL", "BOOLEAN"),
        ("DATETIME", "TIMESTAMP"),
        ("TIMESTAMP WITH TIME ZONE", "TIMESTAMPTZ"),
        ("TIME WITH TIME ZONE", "TIMETZ"),
        ("BYTEA", "BLOB"),
        ("JSON", "JSON"),
        ("UHUGEINT", "UHUGEINT"),
        ("UTINYINT", "UTINYINT"),
        ("TIMESTAMP(3)", "TIMESTAMP_MS"),
        ("TIMESTAMP_S", "TIMESTAMP_S"),
        ("TIMESTAMP_NS", "TIMESTAMP_NS"),
        ("TIME", "TIME"),
        ("UUID", "UUID"),
        ("BIT", "BIT"),
        ("INTERVAL", "INTERVAL"),
        ("DATE", "DATE"),
        ("BIGNUM", "VARCHAR"),
        ("mood", "VARCHAR"),
        ("ENUM('a', 'it''s)')", "VARCHAR"),
        ("DECIMAL", "DECIMAL(18,3)"),
        ("DECIMAL(5)", "DECIMAL(5,0)"),
        ("NUMERIC(10, 2)", "DECIMAL(10,2)"),
        ("INT[][3]", "INTEGER[][3]"),
        ("mood[]", "VARCHAR[]"),
        ("pair", "STRUCT(\"a\" INTEGER, \"b\" VARCHAR)"),
        ("MAP(TEXT, INT)", "MAP(VARCHAR, INTEGER)"),
        ("UNION(num INT, \"s p\" TEXT)[]", "UNION(num INTEGER, \"s p\" VARCHAR)[]"),
        (
            "STRUCT(a INT, \"b \"\"c\"\", (d)\" DECIMAL(4, 1)[])",
            "STRUCT(\"a\" INTEGER, \"b \"\"c\"\", (d)\" DECIMAL(4,1)[])",
        ),
    ];
    let list: Vec<String> = scalars.iter().enumerate().map(|(at, (sql, _))| format!("c::{sql} AS c{at}")).collect();
    let sql = format!("SELECT {}, TRY_CAST(\"é\" AS INT) AS tried FROM pick(1)", list.join(", "));
    let query = read_fetch_query(&world.full_tree(&sql).unwrap_or_else(|| panic!("{sql}")), &sql, Kind::Table, &libs())
        .unwrap();
    let declared = declared(&world, &query);
    for ((sql, expected), (name, found)) in scalars.iter().zip(&declared) {
        assert_eq!(found.to_string(), *expected, "{sql}, {name}");
        // The engine's name can stand in a cast, and is the same again.
        assert_eq!(world.texts(&format!("SELECT typeof(NULL::{name})")), [name.as_str()], "{sql}");
    }
    assert_eq!(declared.len(), scalars.len() + 1);
}

#[test]
fn a_type_that_does_not_exist_leaves_the_others_readable() {
    let world = World::new();
    let sql = "SELECT a::nothing AS a, b::main.\"Other\"[] AS b, c::INT AS c FROM pick(1)";
    let query =
        read_fetch_query(&world.full_tree(sql).unwrap_or_else(|| panic!("{sql}")), sql, Kind::Table, &libs()).unwrap();
    let statement = |at: usize| world.statement(&types_query([&query.columns[at]], &select_null(&world)).unwrap());
    assert!(statement(0).contains("nothing"));
    assert_eq!(world.texts(&format!("SELECT column_type FROM (DESCRIBE {})", statement(2))), ["INTEGER"]);
}
