//! Read-only statements of the user's: what `ondatrasql sql` may run (chapter 05 §3.5).

use engine::{Connection, EngineError, EngineParser, Rows};
use model::{SqlParser, SyntaxTree, TokenKind, TreeError, code_words, split_statements, tokens};
use types::{Code, Place, quote};

use crate::RunError;

/// Table functions that change the lake or run SQL elsewhere.
const WRITING_FUNCTIONS: [&str; 17] = [
    "checkpoint",
    "force_checkpoint",
    "expire_snapshots",
    "merge_adjacent_files",
    "rewrite_data_files",
    "flush_inlined_data",
    "cleanup_old_files",
    "delete_orphaned_files",
    "add_data_files",
    "set_option",
    "set_commit_message",
    "postgres_execute",
    "postgres_attach",
    "sqlite_attach",
    "quack_query",
    "quack_query_by_name",
    "quack_serve",
];

/// How values are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// Every value as the engine's text.
    Text,
    /// Typed values.
    Typed,
}

/// Runs one read-only statement.
pub fn answer(connection: &Connection, sql: &str, form: Answer) -> Result<Rows, RunError> {
    let statement = single_statement(sql)?;
    let kind = check_read_only(connection, statement, sql)?;
    let failed = |error: EngineError, prefix: usize| {
        let offset = error.offset().and_then(|at| at.checked_sub(prefix)).filter(|&at| at <= statement.len());
        match offset {
            None => RunError::Engine(error),
            Some(at) => RunError::Refused {
                code: Code::Sql,
                message: error.cleaned(),
                help: "change the SQL as the engine's message says".into(),
                place: Box::new(place(sql, start_of(sql, statement) + at)),
            },
        }
    };
    if kind == Kind::Explain {
        return connection.query(statement).map_err(|error| failed(error, 0));
    }
    let source = if kind == Kind::Pivot {
        // A PIVOT without a list of values stands only alone, so it goes through a temporary table.
        let prefix = "CREATE OR REPLACE TEMP TABLE ondatra_answer AS ";
        connection.execute(&format!("{prefix}{statement}")).map_err(|error| failed(error, prefix.len()))?;
        "FROM temp.main.ondatra_answer".to_owned()
    } else {
        statement.to_owned()
    };
    // The line break keeps a comment at the end from swallowing the bracket.
    let select = |columns: &str| (format!("SELECT {columns} FROM (\n"), "\n)");
    let run = |columns: &str| {
        let (before, after) = select(columns);
        connection.query(&format!("{before}{source}{after}")).map_err(|error| failed(error, before.len()))
    };
    if form == Answer::Text {
        return run("CAST(COLUMNS(*) AS VARCHAR)");
    }
    let rows = run("*")?;
    let casts: Vec<String> =
        rows.undecodable().into_iter().map(|name| format!("{name}::VARCHAR AS {name}", name = quote(name))).collect();
    if casts.is_empty() { Ok(rows) } else { run(&format!("* REPLACE ({})", casts.join(", "))) }
}

fn place(sql: &str, at: usize) -> Place {
    Place::new("SQL", sql.into(), at..at + 1)
}

fn start_of(sql: &str, statement: &str) -> usize {
    sql.find(statement).unwrap_or(0)
}

