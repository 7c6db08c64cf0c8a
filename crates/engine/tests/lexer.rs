//! The lexer of the room `model` parts a text where the engine's scanner does: asked through the engine's parser, as the
//! scanner itself cannot be.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use engine::{Connection, Database, EngineParser};
use model::{Code, SyntaxTree, split_statements};
use serde_json::Value;

/// Pieces that open, close or continue something, for one of the two only if they differ.
const PIECES: [&str; 52] = [
    "1",
    "0x1f",
    "1_000",
    "1e5",
    "1e",
    "1.",
    ".5",
    "..",
    "$1",
    "$a",
    "$",
    "$$",
    "$x$",
    "$€$",
    "$é$",
    "a",
    "e",
    "E",
    "x",
    "b",
    "n",
    "u&",
    "_",
    "é",
    "€",
    "→",
    "\u{1f600}",
    "'",
    "'",
    "''",
    "e'",
    "\\",
    "\\'",
    "\"",
    "\"\"",
    "--",
    "/*",
    "*/",
    "/",
    "*",
    "-",
    "\n",
    "\r",
    "\t",
    "\u{b}",
    "\u{c}",
    " ",
    "\u{85}",
    "\u{a0}",
    "\u{2028}",
    "\u{feff}",
    "0xa",
];
/// What makes of them something that can be parsed.
const JOINTS: [&str; 8] = [", 2", " AS c", ";SELECT 1", "+", " ", "", "", ","];

/// Random numbers that are the same on every machine.
struct Random(u64);

impl Random {
    fn of<'a>(&mut self, texts: &[&'a str]) -> &'a str {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        texts[usize::try_from(self.0 >> 33).unwrap() % texts.len()]
    }

    fn text(&mut self) -> String {
        let length = self.of(&["1", "2", "3", "4", "5", "6", "7"]).parse().unwrap();
        (0..length).map(|_| format!("{}{}", self.of(&PIECES), self.of(&JOINTS))).collect()
    }
}

fn connect() -> Connection {
    Arc::new(Database::open(&[]).unwrap()).connect().unwrap()
}

/// The number of columns of each statement, as the engine counts them.
fn counted_by_engine(SyntaxTree(tree): &SyntaxTree) -> Vec<usize> {
    let statements = tree["statements"].as_array().unwrap();
    let columns = |statement: &Value| statement["node"]["select_list"].as_array().map_or(0, Vec::len);
    statements.iter().map(columns).collect()
}

/// The same by the lexer: there is no bracket in the texts.
fn counted_by_lexer(sql: &str) -> Vec<usize> {
    let columns = |statement: &str| {
        let code = Code::new(statement);
        let commas = (0..code.len()).filter(|&at| code.text(at) == ",").count();
        // The engine takes one behind the last column.
        commas + usize::from(code.text(code.len() - 1) != ",")
    };
    split_statements(sql).into_iter().map(|range| columns(&sql[range])).collect()
}

/// Whether the engine may take a wide blank for a part of a name, by what stands elsewhere in the text.
fn is_ambiguous(text: &str) -> bool {
    let is_wide = |c| ['\u{a0}', '\u{feff}'].contains(&c);
    text.ends_with(is_wide) || (text.contains(is_wide) && text.contains('$'))
}

#[test]
fn what_the_engine_parses_has_the_statements_and_columns_that_the_lexer_sees() {
    let connection = connect();
    let (mut random, mut parsed) = (Random(5), 0);
    for _ in 0..100 {
        let mut texts: Vec<String> = (0..1_000).map(|_| format!("SELECT {}", random.text())).collect();
        texts.retain(|text| !is_ambiguous(text));
        let statements: Vec<&str> = texts.iter().map(String::as_str).collect();
        for (tree, text) in EngineParser(&connection).complete_trees(&statements).iter().zip(&texts) {
            let Ok(tree) = tree else { continue };
            parsed += 1;
            assert_eq!(counted_by_lexer(text), counted_by_engine(tree), "{text:?}");
        }
    }
    assert!(parsed > 10_000, "{parsed}");
}

#[test]
fn texts_that_an_earlier_lexer_read_in_another_way() {
    let connection = connect();
    for sql in [
        "SELECT 1 AS €$$; SELECT 2; SELECT 1 AS €$$",
        "SELECT 1 AS →$x$; SELECT 2 AS →$x$",
        "SELECT 0x1f$$, 0x1f$$",
        "SELECT .0xa$$, 1.0xa$$",
        "SELECT e'a'\n'\\', 2', 3",
        "SELECT e'a' -- '\n '\\', 2', 3",
        "SELECT e'a', '\\', 2, '', 3",
        "SELECT 1 AS a\u{85}$$, 2 AS a\u{85}$$",
        "SELECT $€$, 2$€$",
    ] {
        let tree = EngineParser(&connection).complete_tree(sql).unwrap_or_else(|error| panic!("{sql}: {error:?}"));
        assert_eq!(counted_by_lexer(sql), counted_by_engine(&tree), "{sql:?}");
    }
}
