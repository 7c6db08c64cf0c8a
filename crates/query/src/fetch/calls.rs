//! Calls of lib functions anywhere in a query: only a model with `@fetch` may have one (chapter 03 §3.4).

use model::{SyntaxTree, location};
use serde_json::Value;

use super::FetchFinding;
use super::finding::MISSING_DIRECTIVE;
use crate::nodes::{child, kind, text, visit};

/// A call of a lib function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LibCall {
    /// The name, as the tree holds it.
    pub name: String,
    /// Byte of the model's SQL, where it is known.
    pub offset: Option<usize>,
}

/// Every call of a function in FROM, at any depth, whose name without a schema `is_lib` knows. A function of
/// the same name outside of FROM is the engine's own.
pub fn lib_calls(tree: &SyntaxTree, is_lib: impl Fn(&str) -> bool) -> Vec<LibCall> {
    let mut found = Vec::new();
    visit(&tree.0, &mut |node| {
        if let Some(call) = table_function(node)
            && let Some(name) = text(call, "function_name").filter(|name| is_bare(call) && is_lib(name))
        {
            found.push(LibCall { name: name.to_owned(), offset: location(node).or_else(|| location(call)) });
        }
        true
    });
    found
}

impl LibCall {
    /// The finding of a model that has this call and no `@fetch`.
    pub fn missing_directive(&self) -> FetchFinding {
        let message = format!("the model calls the lib function \"{}\" and lacks @fetch", self.name);
        FetchFinding::new(MISSING_DIRECTIVE, self.offset, message, "add the line `-- @fetch` above the SELECT")
    }
}

/// The call that a node of FROM is.
pub(super) fn table_function(node: &Value) -> Option<&Value> {
    child(node, "function").filter(|_| kind(node) == "TABLE_FUNCTION")
}

/// Whether a call names no schema, as one of a lib function does.
pub(super) fn is_bare(call: &Value) -> bool {
    text(call, "schema").is_none() && text(call, "catalog").is_none()
}
