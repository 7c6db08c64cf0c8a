//! What a query reads, off its syntax tree: table references outside of CTE names, and table functions
//! (chapter 02 §1.1). Unknown node shapes are descended, never skipped.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::tree::{SyntaxTree, location, text};

/// One thing that a query reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reference {
    /// A table, view or file: the parts of its name as written, empty parts left out.
    Table {
        /// Catalog, if named.
        catalog: Option<String>,
        /// Schema, if named.
        schema: Option<String>,
        /// Table name.
        name: String,
        /// Byte offset in the statement.
        offset: Option<usize>,
    },
    /// A table function, with those of its arguments that are constant texts.
    Function {
        /// Its name.
        name: String,
        /// Constant text arguments.
        texts: Vec<String>,
        /// Whether every argument is a constant text.
        literal: bool,
        /// Byte offset in the statement.
        offset: Option<usize>,
    },
}

/// Everything that the query reads, in tree order, repetitions included.
pub fn references(tree: &SyntaxTree) -> Vec<Reference> {
    let mut found = Vec::new();
    walk(&tree.0, &Scope::default(), &mut found);
    found
}

/// Names of all functions that the query calls, scalar and table functions alike, in lower case.
pub fn called_functions(tree: &SyntaxTree) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    collect_functions(&tree.0, &mut names);
    names
}

fn collect_functions(node: &Value, names: &mut BTreeSet<String>) {
    match node {
        Value::Array(items) => items.iter().for_each(|item| collect_functions(item, names)),
        Value::Object(map) => {
            names.extend(text(node, "function_name").map(str::to_lowercase));
            map.values().for_each(|child| collect_functions(child, names));
        }
        _ => {}
    }
}

/// The CTE names visible at a node, in lower case.
#[derive(Clone, Default)]
struct Scope(Vec<String>);

impl Scope {
    fn with(&self, name: &str) -> Self {
        let mut names = self.0.clone();
        names.push(name.to_lowercase());
        Self(names)
    }

    fn hides(&self, name: &str) -> bool {
        self.0.contains(&name.to_lowercase())
    }
}

fn walk(node: &Value, scope: &Scope, found: &mut Vec<Reference>) {
    match node {
        Value::Array(items) => items.iter().for_each(|item| walk(item, scope, found)),
        Value::Object(map) => walk_object(node, map, scope, found),
        _ => {}
    }
}

fn walk_object(node: &Value, map: &Map<String, Value>, scope: &Scope, found: &mut Vec<Reference>) {
    let kind = text(node, "type");
    match kind {
        Some("BASE_TABLE") => found.extend(table(node, scope)),
        Some("TABLE_FUNCTION") => found.extend(function(node)),
        _ => {}
    }
    let scope = &*walk_ctes(map, scope, found);
    // A recursive CTE's own name is visible in its body; the engine marks such a body by the node type.
    let recursive = kind.filter(|kind| *kind == "RECURSIVE_CTE_NODE").and_then(|_| text(node, "cte_name"));
    for (key, child) in map.iter().filter(|(key, _)| key.as_str() != "cte_map") {
        match recursive.filter(|_| matches!(key.as_str(), "left" | "right")) {
            Some(name) => walk(child, &scope.with(name), found),
            None => walk(child, scope, found),
        }
    }
}

/// Walks the bodies of `WITH`, each seeing only its earlier siblings, and returns the scope of what follows.
fn walk_ctes<'a>(map: &Map<String, Value>, scope: &'a Scope, found: &mut Vec<Reference>) -> Cow<'a, Scope> {
    let entries = map.get("cte_map").and_then(|ctes| ctes.get("map")).and_then(Value::as_array);
    let mut scope = Cow::Borrowed(scope);
    for entry in entries.into_iter().flatten() {
        walk(&entry["value"], &scope, found);
        if let Some(name) = text(entry, "key") {
            scope = Cow::Owned(scope.with(name));
        }
    }
    scope
}

fn table(node: &Value, scope: &Scope) -> Option<Reference> {
    let name = text(node, "table_name")?;
    let (catalog, schema) = (text(node, "catalog_name"), text(node, "schema_name"));
    if schema.is_none() && catalog.is_none() && scope.hides(name) {
        return None;
    }
    Some(Reference::Table {
        catalog: catalog.map(str::to_owned),
        schema: schema.map(str::to_owned),
        name: name.to_owned(),
        offset: location(node),
    })
}

fn function(node: &Value) -> Option<Reference> {
    let call = node.get("function")?;
    let name = text(call, "function_name")?;
    let children = call.get("children").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let mut texts = Vec::new();
    let literal = !children.is_empty() && children.iter().all(|child| collect_texts(child, &mut texts));
    Some(Reference::Function {
        name: name.to_owned(),
        literal,
        texts,
        offset: location(node).or_else(|| location(call)),
    })
}

/// Collects constant texts, also those in a list; whether there is nothing else.
fn collect_texts(node: &Value, texts: &mut Vec<String>) -> bool {
    if let Some(text) = constant_text(node) {
        texts.push(text);
        return true;
    }
    let items = node.get("children").and_then(Value::as_array);
    text(node, "function_name") == Some("list_value")
        && items.is_some_and(|items| items.iter().all(|item| collect_texts(item, texts)))
}

fn constant_text(node: &Value) -> Option<String> {
    let value = node.get("value")?;
    (value["type"]["id"].as_str() == Some("VARCHAR")).then(|| value["value"].as_str().map(str::to_owned)).flatten()
}
