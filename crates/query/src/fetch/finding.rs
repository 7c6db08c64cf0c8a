//! What is wrong with the SQL of a model that fetches: the rule, the place, the message, the way out.

use std::fmt;

pub(crate) const NO_LIB_CALL: &str = "strict_fetch.no_lib_call";
pub(crate) const MULTIPLE_LIB_CALLS: &str = "strict_fetch.multiple_lib_calls";
pub(crate) const MISSING_DIRECTIVE: &str = "parser.missing_directive";
pub(crate) const UNKNOWN_LIB: &str = "cross_ast.unknown_lib";
pub(crate) const ARGS_MISMATCH: &str = "cross_ast.args_mismatch";
pub(crate) const CAST_REQUIRED: &str = "strict_fetch.cast_required";
pub(crate) const ALIAS_REQUIRED: &str = "strict_fetch.alias_required";
pub(crate) const WHERE: &str = "strict_fetch.where_clause_disallowed";
pub(crate) const GROUP_BY: &str = "strict_fetch.group_by_disallowed";
pub(crate) const DISTINCT: &str = "strict_fetch.distinct_disallowed";
pub(crate) const ORDER_BY: &str = "strict_fetch.order_by_disallowed";
pub(crate) const UNION: &str = "strict_fetch.union_disallowed";
pub(crate) const LIMIT: &str = "read_only.limit_disallowed";
pub(crate) const OFFSET: &str = "read_only.offset_disallowed";
pub(crate) const OTHER: &str = "strict_fetch.other";

/// One broken rule of chapter 03 §3.4.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchFinding {
    /// The rule's id, as `validate` prints it.
    pub rule: &'static str,
    /// What is wrong.
    pub message: String,
    /// What to do next.
    pub help: String,
    /// Byte of the model's SQL, where it is known.
    pub offset: Option<usize>,
}

impl FetchFinding {
    pub(crate) fn new(rule: &'static str, offset: Option<usize>, message: impl Into<String>, help: &str) -> Self {
        Self { rule, message: message.into(), help: help.to_owned(), offset }
    }
}

impl fmt::Display for FetchFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}
