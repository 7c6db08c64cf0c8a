//! Syntax trees from `json_serialize_sql`, for the model room.

use std::panic::resume_unwind;
use std::sync::mpsc::channel;
use std::thread::Builder;

use model::{SqlParser, SyntaxTree, TreeError};
use types::literal;

use crate::error::byte_offset;
use crate::{Connection, EngineError, Value};

/// Statements of one request: so many that a request more costs nothing beside them.
const PART: usize = 256;
/// Address space for the thread that reads trees: they are as deep as the engine allows expressions to be.
const STACK_BYTES: usize = 512 << 20;

/// Asks an engine connection for syntax trees. Any connection will do: nothing is bound or run.
pub struct EngineParser<'a>(pub &'a Connection);

impl EngineParser<'_> {
    /// The tree of one statement that leaves out nothing, as [`EngineParser::statement`] needs it.
    pub fn complete_tree(&self, sql: &str) -> Result<SyntaxTree, TreeError> {
        let no_tree = || Err(TreeError::NotSerializable { message: "no syntax tree".into() });
        self.complete_trees(&[sql]).pop().unwrap_or_else(no_tree)
    }

    /// The complete trees of `statements`, in order, in few requests.
    pub fn complete_trees(&self, statements: &[&str]) -> Vec<Result<SyntaxTree, TreeError>> {
        self.ask(statements, "")
    }

    /// The trees of `statements`, written with `options`. Many are asked for part by part: the engine writes one while a
    /// thread reads those before it.
    fn ask(&self, statements: &[&str], options: &str) -> Vec<Result<SyntaxTree, TreeError>> {
        let alone = |part| read(part, self.answers(part, options)).collect();
        if statements.len() <= PART {
            return alone(statements);
        }
        let (written, parts) = channel();
        let read_parts = move || parts.into_iter().flat_map(|(part, answers)| read(part, answers)).collect();
        std::thread::scope(|scope| {
            let Ok(reader) = Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, read_parts) else {
                return alone(statements);
            };
            for part in statements.chunks(PART) {
                // Only a reader that panicked takes no more; that is told below.
                let _ = written.send((part, self.answers(part, options)));
            }
            drop(written);
            reader.join().unwrap_or_else(|panic| resume_unwind(panic))
        })
    }

    /// What the engine answers about each of `statements`, asked in one request.
    fn answers(&self, statements: &[&str], options: &str) -> Vec<Result<Value, TreeError>> {
        if statements.is_empty() {
            return Vec::new();
        }
        let list: Vec<String> = statements.iter().map(|sql| literal(sql)).collect();
        // Where a lake is current, a function without its schema is looked for in it first: that asks for its snapshot.
        let function = "system.main.json_serialize_sql";
        let sql = format!("SELECT {function}(s{options})::VARCHAR FROM (SELECT unnest([{}]) AS s)", list.join(","));
        match self.0.query(&sql) {
            Ok(rows) => rows.into_values().map(|mut row| Ok(row.swap_remove(0))).collect(),
            // One statement that the serializer chokes on must not take the others down with it.
            Err(error) => match statements {
                [_] => vec![Err(TreeError::NotSerializable { message: error.cleaned() })],
                _ => statements.iter().flat_map(|sql| self.answers(&[sql], options)).collect(),
            },
        }
    }

    /// The statement that a complete tree stands for.
    pub fn statement(&self, tree: &SyntaxTree) -> Result<String, EngineError> {
        let sql = format!("SELECT system.main.json_deserialize_sql({}::JSON)", literal(&tree.0.to_string()));
        Ok(self.0.query_value(&sql)?.into_text().unwrap_or_default())
    }
}

impl SqlParser for EngineParser<'_> {
    fn trees(&self, statements: &[&str]) -> Vec<Result<SyntaxTree, TreeError>> {
        self.ask(statements, ", skip_null := true, skip_empty := true, skip_default := true")
    }

    fn table_names(&self, statement: &str) -> Option<Vec<String>> {
        self.0.table_names(statement).ok()
    }
}

/// The trees in the engine's answers about `statements`.
fn read<'a>(
    statements: &'a [&str],
    answers: Vec<Result<Value, TreeError>>,
) -> impl Iterator<Item = Result<SyntaxTree, TreeError>> + 'a {
    answers.into_iter().zip(statements).map(|(answer, sql)| answer.and_then(|answer| tree(answer, sql)))
}

/// The tree in an answer of the engine about `sql`.
fn tree(answer: Value, sql: &str) -> Result<SyntaxTree, TreeError> {
    match answer {
        Value::Text(document) | Value::Json(document) => {
            SyntaxTree::from_document(&document).map_err(|error| in_bytes(error, sql))
        }
        _ => Err(TreeError::NotSerializable { message: "no syntax tree".into() }),
    }
}

/// The engine's parser counts characters.
fn in_bytes(error: TreeError, sql: &str) -> TreeError {
    match error {
        TreeError::Syntax { message, offset } => {
            TreeError::Syntax { message, offset: offset.map(|characters| byte_offset(sql, characters)) }
        }
        other @ TreeError::NotSerializable { .. } => other,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use model::{SqlParser, TreeError};

    use super::{EngineParser, PART};
    use crate::Database;

    #[test]
    fn many_statements_have_the_trees_that_each_has_alone_in_order() {
        // As the command line does: one alone is read where it is asked for.
        let test = std::thread::Builder::new().stack_size(super::STACK_BYTES).spawn(many_statements).unwrap();
        test.join().unwrap();
    }

    fn many_statements() {
        let connection = Arc::new(Database::open(&[]).unwrap()).connect().unwrap();
        let parser = EngineParser(&connection);
        let mut statements: Vec<String> = (0..PART * 3 + 7).map(|at| format!("SELECT {at} AS a FROM t{at}")).collect();
        statements[PART + 1] = "SELECT 'å' AS a FORM t".to_owned();
        statements[PART * 2] = "CREATE TABLE t (i INTEGER)".to_owned();
        // Read on a thread of its own, which needs as deep a stack as the caller's.
        statements[PART * 2 + 1] = format!("SELECT {}1{}", "(1 + ".repeat(900), ")".repeat(900));
        let statements: Vec<&str> = statements.iter().map(String::as_str).collect();
        let together = parser.trees(&statements);
        assert_eq!(together.len(), statements.len());
        for (at, sql) in
            statements.iter().enumerate().filter(|(at, _)| at % 50 == 0 || (PART..PART * 2 + 2).contains(at))
        {
            assert_eq!(format!("{:?}", together[at]), format!("{:?}", parser.trees(&[sql])[0]), "{sql}");
        }
        assert!(matches!(&together[PART + 1], Err(TreeError::Syntax { offset: Some(_), .. })));
        assert!(matches!(&together[PART * 2], Err(TreeError::NotSerializable { .. })));
        assert!(together[PART * 2 + 1].is_ok());
    }

    #[test]
    fn one_statement_that_cannot_be_asked_about_is_in_the_way_of_no_other() {
        let connection = Arc::new(Database::open(&[]).unwrap()).connect().unwrap();
        let mut statements = vec!["SELECT 1"; PART + 2];
        statements[PART + 1] = "SELECT '\0'";
        let trees = EngineParser(&connection).trees(&statements);
        assert!(trees[..=PART].iter().all(Result::is_ok));
        assert!(matches!(&trees[PART + 1], Err(TreeError::NotSerializable { .. })));
    }
}
