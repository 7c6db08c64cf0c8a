//! Read-only statements of the user's: what `ondatrasql sql` may run (chapter 05 §3.5).

use std::collections::BTreeSet;
use std::ops::Range;

use engine::{Connection, EngineError, EngineParser, Rows};
use model::Code as Words;
use model::{Reference, SqlParser, SyntaxTree, TokenKind, TreeError, references, split_statements, unclosed};
use types::{Code, Diagnose, Place, literal, quote};

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

/// Runs one read-only statement, in a transaction that the engine itself keeps from writing.
pub fn answer(session: &Session, sql: &str, form: Answer) -> Result<Rows, RunError> {
    let connection = &session.connection;
    let reader = Reader { connection, macros: session.definitions.macros() };
    let span = single_statement(sql)?;
    let kind = reader.check(sql, span.clone())?;
    connection.execute("BEGIN TRANSACTION READ ONLY")?;
    let rows = run(connection, sql, span, kind, form);
    // Rows are in memory by then; temporary tables go with the transaction.
    connection.execute("ROLLBACK")?;
    rows
}

fn run(connection: &Connection, sql: &str, span: Range<usize>, kind: Kind, form: Answer) -> Result<Rows, RunError> {
    let statement = &sql[span.clone()];
    let failed = |error: EngineError, prefix: usize| {
        let offset = error.offset().and_then(|at| at.checked_sub(prefix)).filter(|&at| at <= statement.len());
        match offset {
            None => RunError::Engine(error),
            Some(at) => RunError::Refused {
                code: Code::Sql,
                message: error.cleaned(),
                help: error.help(),
                place: Box::new(place(sql, span.start + at)),
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
    let select = |columns: &str| {
        // The line break keeps a comment at the end from swallowing the bracket.
        let before = format!("SELECT {columns} FROM (\n");
        connection.query(&format!("{before}{source}\n)")).map_err(|error| failed(error, before.len()))
    };
    if form == Answer::Text {
        return select("CAST(COLUMNS(*) AS VARCHAR)");
    }
    let rows = select("*")?;
    let casts: Vec<String> =
        rows.undecodable().into_iter().map(|name| format!("{name}::VARCHAR AS {name}", name = quote(name))).collect();
    if casts.is_empty() { Ok(rows) } else { select(&format!("* REPLACE ({})", casts.join(", "))) }
}

fn place(sql: &str, at: usize) -> Place {
    Place::word_at("SQL", &sql.into(), at)
}

/// The bytes of the one statement.
fn single_statement(sql: &str) -> Result<Range<usize>, RunError> {
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
        [one] => Ok(one.clone()),
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
    /// Judges the statement at `span` of `sql`.
    fn check(&self, sql: &str, span: Range<usize>) -> Result<Kind, RunError> {
        let refused = |what: &str| RunError::Refused {
            code: Code::ReadOnly,
            message: format!("ondatrasql sql is read-only: {what}"),
            help: "it runs SELECT, EXPLAIN, DESCRIBE, SHOW and SUMMARIZE over functions that read".into(),
            place: Box::new(place(sql, span.start)),
        };
        let statement = &sql[span.clone()];
        let code = Words::new(statement);
        let explains = code.is(0, &["EXPLAIN"]);
        let inner_start = if explains { explained(&code) } else { 0 };
        let inner = &statement[inner_start..];
        match EngineParser(self.connection).trees(&[inner]).pop() {
            // The engine counts as well: what it reads is what runs.
            Some(Ok(tree)) if tree.statement_count() > 1 => Err(refused("only one statement at a time")),
            Some(Ok(tree)) => match self.writing_function(&tree) {
                Some(name) => Err(refused(&format!("function {name} may do more than read"))),
                None => Ok(if explains { Kind::Explain } else { Kind::Select }),
            },
            Some(Err(TreeError::Syntax { message, offset })) => Err(RunError::Refused {
                code: Code::Sql,
                message,
                help: "correct the SQL; it is DuckDB's dialect".into(),
                place: Box::new(place(sql, span.start + inner_start + offset.unwrap_or(0))),
            }),
            // A PIVOT without a list of values has no tree, so every name before a bracket is looked at.
            _ if code.is(0, &["PIVOT"]) => match self.suspicious_call(&code)? {
                Some(name) => Err(refused(&format!("function {name} may do more than read"))),
                None => Ok(Kind::Pivot),
            },
            _ => Err(refused(&format!("{} statements are not allowed", statement_type(inner)))),
        }
    }

    /// A call that is no known reading function and not certainly a scalar one or an aggregate.
    fn suspicious_call(&self, code: &Words<'_>) -> Result<Option<String>, RunError> {
        let calls = (0..code.len()).filter(|&at| code.is(at + 1, &["("]));
        let names = calls.filter(|&at| matches!(code.kind(at), Some(TokenKind::Word | TokenKind::QuotedName)));
        let names = names.map(|at| (code.value(at).to_lowercase(), at > 0 && code.is(at - 1, &["."])));
        for (name, dotted) in names.filter(|(name, _)| !self.is_reading(name)) {
            let sql = format!(
                "SELECT count(*) > 0 FROM duckdb_functions() WHERE lower(function_name) = {} \
                 AND function_type IN ('table', 'table_macro', 'pragma')",
                literal(&name)
            );
            if dotted || self.connection.query_value(&sql)?.as_bool() != Some(false) {
                return Ok(Some(name));
            }
        }
        Ok(None)
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
                let all_read = literal && texts.iter().all(|text| self.check(text, 0..text.len()).is_ok());
                (!all_read).then_some(name)
            }
            Reference::Function { name, .. } => (!self.is_reading(&name)).then_some(name),
            Reference::Table { .. } => None,
        })
    }
}

/// Where begins what EXPLAIN explains: behind it, ANALYZE and a bracket of options.
fn explained(code: &Words<'_>) -> usize {
    let mut at = if code.is(1, &["ANALYZE", "ANALYSE"]) { 2 } else { 1 };
    // A bracket holds options, unless it begins with a query.
    if code.is(at, &["("]) && !code.is(at + 1, &["SELECT", "WITH", "FROM", "VALUES", "TABLE", "("]) {
        at = (at..code.len()).find(|&at| code.is(at, &[")"])).map_or(code.len(), |end| end + 1);
    }
    code.start(at)
}

/// The type of a statement for the message: its first word, or the verb after a WITH.
fn statement_type(sql: &str) -> String {
    let code = Words::new(sql);
    let verbs = ["INSERT", "UPDATE", "DELETE", "MERGE"];
    let verb = (0..code.len()).find(|&at| code.is(at, &verbs)).filter(|_| code.is(0, &["WITH"]));
    code.text(verb.unwrap_or(0)).to_uppercase()
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
        let span = super::single_statement(sql)?;
        Reader { connection: &connection, macros: &macros }.check(sql, span)
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
            (
                "PIVOT (SELECT 1 AS a, 2 AS b) AS t$t$ ON b USING sum(a); DELETE FROM raw.x",
                "only one statement at a time",
            ),
            ("PIVOT (FROM z: checkpoint()) ON a", "read-only"),
            ("PIVOT (SELECT * FROM (SELECT 1 AS a) x, LATERAL system.main.checkpoint()) ON a", "read-only"),
            ("UNPIVOT (FROM checkpoint()) ON a", "read-only"),
            ("PIVOT (FROM lake.merge_adjacent_files()) ON a", "read-only"),
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
