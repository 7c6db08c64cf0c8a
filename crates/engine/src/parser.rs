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
        let refused = |error: EngineError| TreeError::NotSerializable { message: error.cleaned() };
        let query = format!("SELECT json_serialize_sql({})::VARCHAR", literal(sql));
        match self.0.query_value(&query).map_err(refused)? {
            Value::Text(document) | Value::Json(document) => {
                SyntaxTree::from_document(&document).map_err(|error| in_bytes(error, sql))
            }
            _ => Err(TreeError::NotSerializable { message: "no syntax tree".into() }),
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
        if statements.is_empty() {
            return Vec::new();
        }
        let list: Vec<String> = statements.iter().map(|sql| literal(sql)).collect();
        let sql = format!(
            "SELECT json_serialize_sql(s, skip_null := true, skip_empty := true, skip_default := true)::VARCHAR \
             FROM (SELECT unnest([{}]) AS s)",
            list.join(",")
        );
        match self.0.query(&sql) {
            Ok(rows) => rows
                .into_values()
                .zip(statements)
                .map(|(mut row, sql)| match row.swap_remove(0) {
                    Value::Text(document) | Value::Json(document) => {
                        SyntaxTree::from_document(&document).map_err(|e| in_bytes(e, sql))
                    }
                    _ => Err(TreeError::NotSerializable { message: "no syntax tree".into() }),
                })
                .collect(),
            Err(error) => {
                // One statement that the serializer chokes on must not take the others down with it.
                if let [_] = statements {
                    return vec![Err(TreeError::NotSerializable { message: error.cleaned() })];
                }
                statements.iter().flat_map(|sql| self.trees(&[sql])).collect()
            }
        }
    }

    fn table_names(&self, statement: &str) -> Option<Vec<String>> {
        self.0.table_names(statement).ok()
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
