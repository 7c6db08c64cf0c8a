//! Arguments of checks that become SQL text, read by the engine's parser: those of all models at once, each once.

use std::collections::{BTreeMap, BTreeSet};

use checks::Call;
use model::{SqlParser, TreeError};

/// What is wrong with them.
pub(crate) struct Arguments(BTreeMap<String, String>);

impl Arguments {
    /// Has the engine parse the arguments of all `calls`.
    pub(crate) fn parse<'a>(parser: &dyn SqlParser, calls: impl Iterator<Item = &'a Call>) -> Self {
        let probes: BTreeSet<String> = calls.flat_map(|call| call.probes()).map(|(_, sql)| sql).collect();
        let statements: Vec<&str> = probes.iter().map(String::as_str).collect();
        let trees = parser.trees(&statements);
        let fault = |(sql, tree): (&&str, _)| {
            let why = match tree {
                Err(TreeError::Syntax { message, .. }) => message,
                Ok(tree) if model::SyntaxTree::has_parameters(&tree) => "there is no value for a parameter".to_owned(),
                Ok(_) | Err(TreeError::NotSerializable { .. }) => return None,
            };
            Some(((*sql).to_owned(), why))
        };
        Self(statements.iter().zip(trees).filter_map(fault).collect())
    }

    /// The first argument of a call that is wrong, and why.
    pub(crate) fn fault(&self, call: &Call) -> Option<(String, &str)> {
        call.probes().into_iter().find_map(|(argument, sql)| Some((argument.written(), self.0.get(&sql)?.as_str())))
    }
}
