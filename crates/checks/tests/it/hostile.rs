//! No argument runs SQL beyond its expression, however hostile.

use checks::{Call, ParamKind, Stage, shipped};
use model::Written;
use types::literal;

use crate::world::World;

/// Texts that try to leave the place where they stand.
const HOSTILE: [&str; 34] = [
    "v) IS NULL OR (1 = 1",
    "v) FROM t; DROP TABLE t; SELECT (1",
    "v; DROP TABLE t",
    "v -- ",
    "v /* ",
    "v /* */",
    "v\n-- x\n",
    "v)) FROM secrets --",
    "1) UNION ALL SELECT message FROM secrets WHERE (true",
    "v' || (SELECT message FROM secrets) || '",
    "'' || v",
    "v\" FROM secrets --",
    "$$",
    "$a$ v",
    "e'\\",
    "{",
    "}",
    "]",
    "[v",
    ")",
    "((",
    "secrets WHERE true",
    "(SELECT message FROM secrets)",
    "secrets, t",
    "t UNION ALL SELECT message FROM secrets",
    "INTEGER) IS NULL OR (true",
    "INTEGER AS x",
    ">= 0 OR true --",
    "\0",
    "\u{feff}v\u{2028}",
    "1 AS €$$)) IS NULL UNION ALL SELECT message FROM secrets WHERE ((SELECT NULL AS €$$",
    "1$$) UNION ALL SELECT message FROM secrets WHERE (true$$",
    "e'a'\n'\\'' ) UNION ALL SELECT message FROM secrets WHERE ('a' <> '",
    "1e'\\'' ) UNION ALL SELECT message FROM secrets WHERE ('a' <> '",
];

/// The secret of the table that no check is told to read.
const SECRET: &str = "the secret";

fn world() -> World {
    let world = World::new();
    world.execute("CREATE TABLE t AS SELECT unnest([1, 2, NULL]) AS v");
    world.execute(&format!("CREATE TABLE secrets AS SELECT {} AS message", literal(SECRET)));
    world.execute("SET VARIABLE prev_model_snapshot = 0");
    world
}

/// A directive of the check in which parameter `at` is `hostile` and all others are harmless.
fn directive(check: &checks::Check, at: usize, hostile: &str) -> String {
    let argument = |(position, param): (usize, &checks::Param)| match param.kind {
        _ if position == at => literal(hostile),
        ParamKind::Operator => ">".to_owned(),
        ParamKind::Table => "t".to_owned(),
        ParamKind::Type => "INTEGER".to_owned(),
        ParamKind::Value => "0.5".to_owned(),
        ParamKind::Age => "1h".to_owned(),
        ParamKind::Text | ParamKind::Label => "'x'".to_owned(),
        ParamKind::Expression | ParamKind::Expressions | ParamKind::Name => "v".to_owned(),
    };
    let arguments: Vec<String> = check.params.iter().enumerate().map(argument).collect();
    format!("{}({})", check.name, arguments.join(", "))
}

/// Whether the text may read another table as an expression of its own: then the author has asked for it.
fn is_subquery(text: &str) -> bool {
    text.starts_with("(SELECT")
}

#[test]
fn an_argument_stays_within_its_expression() {
    let world = world();
    for (check, hostile) in shipped().flat_map(|check| HOSTILE.map(|hostile| (check, hostile))) {
        for at in 0..check.params.len() {
            let directive = directive(check, at, hostile);
            let found = world.findings(check.stage, &directive, "t");
            let texts = found.as_ref().map(|texts| texts.join("\n")).unwrap_or_default();
            assert!(is_subquery(hostile) || !texts.contains(SECRET), "{directive}: {texts}");
            assert_eq!(world.texts("SELECT count(*)::VARCHAR FROM t").unwrap(), ["3"], "{directive}");
            assert_eq!(world.texts("SELECT count(*)::VARCHAR FROM secrets").unwrap(), ["1"], "{directive}");
        }
    }
}

#[test]
fn an_aggregate_is_no_value_of_a_row() {
    let world = world();
    // Without an earlier commit, the deltas look at nothing.
    for check in shipped().filter(|check| !check.name.ends_with("_delta")) {
        for (at, param) in check.params.iter().enumerate() {
            if matches!(param.kind, ParamKind::Expression | ParamKind::Expressions) {
                for aggregate in ["count(*)", "max(v)", "max(v)::DATE"] {
                    let directive = directive(check, at, aggregate);
                    let found = world.findings(check.stage, &directive, "t");
                    assert!(found.is_err(), "{}: {directive}: {found:?}", check.stage);
                }
            }
        }
    }
}

/// Takes a text apart and puts it together in another way, the same on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end
    }
}

