//! The checks of one model: `run` stops at the first finding, `validate` tells all of them.

mod check_calls;
mod declared;
mod extension;
mod fetch_arguments;
mod fetching;
mod limit;
mod mask_functions;
mod masking;
mod pushing;
mod statement;

use model::{Finding, Model};
use query::SqlFinding;

pub(crate) use check_calls::{changed_texts, read_checks, unusable};
pub use declared::{DeclaredFault, DeclaredTypes, no_tree};
pub use extension::extension;
pub use fetch_arguments::bad_argument;
pub(crate) use fetch_arguments::unknown_functions;
pub use fetching::{check_calls, check_fetch, lib_facts};
pub use limit::check_limit;
pub use mask_functions::{masked_column, masked_type};
pub(crate) use mask_functions::{not_simple, undeclared, unknown_masks};
pub use masking::key_in_clear;
pub(crate) use masking::tags_without_effect;
pub use pushing::{PushTarget, check_push};
pub(crate) use statement::without_tree;
pub use statement::{check_schema, check_statement};

/// What was found in a model's SQL, with its place in the model's file; the beginning of the SQL if it is not known.
fn placed(model: &Model, found: SqlFinding) -> Finding {
    Finding::new(found.rule, model.sql_place(found.offset.unwrap_or(0)), found.message, found.help)
}
