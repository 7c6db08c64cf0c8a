//! The name of a model's table.

use std::fmt;

use crate::{dotted, quote};

/// `schema.name` of the table that a model writes. Case is kept, comparisons ignore it (see [`Target::key`]).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Target {
    /// The schema, as the model's folder spells it.
    pub schema: String,
    /// The table, as the model's file spells it.
    pub name: String,
}

impl Target {
    /// A target from its two parts.
    pub fn new(schema: impl Into<String>, name: impl Into<String>) -> Self {
        Self { schema: schema.into(), name: name.into() }
    }

    /// The form to compare by: DuckDB matches names without case.
    pub fn key(&self) -> String {
        self.to_string().to_lowercase()
    }

    /// The table inside catalog `catalog`, every part quoted.
    pub fn qualified(&self, catalog: &str) -> String {
        format!("{}.{}.{}", quote(catalog), quote(&self.schema), quote(&self.name))
    }

    /// Schema and table, both quoted.
    pub fn quoted(&self) -> String {
        format!("{}.{}", quote(&self.schema), quote(&self.name))
    }

    /// Name of the temporary table that holds a run's result (chapter 02 §0).
    pub fn temp_name(&self) -> String {
        format!("tmp_{}_{}", self.schema, self.name)
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&dotted(&self.schema, &self.name))
    }
}
