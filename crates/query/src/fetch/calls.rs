//! Calls of lib functions anywhere in a query: only a model with `@fetch` may have one (chapter 03 §3.4).

use model::{SyntaxTree, location};
use serde_json::Value;
use types::Rule;

use super::LibFacts;
use super::facts::find;
use crate::SqlFinding;
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

/// What is wrong with the calls of lib functions in a model that neither fetches nor pushes. Nothing is said of those
/// that are broken: their own error is enough.
pub fn check_lib_calls(tree: &SyntaxTree, libs: &[LibFacts]) -> Vec<SqlFinding> {
    let lib = |name: &str| find(libs, name).filter(|lib| !lib.is_broken);
    let calls = lib_calls(tree, |name| lib(name).is_some());
    let finding = |call: &LibCall| match lib(&call.name) {
        Some(lib) if !lib.can_fetch => push_only(&lib.name, call.offset),
        _ => call.missing_directive(),
    };
    calls.iter().map(finding).collect()
}

/// The finding for a call of a function that cannot fetch.
pub(super) fn push_only(name: &str, offset: Option<usize>) -> SqlFinding {
    let message = format!("the lib function \"{name}\" has no fetch section: it only pushes");
    let help = "call a function that fetches, or give this one a fetch section";
    SqlFinding::new(Rule::UnknownLib, offset, message, help)
}

impl LibCall {
    /// The finding of a model that has this call and no `@fetch`.
    pub fn missing_directive(&self) -> SqlFinding {
        let message = format!("the model calls the lib function \"{}\" and lacks @fetch", self.name);
        SqlFinding::new(Rule::MissingDirective, self.offset, message, "add the line `-- @fetch` above the SELECT")
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
