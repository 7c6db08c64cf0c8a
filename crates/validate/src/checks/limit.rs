//! LIMIT and OFFSET at any depth (chapter 01 §3.6).

use model::{Finding, LimitWord, Model, SyntaxTree, TreeError, find_limit, find_limit_word};
use types::Rule;

/// The first LIMIT, else the first OFFSET of a model.
pub fn check_limit(model: &Model, tree: &Result<SyntaxTree, TreeError>) -> Option<Finding> {
    let found = match tree {
        Ok(tree) => find_limit(tree),
        Err(_) => find_limit_word(model.sql()),
    };
    let (word, offset) = found?;
    let (rule, word) = match word {
        LimitWord::Limit => (Rule::LimitDisallowed, "LIMIT"),
        LimitWord::Offset => (Rule::OffsetDisallowed, "OFFSET"),
    };
    let help = "look at a few rows with `ondatrasql query TABLE --limit N`; to keep some rows, number them with \
                ROW_NUMBER() and filter";
    let message = format!("{word} is not allowed in pipeline models");
    Some(Finding::new(rule, model.sql_place(offset.unwrap_or(0)), message, help))
}
