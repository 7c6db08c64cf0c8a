//! Which macros a session needs: making all of them would cost every command, also those without any check.

use std::collections::BTreeSet;

use model::code_words;

use crate::blocks::{self, BLOCKS};
use crate::{Check, shipped};

/// The statements that make the macros of `checks`, those that they are made of first.
pub fn create_macros(checks: &[&Check]) -> Vec<String> {
    // One macro, however often a model asks for it.
    let made: BTreeSet<String> = checks.iter().map(|check| check.create()).collect();
    let mut words: BTreeSet<String> = made.iter().flat_map(|sql| code_words(sql)).collect();
    let mut blocks = Vec::new();
    // Each block uses only those above it.
    for block in BLOCKS.into_iter().rev() {
        if words.contains(block.0) {
            let sql = blocks::create(block);
            words.extend(code_words(&sql));
            blocks.push(sql);
        }
    }
    blocks.into_iter().rev().chain(made).collect()
}

/// The shipped checks whose macros `sql` names, also within its texts.
pub fn named_in(words: &[String]) -> Vec<&'static Check> {
    let words: BTreeSet<&String> = words.iter().filter(|word| word.starts_with("ondatra_")).collect();
    if words.is_empty() {
        return Vec::new();
    }
    shipped().filter(|check| words.contains(&check.macro_name())).collect()
}