const PIECES: [&str; 44] = [
    "v",
    " ",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "'",
    "''",
    "\"",
    "\"\"",
    ",",
    ";",
    "--",
    "/*",
    "*/",
    "\n",
    "$$",
    "$x$",
    "e'",
    "\\",
    "%",
    "secrets",
    "SELECT",
    "FROM",
    "DROP TABLE t",
    "UNION ALL",
    "message",
    "1",
    "=",
    ".",
    "::",
    "0h",
    "OR",
    "é",
    "€",
    "€$$",
    "$€$",
    "1$$",
    "0x1$$",
    "1e'",
    "\u{85}",
    "\u{a0}",
];

/// Whether the engine's own parser reads the text, between brackets, as one value of one SELECT from the table behind it;
/// `None` if it does not read it at all.
fn is_one_value(world: &World, text: &str) -> Option<bool> {
    let sql = format!("SELECT ({text}) AS whole FROM t");
    let answer = world.texts(&format!(
        "SELECT CASE WHEN json_extract_string(tree, '$.error')::BOOLEAN THEN '' ELSE (\
         json_array_length(tree, '$.statements') = 1 \
         AND json_array_length(tree, '$.statements[0].node.select_list') = 1 \
         AND json_extract_string(tree, '$.statements[0].node.select_list[0].alias') = 'whole' \
         AND json_extract_string(tree, '$.statements[0].node.from_table.table_name') = 't')::VARCHAR END \
         FROM (SELECT json_serialize_sql({}) AS tree)",
        literal(&sql)
    ));
    let answer = answer.unwrap().pop().unwrap();
    (!answer.is_empty()).then(|| answer == "true")
}

#[test]
fn what_is_taken_for_an_expression_is_one_for_the_engine() {
    let world = world();
    let mut random = Random(7);
    let (mut taken, mut parsed) = (0, 0);
    for _ in 0..30_000 {
        let text: String = (0..=random.below(7)).map(|_| PIECES[random.below(PIECES.len())]).collect();
        let written = Written { value: format!("not_null({})", literal(&text)), span: 0..0 };
        let Ok(call) = Call::read(Stage::Constraint, &written, |_| None) else { continue };
        taken += 1;
        assert_eq!(call.arguments.len(), 1, "{text}");
        if let Some(is_one) = is_one_value(&world, &text) {
            parsed += 1;
            assert!(is_one, "{text}");
        }
    }
    assert!(taken > 3_000 && parsed > 300, "{taken} were taken, {parsed} of them parsed");
}

#[test]
fn random_directives_never_write_nor_read_what_they_do_not_name() {
    let world = world();
    let mut random = Random(11);
    let all: Vec<&checks::Check> = shipped().collect();
    for _ in 0..4_000 {
        let text: String = (0..=random.below(6)).map(|_| PIECES[random.below(PIECES.len())]).collect();
        let check = all[random.below(all.len())];
        // In quotes, and as it is: then it may also end the directive.
        let quoted = directive(check, random.below(check.params.len()), &text);
        let bare = format!("{}({text})", check.name);
        for directive in [quoted, bare] {
            // Errors are answers, too.
            let found = world.findings(check.stage, &directive, "t").unwrap_or_default();
            let names_it = text.contains("secrets") && text.contains("SELECT");
            assert!(names_it || !found.join("\n").contains(SECRET), "{directive}");
        }
        assert_eq!(world.texts("SELECT count(*)::VARCHAR FROM t").unwrap(), ["3"], "{}({text})", check.name);
    }
}

#[test]
fn names_of_tables_are_quoted_where_a_macro_reads_them() {
    let world = World::new();
    world.execute("SET VARIABLE alert_amount_threshold = 1");
    for (schema, name) in [
        ("order", "select"),
        ("a.b", "c.d"),
        ("it's", "50%"),
        ("f(x)", "a\"b"),
        ("x; DROP", "y --"),
        ("MiXed", "Käse"),
        ("{t}", "' || t || '"),
    ] {
        let table = format!("{}.{}", types::quote(schema), types::quote(name));
        world.execute(&format!("CREATE SCHEMA {}", types::quote(schema)));
        world.execute(&format!("CREATE TABLE {table} AS SELECT unnest([1, 1, NULL]) AS v"));
        let found = world.findings(Stage::Constraint, "not_null(v)", &table);
        assert_eq!(found, Ok(vec!["NOT NULL failed: v has 1 NULL values".to_owned()]));
        let found = world.findings(Stage::Audit, "row_count(<, 3)", &table);
        assert_eq!(found, Ok(vec!["row_count < 3 failed: actual count is 3".to_owned()]));
        let found = world.findings(Stage::Constraint, &format!("references(v, {}, v)", literal(&table)), &table);
        assert_eq!(found, Ok(Vec::new()));
        assert_eq!(world.rows_at_fault(Stage::Constraint, "unique(v)", &table), Some(2));
    }
}