fn single_statement(sql: &str) -> Result<&str, RunError> {
    let refused = |message: &str, at: usize| RunError::Refused {
        code: Code::ReadOnly,
        message: message.into(),
        help: "give exactly one SELECT; several go into several commands".into(),
        place: Box::new(place(sql, at)),
    };
    match &split_statements(sql)[..] {
        [one] => Ok(&sql[one.clone()]),
        [] => Err(refused("there is no SQL statement", 0)),
        [_, second, ..] => Err(refused("only one statement at a time", second.start)),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Select,
    Explain,
    Pivot,
}

/// Judges the parsed statement; nothing is bound or run for it.
fn check_read_only(connection: &Connection, statement: &str, sql: &str) -> Result<Kind, RunError> {
    let refused = |what: &str| RunError::Refused {
        code: Code::ReadOnly,
        message: format!("ondatrasql sql is read-only: {what}"),
        help: "change data with models; maintenance has its own commands (sql/*.sql)".into(),
        place: Box::new(place(sql, start_of(sql, statement))),
    };
    let words = leading_words(statement);
    let first = words.first().map(|(word, _)| word.as_str()).unwrap_or_default();
    let (kind, inner) = match first {
        "EXPLAIN" => (Kind::Explain, explained(statement)),
        _ => (Kind::Select, statement),
    };
    match EngineParser(connection).trees(&[inner]).pop() {
        Some(Ok(tree)) => match writing_function(&tree) {
            Some(name) => Err(refused(&format!("function {name} changes data"))),
            None => Ok(kind),
        },
        Some(Err(TreeError::Syntax { message, offset })) => Err(RunError::Refused {
            code: Code::Sql,
            message,
            help: "correct the SQL; it is DuckDB's dialect".into(),
            place: Box::new(place(sql, start_of(sql, inner) + offset.unwrap_or(0))),
        }),
        _ if first == "PIVOT" && !code_words(statement).iter().any(|word| is_writing(word)) => Ok(Kind::Pivot),
        _ => Err(refused(&format!("{} statements are not allowed", statement_type(inner)))),
    }
}

/// The words of a statement outside of brackets, upper case, with the bytes at which they end.
fn leading_words(sql: &str) -> Vec<(String, usize)> {
    let mut depth = 0_i32;
    let mut words = Vec::new();
    for token in tokens(sql) {
        let text = &sql[token.span.clone()];
        match (token.kind, text) {
            (TokenKind::Symbol, "(") => depth += 1,
            (TokenKind::Symbol, ")") => depth -= 1,
            (TokenKind::Word, _) if depth == 0 => words.push((text.to_uppercase(), token.span.end)),
            _ => {}
        }
    }
    words
}

/// What EXPLAIN explains: the text after it, ANALYZE and a bracket of options.
fn explained(sql: &str) -> &str {
    let words = leading_words(sql);
    let mut at = words.first().map_or(0, |&(_, end)| end);
    if let Some((_, end)) = words.get(1).filter(|(word, _)| word == "ANALYZE" || word == "ANALYSE") {
        at = *end;
    }
    let rest = sql[at..].trim_start();
    if !rest.starts_with('(') {
        return rest;
    }
    // A bracket holds options, unless it begins with a query.
    let inside = leading_words(rest[1..].trim_start()).into_iter().next().map(|(word, _)| word);
    if inside.is_some_and(|word| ["SELECT", "WITH", "FROM", "VALUES", "TABLE"].contains(&word.as_str())) {
        return rest;
    }
    rest.find(')').map_or(rest, |end| rest[end + 1..].trim_start())
}

/// The type of a statement for the message: its first word, or the verb after a WITH.
fn statement_type(sql: &str) -> String {
    let words = leading_words(sql);
    let verb = |word: &&(String, usize)| ["INSERT", "UPDATE", "DELETE", "MERGE"].contains(&word.0.as_str());
    let first = words.first().map(|(word, _)| word.clone()).unwrap_or_default();
    if first != "WITH" {
        return first;
    }
    words.iter().find(verb).map_or(first, |(word, _)| word.clone())
}

fn is_writing(name: &str) -> bool {
    let name = name.to_lowercase();
    WRITING_FUNCTIONS.contains(&name.strip_prefix("ducklake_").unwrap_or(&name))
}

/// A function of the tree that writes, also inside the text given to `query()`.
fn writing_function(tree: &SyntaxTree) -> Option<String> {
    let mut names = Vec::new();
    let mut texts = Vec::new();
    collect(&tree.0, &mut names, &mut texts);
    if let Some(name) = names.iter().find(|name| is_writing(name)) {
        return Some(name.clone());
    }
    let runs_text = names.iter().any(|name| name.eq_ignore_ascii_case("query"));
    let words = texts.iter().flat_map(|text| code_words(text));
    words.filter(|_| runs_text).find(|word| is_writing(word))
}

fn collect(node: &serde_json::Value, names: &mut Vec<String>, texts: &mut Vec<String>) {
    match node {
        serde_json::Value::Object(map) => {
            if let Some(name) = map.get("function_name").and_then(serde_json::Value::as_str) {
                names.push(name.to_owned());
            }
            if let Some(text) = map.get("value").and_then(serde_json::Value::as_str) {
                texts.push(text.to_owned());
            }
            map.values().for_each(|child| collect(child, names, texts));
        }
        serde_json::Value::Array(items) => items.iter().for_each(|item| collect(item, names, texts)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use engine::{Connection, Database};

    use super::{Answer, answer};

    fn connection() -> Connection {
        Arc::new(Database::open(&[]).unwrap()).connect().unwrap()
    }

    fn refusal(sql: &str) -> String {
        answer(&connection(), sql, Answer::Text).err().unwrap_or_else(|| panic!("{sql} was run")).to_string()
    }

    #[test]
    fn reading_statements_of_every_form_are_run() {
        let connection = connection();
        connection.execute("CREATE TABLE t AS SELECT 1 AS a, 'x' AS b").unwrap();
        for sql in [
            "SELECT 1;",
            "WITH x AS (SELECT 1) SELECT * FROM x -- c",
            "FROM t",
            "VALUES (1)",
            "TABLE t",
            "DESCRIBE t",
            "SHOW TABLES",
            "SUMMARIZE t",
            "EXPLAIN SELECT 1",
            "EXPLAIN ANALYZE SELECT 1",
            "EXPLAIN (FORMAT json) SELECT 1",
            "-- note\nSELECT 1 AS a",
            "PIVOT t ON b USING sum(a)",
            "SELECT * FROM duckdb_tables()",
        ] {
            assert!(answer(&connection, sql, Answer::Text).is_ok_and(|rows| rows.into_values().count() > 0), "{sql}");
        }
    }

    #[test]
    fn everything_else_is_refused_with_its_type() {
        for (sql, expected) in [
            ("INSERT INTO t VALUES (1)", "read-only: INSERT statements are not allowed"),
            ("WITH x AS (SELECT 1) DELETE FROM t", "DELETE statements"),
            ("CALL checkpoint()", "CALL statements"),
            ("SET memory_limit = '1GB'", "SET statements"),
            ("PRAGMA threads = 1", "PRAGMA statements"),
            ("COPY t TO 'x'", "COPY statements"),
            ("EXPLAIN ANALYZE DELETE FROM raw.x", "read-only: DELETE statements"),
            ("explain analyze (format json) insert into t select 1", "read-only: INSERT statements"),
            ("SELECT * FROM ducklake_expire_snapshots('lake', older_than => now())", "read-only"),
            ("FROM \"DuckLake_Set_Option\"('lake', 'a', 1)", "read-only"),
            ("SELECT (SELECT count(*) FROM force_checkpoint())", "read-only"),
            ("FROM query('FROM ' || 'checkpoint()')", "read-only"),
            ("SELECT 1; SELECT 2", "only one statement at a time"),
            ("PIVOT (FROM checkpoint()) ON a", "read-only"),
        ] {
            let message = refusal(sql);
            assert!(message.contains(expected), "{sql}: {message}");
        }
    }

    #[test]
    fn text_answers_are_the_engines_own_casts_in_order() {
        let rows = answer(
            &connection(),
            "SELECT i::DECIMAL(5,2) AS d, [i, NULL] AS l FROM range(3) t(i) ORDER BY i DESC",
            Answer::Text,
        );
        let rows: Vec<_> = rows.unwrap().into_values().map(|row| row[0].as_text().map(str::to_owned)).collect();
        assert_eq!(rows, [Some("2.00".to_owned()), Some("1.00".to_owned()), Some("0.00".to_owned())]);
    }
}
