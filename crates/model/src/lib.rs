//! A model file's text in; a [`Model`] or findings out. Also everything that is read off a syntax tree.
//!
//! Boundary: no connection and no file access. What only the engine can tell (a syntax tree) is asked
//! through the [`SqlParser`] trait, which the engine implements.

mod attach;
mod body;
mod closest;
mod column_tags;
mod compatibility;
mod config_names;
mod definition;
mod directive_place;
mod directive_values;
mod finding;
mod header;
mod lexer;
mod limits;
mod masks;
mod parse;
mod references;
mod scan;
mod tree;

pub use attach::Attach;
pub use closest::closest_name;
pub use column_tags::{ColumnDoc, is_masking_tag};
pub use config_names::{WrittenMacro, attached_names, written_macros};
pub use definition::{ConfigDefinitions, definition_hash, normalize, schema_hash};
pub use directive_values::{Extension, PartitionTerm, PushCall, Repository};
pub use finding::Finding;
pub use lexer::{Code, TokenKind, code_words, reachable_words, split_statements, tokens, unclosed};
pub use limits::{LimitWord, find_limit, find_limit_word};
pub use masks::Mask;
pub use parse::{Incremental, Model, Written, parse_model};
pub use references::{Reference, called_functions, references};
pub use tree::{SqlParser, SyntaxTree, TreeError, location};
