//! Read-only statements of the user's: what `ondatrasql sql` may run (chapter 05 §3.5).

use std::collections::BTreeSet;

use engine::{Connection, EngineError, EngineParser, Rows};
use model::{
    Reference, SqlParser, SyntaxTree, Token, TokenKind, TreeError, references, split_statements, tokens, unclosed,
};
use types::{Code, Place, quote};

use crate::{RunError, Session};

/// Table functions that only read. Anything else in FROM is refused: what writes cannot be listed for
/// every extension, what reads can. Macros of the project are read as their author wrote them.
const READING_FUNCTIONS: [&str; 38] = [
    "current_snapshot",
    "ducklake_current_snapshot",
    "ducklake_last_committed_snapshot",
    "ducklake_list_files",
    "ducklake_options",
    "ducklake_settings",
    "ducklake_snapshots",
    "ducklake_table_changes",
    "ducklake_table_deletions",
    "ducklake_table_info",
    "ducklake_table_insertions",
    "generate_series",
    "glob",
    "histogram",
    "histogram_values",
    "icu_calendar_names",
    "json_each",
    "json_tree",
    "last_committed_snapshot",
    "options",
    "pg_timezone_names",
    "postgres_scan",
    "postgres_scan_pushdown",
    "query_table",
    "range",
    "repeat",
    "repeat_row",
    "snapshots",
    "sniff_csv",
    "sqlite_scan",
    "summary",
    "table_changes",
    "table_deletions",
    "table_info",
    "table_insertions",
    "test_all_types",
    "unnest",
    "which_secret",
];

/// Families of such functions.
const READING_PREFIXES: [&str; 6] = ["duckdb_", "parquet_", "pragma_", "read_", "st_read", "delta_scan"];

/// How values are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// Every value as the engine's text.
    Text,
    /// Typed values.
    Typed,
}

/// Runs one read-only statement.
pub fn answer(session: &Session, sql: &str, form: Answer) -> Result<Rows, RunError> {
    let connection = &session.connection;
    let statement = single_statement(sql)?;
    let reader = Reader { connection, macros: session.definitions.macros() };
    let kind = reader.check(statement, sql)?;
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
    if let Some(at) = unclosed(sql) {
        return Err(refused("the text or comment that begins here is not closed", at));
    }
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

/// Judges parsed statements; nothing is bound or run for it.
struct Reader<'a> {
    connection: &'a Connection,
    macros: &'a BTreeSet<String>,
}

impl Reader<'_> {
    fn check(&self, statement: &str, sql: &str) -> Result<Kind, RunError> {
        let refused = |what: &str| RunError::Refused {
            code: Code::ReadOnly,
            message: format!("ondatrasql sql is read-only: {what}"),
            help: "it runs SELECT, EXPLAIN, DESCRIBE, SHOW and SUMMARIZE over functions that read".into(),
            place: Box::new(place(sql, start_of(sql, statement))),
        };
        let words = leading_words(statement);
        let first = words.first().map(|(word, _)| word.as_str()).unwrap_or_default();
        let (kind, inner) = match first {
            "EXPLAIN" => (Kind::Explain, explained(statement)),
            _ => (Kind::Select, statement),
        };
        match EngineParser(self.connection).trees(&[inner]).pop() {
            Some(Ok(tree)) => match self.writing_function(&tree) {
                Some(name) => Err(refused(&format!("function {name} may do more than read"))),
                None => Ok(kind),
            },
            Some(Err(TreeError::Syntax { message, offset })) => Err(RunError::Refused {
                code: Code::Sql,
                message,
                help: "correct the SQL; it is DuckDB's dialect".into(),
                place: Box::new(place(sql, start_of(sql, inner) + offset.unwrap_or(0))),
            }),
            // A PIVOT without a list of values has no tree: it may call no function in FROM at all.
            _ if first == "PIVOT" && !calls_in_from(statement) => Ok(Kind::Pivot),
            _ => Err(refused(&format!("{} statements are not allowed", statement_type(inner)))),
        }
    }

    fn is_reading(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        READING_FUNCTIONS.contains(&name.as_str())
            || READING_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
            || self.macros.contains(&name)
    }

    /// A function in FROM that may write, also inside the text given to `query()`.
    fn writing_function(&self, tree: &SyntaxTree) -> Option<String> {
        references(tree).into_iter().find_map(|reference| match reference {
            Reference::Function { name, texts, literal, .. } if name.eq_ignore_ascii_case("query") => {
                let all_read = literal && texts.iter().all(|text| self.check(text, text).is_ok());
                (!all_read).then_some(name)
            }
            Reference::Function { name, .. } => (!self.is_reading(&name)).then_some(name),
            Reference::Table { .. } => None,
        })
    }
}

