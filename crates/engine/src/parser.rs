//! Syntax trees from `json_serialize_sql`, for the model room.

use model::{SqlParser, SyntaxTree, TreeError};
use types::literal;

use crate::error::byte_offset;
use crate::{Connection, EngineError, Value};

/// Asks an engine connection for syntax trees. Any connection will do: nothing is bound or run.
pub struct EngineParser<'a>(pub &'a Connection);

impl EngineParser<'_> {
    /// The tree of one statement that leaves out nothing, as [`EngineParser::statement`] needs it.
    pub fn complete_tree(&self, sql: &str) -> Result<SyntaxTree, TreeError> {
        let no_tree = || Err(TreeError::NotSerializable { message: "no syntax tree".into() });
        self.complete_trees(&[sql]).pop().unwrap_or_else(no_tree)
    }

    /// The complete trees of `statements`, in order, in one request.
    pub fn complete_trees(&self, statements: &[&str]) -> Vec<Result<SyntaxTree, TreeError>> {
        self.ask(statements, "")
    }

    /// The trees of `statements`, written with `options`.
    fn ask(&self, statements: &[&str], options: &str) -> Vec<Result<SyntaxTree, TreeError>> {
        if statements.is_empty() {
            return Vec::new();
        }
        let list: Vec<String> = statements.iter().map(|sql| literal(sql)).collect();
        let sql =
            format!("SELECT json_serialize_sql(s{options})::VARCHAR FROM (SELECT unnest([{}]) AS s)", list.join(","));
        match self.0.query(&sql) {
            Ok(rows) => {
                rows.into_values().zip(statements).map(|(mut row, sql)| tree(row.swap_remove(0), sql)).collect()
            }
            // One statement that the serializer chokes on must not take the others down with it.
            Err(error) => match statements {
                [_] => vec![Err(TreeError::NotSerializable { message: error.cleaned() })],
                _ => statements.iter().flat_map(|sql| self.ask(&[sql], options)).collect(),
            },
        }
    }

    /// The statement that a complete tree stands for.
    pub fn statement(&self, tree: &SyntaxTree) -> Result<String, EngineError> {
        let sql = format!("SELECT json_deserialize_sql({}::JSON)", literal(&tree.0.to_string()));
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
