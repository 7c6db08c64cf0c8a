//! What the engine's functions do to rows, as far as a query's meaning depends on it.

use std::collections::BTreeSet;

/// Functions by what they do; names in lower case.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Functions {
    /// Aggregates, and macros that stand for one.
    pub aggregates: BTreeSet<String>,
    /// Every function that is known not to be one, where not all are known: any other may be an aggregate.
    pub scalars: Option<BTreeSet<String>>,
}

impl Functions {
    /// Whether a call of `name` makes one value from many rows.
    pub fn is_aggregate(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        self.aggregates.contains(&name) || self.scalars.as_ref().is_some_and(|scalars| !scalars.contains(&name))
    }
}