/// Whether a bracket follows a word after FROM, JOIN, PIVOT or a comma: a function call in FROM.
fn calls_in_from(sql: &str) -> bool {
    let code: Vec<&str> = tokens(sql).into_iter().filter(Token::is_code).map(|token| &sql[token.span]).collect();
    code.windows(3).any(|three| {
        let opens = ["FROM", "JOIN", "PIVOT", ","].iter().any(|word| three[0].eq_ignore_ascii_case(word));
        opens && three[1].starts_with(|c: char| c.is_alphabetic() || c == '"' || c == '_') && three[2] == "("
    })
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
    let code: Vec<Token> = tokens(sql).into_iter().filter(Token::is_code).collect();
    let text = |at: usize| code.get(at).map_or("", |token| &sql[token.span.clone()]);
    let is = |at: usize, words: &[&str]| words.iter().any(|word| text(at).eq_ignore_ascii_case(word));
    let mut at = 1;
    if is(at, &["ANALYZE", "ANALYSE"]) {
        at += 1;
    }
    // A bracket holds options, unless it begins with a query.
    if text(at) == "(" && !is(at + 1, &["SELECT", "WITH", "FROM", "VALUES", "TABLE", "("]) {
        at = (at..code.len()).find(|&at| text(at) == ")").map_or(code.len(), |end| end + 1);
    }
    code.get(at).map_or("", |token| &sql[token.span.start..])
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use engine::{Connection, Database};

    use super::{Kind, Reader};
    use crate::RunError;

    fn check(sql: &str) -> Result<Kind, RunError> {
        let connection: Connection = Arc::new(Database::open(&[]).unwrap()).connect().unwrap();
        let macros = ["my_macro".to_owned()].into();
        let statement = super::single_statement(sql)?;
        Reader { connection: &connection, macros: &macros }.check(statement, sql)
    }

    fn refusal(sql: &str) -> String {
        check(sql).err().unwrap_or_else(|| panic!("{sql} was allowed")).to_string()
    }

    #[test]
    fn reading_statements_of_every_form_are_allowed() {
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
            "EXPLAIN (SELECT 1)",
            "-- note\nSELECT 1 AS a",
            "PIVOT t ON b USING sum(a)",
            "FROM duckdb_tables(), lake.snapshots(), read_csv('x'), My_Macro(1), query('FROM range(3)')",
        ] {
            assert!(check(sql).is_ok(), "{sql}");
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
            ("FROM query('FROM checkpoint()')", "read-only"),
            ("FROM sqlite_query('__ducklake_metadata_lake', 'DELETE FROM ducklake_table RETURNING 1')", "read-only"),
            ("FROM json_execute_serialized_sql('{}')", "read-only"),
            ("FROM enable_logging(storage := 'file')", "read-only"),
            ("EXPLAIN (ANALYZE /* ) SELECT 1 -- */) DELETE FROM raw.a", "read-only: DELETE statements"),
            ("SELECT 1 /* x", "not closed"),
            ("SELECT 'x", "not closed"),
            ("SELECT 1; SELECT 2", "only one statement at a time"),
            ("PIVOT (FROM checkpoint()) ON a", "read-only"),
        ] {
            let message = refusal(sql);
            assert!(message.contains(expected), "{sql}: {message}");
        }
    }
}
