//! The arguments of a lib call: what can be told of them before they are evaluated.

use model::{Finding, Model};
use query::{FetchArgument, FetchQuery};
use types::Rule;

/// An argument that cannot be evaluated; all of them where it is not known which.
pub fn bad_argument(model: &Model, query: &FetchQuery, argument: Option<&FetchArgument>, cause: &str) -> Finding {
    // One that fails only at times is told without its place.
    let (name, offset) = match argument {
        Some(argument) => (format!(" \"{}\"", argument.parameter), argument.offset),
        None => ("s".to_owned(), query.function_offset),
    };
    let message = format!("the argument{name} of \"{}\" cannot be evaluated: {cause}", query.function);
    let help = "correct the expression: an argument is evaluated once, before the call; a text stands in single quotes";
    Finding::new(Rule::FetchOther, model.sql_place(offset.unwrap_or(0)), message, help)
}

/// The arguments that call what `is_unknown`.
pub(crate) fn unknown_functions(
    model: &Model,
    query: &FetchQuery,
    mut is_unknown: impl FnMut(&str) -> bool,
) -> Vec<Finding> {
    let finding = |argument: &FetchArgument| {
        let name = argument.called_functions().into_iter().find(|name| is_unknown(name))?;
        Some(bad_argument(model, query, Some(argument), &format!("there is no function {name}")))
    };
    query.arguments.iter().filter_map(finding).collect()
}
