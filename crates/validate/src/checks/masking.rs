//! Masking tags without effect (chapter 01 §4.6): of keys, which stay in clear, and words without a bar, which are
//! descriptions.

use model::{ColumnDoc, Finding, Model, is_masking_tag};
use types::{Kind, Rule};

/// What is said of a key with a masking tag, and what to do.
fn key_told(model: &Model, column: &str, function: &str) -> (String, String) {
    let directive = if model.kind == Kind::Tracked { "@group_key" } else { "@unique_key" };
    let message = format!(
        "`{column}` is the {directive}, by which rows are known, so it stays in clear: {function} masks nothing"
    );
    let help = format!("make the key in the SQL, for example with hash_pii({column}), or remove the tag");
    (message, help)
}

/// The warnings of a run: key columns that stay in clear although they have a masking tag.
pub fn key_in_clear(model: &Model) -> Vec<String> {
    model.tagged_keys().iter().map(|mask| key_told(model, &mask.column, &mask.function).0).collect()
}

/// The masking tags that have no effect; `is_own` knows the project's macros by their lower-case names.
pub(crate) fn tags_without_effect(model: &Model, is_own: impl Fn(&str) -> bool) -> Vec<Finding> {
    let keys = model.tagged_keys().into_iter().map(|mask| {
        let (message, help) = key_told(model, &mask.column, &mask.function);
        Finding::new(Rule::KeyInClear, model.place(mask.span), message, help)
    });
    let is_shipped = |name: &str| ::checks::FUNCTIONS.iter().any(|function| function.masks && function.name == name);
    let masks = |word: &str| is_masking_tag(word) && (word == "hash" || is_shipped(word) || is_own(word));
    let without_bar = |doc: &&ColumnDoc| doc.mask().is_none() && masks(&doc.description.to_lowercase());
    let words = model.columns.iter().filter(without_bar).map(|ColumnDoc { name, description, span, .. }| {
        let message =
            format!("`{description}` is the description of `{name}`, which is not masked: a tag follows a bar");
        let help = format!(
            "write `-- @column: {name} = what it holds | {description}`, or describe the column in other words"
        );
        Finding::new(Rule::TagWithoutBar, model.place(span.clone()), message, help)
    });
    keys.chain(words).collect()
}
