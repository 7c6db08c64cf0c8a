//! What can be told of a project without its lake, its state and the network: each check once, for `run` and for
//! `validate`, and the report of all of them (chapter 05 §3.11).
//!
//! Boundary: attaches nothing, executes no lib file, prints nothing and reads no environment variable.

mod arguments;
mod checks;
mod collected;
mod config_syntax;
mod examination;
mod functions;
mod graph;
mod offline;
mod own_macros;
mod project_files;
mod report;
mod scope;
mod validation;

pub use checks::{
    DeclaredFault, DeclaredTypes, PushTarget, bad_argument, check_calls, check_fetch, check_limit, check_push,
    check_schema, check_statement, extension, key_in_clear, lib_facts, masked_column, masked_type, no_tree,
};
pub use functions::{OF_SESSION, table_functions};
pub use report::{Check, FileReport, Report, Summary, line};
pub use scope::ScopeError;
pub use validation::{ValidateError, ValidateOptions, validate};
