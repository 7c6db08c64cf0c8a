//! Statements that make the engine tell what a tree alone does not: the names of declared types, the values
//! of arguments.
//!
//! They are put together from nodes that the engine wrote, so that no layout of a tree has to be known for it.

use model::SyntaxTree;
use serde_json::{Value, json};

use super::{FetchArgument, FetchColumn, FetchQuery};
use crate::nodes::visit_mut;
use crate::rewrite::keep_doubles;

/// `SELECT CAST(NULL AS TYPE), …`: a column for each of these columns, in order; `None` without any. `DESCRIBE` names
/// their types as [`DeclaredType::parse`](super::DeclaredType::parse) reads them, and as they can stand in a CAST.
///
/// `null` is the complete tree of `SELECT NULL`; the columns must have been read from a complete tree.
pub fn types_query<'a>(columns: impl IntoIterator<Item = &'a FetchColumn>, null: &SyntaxTree) -> Option<SyntaxTree> {
    select(null, columns.into_iter().map(|column| column.null(null)).collect::<Option<_>>()?)
}

impl FetchQuery {
    /// `SELECT expression, …`: the arguments in order, to be evaluated once; `None` without any.
    ///
    /// `null` is the complete tree of `SELECT NULL`; the query itself must have been read from a complete tree.
    pub fn arguments_query(&self, null: &SyntaxTree) -> Option<SyntaxTree> {
        let values = self.arguments.iter().map(|argument| without_alias(argument.expression.clone()));
        select(null, values.collect())
    }
}

impl FetchArgument {
    /// [`FetchQuery::arguments_query`] for this argument alone: to find which of them the engine refuses.
    pub fn value_query(&self, null: &SyntaxTree) -> Option<SyntaxTree> {
        select(null, vec![without_alias(self.expression.clone())])
    }
}

impl FetchColumn {
    /// The type as it is declared: columns with the same one have the same type.
    pub fn declaration(&self) -> String {
        self.cast.get("cast_type").map_or_else(String::new, Value::to_string)
    }

    /// The cast, of NULL instead of the source.
    fn null(&self, null: &SyntaxTree) -> Option<Value> {
        let mut cast = without_alias(self.cast.clone());
        cast["child"] = null.0.pointer(LIST)?.get(0)?.clone();
        Some(cast)
    }
}

const LIST: &str = "/statements/0/node/select_list";

fn without_alias(mut node: Value) -> Value {
    if let Some(map) = node.as_object_mut() {
        map.insert("alias".into(), json!(""));
    }
    node
}

fn select(template: &SyntaxTree, list: Vec<Value>) -> Option<SyntaxTree> {
    if list.is_empty() {
        return None;
    }
    let mut tree = template.0.clone();
    *tree.pointer_mut(LIST)? = Value::Array(list);
    visit_mut(&mut tree, &mut keep_doubles);
    Some(SyntaxTree(tree))
}
