//! A column as a model that fetches declares it: `source::TYPE AS alias`.

use query::DeclaredType;

/// A column of the target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// The key whose value it takes: exactly, else the only one that is equal but for case.
    pub source: String,
    /// Its name in the target.
    pub alias: String,
    /// Its type as the rules of chapter 03 §3.4 know it.
    pub declared: DeclaredType,
    /// Its type as it can stand in a CAST.
    pub sql_type: String,
    /// Whether a bad value is NULL instead of an error.
    pub is_try: bool,
    /// Whether it is masked: then messages show none of its values.
    pub is_masked: bool,
}
