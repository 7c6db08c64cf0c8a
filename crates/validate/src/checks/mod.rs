//! The checks of one model: `run` stops at the first finding, `validate` tells all of them.

mod check_calls;
mod declared;
mod extension;
mod fetching;
mod limit;
mod masking;
mod pushing;
mod statement;

use model::{Finding, Model};
use query::SqlFinding;

pub(crate) use check_calls::malformed_checks;
pub use declared::{DeclaredFault, declared_types, no_tree, null_tree};
pub use extension::extension;
pub use fetching::{check_calls, check_fetch, lib_facts};
pub use limit::check_limit;
pub use masking::key_in_clear;
pub(crate) use masking::tags_without_effect;
pub use pushing::{PushTarget, check_push};
pub(crate) use statement::without_tree;
pub use statement::{check_schema, check_statement};

/// What was found in a model's SQL, with its place in the model's file; the beginning of the SQL if it is not known.
fn placed(model: &Model, found: SqlFinding) -> Finding {
    Finding::new(found.rule, model.sql_place(found.offset.unwrap_or(0)), found.message, found.help)
}
