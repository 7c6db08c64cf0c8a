//! Finds LIMIT and OFFSET at any depth of a syntax tree (chapter 01 §3.6).

use serde_json::Value;

use crate::lexer::Code;
use crate::tree::{SyntaxTree, location};

/// The clause found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LimitWord {
    /// LIMIT, FETCH FIRST, or a percentage.
    Limit,
    /// OFFSET alone.
    Offset,
}

/// The first LIMIT of the tree, else its first OFFSET, with its byte offset where known.
pub fn find_limit(tree: &SyntaxTree) -> Option<(LimitWord, Option<usize>)> {
    let mut found = Vec::new();
    walk(&tree.0, &mut found);
    found.into_iter().min()
}

/// The same for a statement that has no tree: outside of texts, quoted names and comments the words are the
/// clauses, but for a column so named behind AS or a point.
pub fn find_limit_word(sql: &str) -> Option<(LimitWord, Option<usize>)> {
    let code = Code::new(sql);
    let is_name = |at: usize| at > 0 && code.is(at - 1, &["as", "."]);
    let found = (0..code.len()).filter(|&at| !is_name(at)).filter_map(|at| {
        let word = match code.text(at).to_lowercase().as_str() {
            "limit" | "fetch" => LimitWord::Limit,
            "offset" => LimitWord::Offset,
            _ => return None,
        };
        Some((word, Some(code.start(at))))
    });
    found.min()
}

fn walk(node: &Value, found: &mut Vec<(LimitWord, Option<usize>)>) {
    match node {
        Value::Object(map) => {
            if map
                .get("type")
                .and_then(Value::as_str)
                .is_some_and(|t| matches!(t, "LIMIT_MODIFIER" | "LIMIT_PERCENT_MODIFIER"))
            {
                let (word, clause) = match map.get("limit") {
                    Some(limit) if !limit.is_null() => (LimitWord::Limit, limit),
                    _ => (LimitWord::Offset, map.get("offset").unwrap_or(&Value::Null)),
                };
                found.push((word, location(clause)));
            }
            map.values().for_each(|child| walk(child, found));
        }
        Value::Array(items) => items.iter().for_each(|item| walk(item, found)),
        _ => {}
    }
}
