//! What the SQL of a configuration names, told from its text: databases that it attaches, macros that it makes.

use crate::lexer::{Code, TokenKind, split_statements};

/// A macro as a configuration writes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenMacro {
    /// Its name, in lower case.
    pub name: String,
    /// Whether it is called in FROM.
    pub is_table: bool,
    /// The whole statement.
    pub statement: String,
    /// What stands behind `AS`, overload by overload: an expression or a SELECT.
    pub bodies: Vec<String>,
}

/// The names of the databases that `sql` attaches, in order: their aliases, or what the engine makes of their paths.
pub fn attached_names(sql: &str) -> Vec<String> {
    split_statements(sql).into_iter().filter_map(|range| attached_name(&Code::new(&sql[range]))).collect()
}

fn attached_name(code: &Code<'_>) -> Option<String> {
    if !code.is(0, &["attach"]) {
        return None;
    }
    let path = (1..code.len()).find(|&at| code.kind(at) == Some(TokenKind::Text))?;
    Some(if code.is(path + 1, &["as"]) { code.value(path + 2) } else { name_of_path(&code.value(path)) })
}

/// The name of a database without an alias: that of its file, without what stands before a colon and behind a point.
fn name_of_path(path: &str) -> String {
    let file = path.rsplit('/').next().unwrap_or_default();
    let file = file.rsplit(':').next().unwrap_or_default();
    let name = file.split('.').find(|part| !part.is_empty()).unwrap_or_default();
    let is_taken = ["main", "system", "temp"].contains(&name.to_lowercase().as_str());
    if is_taken { format!("{name}_db") } else { name.to_owned() }
}

/// The macros that `sql` makes, in order.
pub fn written_macros(sql: &str) -> Vec<WrittenMacro> {
    split_statements(sql).into_iter().filter_map(|range| written_macro(&sql[range])).collect()
}

fn written_macro(statement: &str) -> Option<WrittenMacro> {
    let code = Code::new(statement);
    if !code.is(0, &["create"]) {
        return None;
    }
    // The words before it are few: OR REPLACE TEMP.
    let keyword = (1..code.len().min(5)).find(|&at| code.is(at, &["macro", "function"]))?;
    let open = (keyword..code.len()).find(|&at| code.is(at, &["("]))?;
    let (mut is_table, mut bodies, mut next) = (false, Vec::new(), Some(open));
    while let Some(begin) = next.and_then(|open| body_begin(&code, open)) {
        is_table = code.is(begin - 1, &["table"]);
        let end = body_end(&code, begin, is_table);
        bodies.push(statement[code.start(begin)..code.start(end)].trim_end().to_owned());
        next = (end < code.len()).then_some(end + 1);
    }
    let name = code.value(open - 1).to_lowercase();
    (!bodies.is_empty()).then_some(WrittenMacro { name, is_table, statement: statement.to_owned(), bodies })
}

/// Where a body begins: behind the parameters whose bracket is at `open`, and `AS` or `AS TABLE`.
fn body_begin(code: &Code<'_>, open: usize) -> Option<usize> {
    let close = closing(code, open)?;
    let begin = close + if code.is(close + 2, &["table"]) { 3 } else { 2 };
    (code.is(close + 1, &["as"]) && begin < code.len()).then_some(begin)
}

/// The comma behind a body, or the end: an expression holds none outside of brackets, and a SELECT that others follow
/// is in brackets itself.
fn body_end(code: &Code<'_>, begin: usize, is_table: bool) -> usize {
    let mut depth = 0;
    let comma = (begin..code.len()).find(|&at| {
        match code.text(at) {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        depth == 0 && code.is(at, &[","])
    });
    comma.filter(|_| !is_table || code.is(begin, &["("])).unwrap_or(code.len())
}

/// The bracket that closes the one at `open`.
fn closing(code: &Code<'_>, open: usize) -> Option<usize> {
    let mut depth = 0;
    (open..code.len()).find(|&at| {
        match code.text(at) {
            "(" => depth += 1,
            ")" => depth -= 1,
            _ => {}
        }
        depth == 0
    })
}

#[cfg(test)]
mod tests {
    use super::{attached_names, written_macros};

    #[test]
    fn aliases_are_found_in_every_form_of_attach() {
        let sql = "ATTACH 'a' AS lake (TYPE sqlite); attach or replace database if not exists 'x AS y' as \"C\"\"rm\";\n\
                   -- ATTACH 'b' AS b\nATTACH 'c'; SELECT 'ATTACH ''d'' AS d'";
        assert_eq!(attached_names(sql), ["lake", "C\"rm", "c"]);
        for (path, name) in [
            ("data/shop.db", "shop"),
            ("data/my.shop.db", "my"),
            ("Shop.DB", "Shop"),
            ("data/.hidden.db", "hidden"),
            ("a b.duckdb", "a b"),
            ("sqlite:shop.db", "shop"),
            ("duckdb:data/shop.db", "shop"),
            ("main.db", "main_db"),
            ("sh''op", "sh'op"),
        ] {
            assert_eq!(attached_names(&format!("ATTACH '{path}' (READ_ONLY)")), [name]);
        }
    }

    #[test]
    fn macros_are_told_with_what_stands_behind_them() {
        let sql = "CREATE OR REPLACE TEMP MACRO memory.main.\"Net\"(a, b := (1)) AS a - [b, 1][1], (b) AS f(b, c); \
                   -- AS\ncreate function t() as table (SELECT 1 AS x, 2 AS y), (y) AS TABLE (SELECT y); \
                   CREATE MACRO u() AS TABLE SELECT a, (b) AS c;\nCREATE TABLE macro(a INT);\n\
                   SELECT 'CREATE MACRO no() AS 1'; CREATE MACRO broken(";
        let found: Vec<_> = written_macros(sql).into_iter().map(|m| (m.name, m.is_table, m.bodies)).collect();
        let expected = [
            ("net".to_owned(), false, vec!["a - [b, 1][1]".to_owned(), "f(b, c)".to_owned()]),
            ("t".to_owned(), true, vec!["(SELECT 1 AS x, 2 AS y)".to_owned(), "(SELECT y)".to_owned()]),
            ("u".to_owned(), true, vec!["SELECT a, (b) AS c".to_owned()]),
        ];
        assert_eq!(found, expected);
    }
}
