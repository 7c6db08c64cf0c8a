//! Masking tags (chapter 01 §4.6): whether there is a function behind each, and of a model that fetches, whose columns are
//! known, a column.

use ::checks::FUNCTIONS;
use engine::{Connection, EngineError};
use materialize::MaterializeError;
use model::{Finding, Mask, Model, WrittenMacro, closest_name, code_words};
use query::{DeclaredType, FetchColumn};
use types::{Diagnose, Rule, quote};

use crate::own_macros::OwnMacros;

/// The position of the masked column among those that a model which fetches declares.
///
/// # Errors
/// There is none.
pub fn masked_column<'a>(
    mask: &Mask,
    declared: impl Iterator<Item = &'a str> + Clone,
) -> Result<usize, MaterializeError> {
    declared.clone().position(|alias| alias.eq_ignore_ascii_case(&mask.column)).ok_or_else(|| {
        MaterializeError::MaskedColumn {
            column: mask.column.clone(),
            twice: false,
            available: declared.map(str::to_owned).collect(),
        }
    })
}

/// The tags of columns that a fetch does not declare.
pub(crate) fn undeclared(model: &Model, columns: &[FetchColumn]) -> Vec<Finding> {
    let aliases = columns.iter().map(|column| column.alias.as_str());
    let missing = |mask: Mask| Some(unusable(model, &mask, &masked_column(&mask, aliases.clone()).err()?));
    model.masks().into_iter().filter_map(missing).collect()
}

/// Whether a fetch can mask with a function that gives `type_name`.
///
/// # Errors
/// It is a list, a struct or the like, of which a text that is staged would not tell all.
pub fn masked_type(model: &Model, mask: &Mask, type_name: &str) -> Result<(), Finding> {
    if DeclaredType::parse(type_name).is_simple() {
        return Ok(());
    }
    let (column, function) = (&mask.column, &mask.function);
    let message =
        format!("column `{column}`: {function} gives {type_name}, and what a fetch masks must be of a simple type");
    let help = "have the masking function give a text, for example with ::VARCHAR";
    Err(Finding::new(Rule::UnusableMask, model.place(mask.span.clone()), message, help))
}

/// The masks of the declared columns that give no simple type, as far as that can be told: the functions of the program
/// and of the project are made first, and those that need the lake cannot be.
pub(crate) fn not_simple(
    model: &Model,
    connection: &Connection,
    macros: &[WrittenMacro],
    columns: &[(&str, &str)],
) -> Vec<Finding> {
    let masks: Vec<Mask> = model.masks();
    if !masks.iter().any(|mask| macros.iter().any(|own| own.name.eq_ignore_ascii_case(&mask.function))) {
        return Vec::new();
    }
    // Twice, as they may use each other; one that is there already fails, and is the same.
    let expressions = || macros.iter().filter(|own| is_expression(own));
    expressions().chain(expressions()).for_each(|own| drop(connection.execute(&own.statement)));
    let finding = |mask: Mask| {
        let (_, type_name) = columns.iter().find(|(alias, _)| alias.eq_ignore_ascii_case(&mask.column))?;
        let function = quote(&mask.function);
        let sql = format!(
            "SELECT column_type FROM (DESCRIBE SELECT {function}(v) FROM (SELECT CAST(NULL AS {type_name}) AS v))"
        );
        masked_type(model, &mask, &connection.query_value(&sql).ok()?.into_text()?).err()
    };
    masks.into_iter().filter_map(finding).collect()
}

/// Whether making the macro looks at no table and opens no file.
fn is_expression(own: &WrittenMacro) -> bool {
    let reads = |word: &String| ["from", "select", "table", "query"].contains(&word.as_str());
    !own.is_table && !own.bodies.iter().any(|body| code_words(body).iter().any(reads))
}

/// The tags that name no function of the project, of the program, nor, as `is_of_engine` tells, of the engine.
pub(crate) fn unknown_masks(
    model: &Model,
    own: &OwnMacros,
    mut is_of_engine: impl FnMut(&str) -> bool,
) -> Vec<Finding> {
    let Some(names) = own.known() else { return Vec::new() };
    let shipped = || FUNCTIONS.iter().filter(|function| function.masks).map(|function| function.name);
    let known: Vec<&str> = shipped().chain(names.filter(|name| model::is_masking_tag(name))).collect();
    let is_known = |name: &str| own.contains(name) || FUNCTIONS.iter().any(|one| one.name.eq_ignore_ascii_case(name));
    let unknown = model.masks().into_iter().filter(|mask| !is_known(&mask.function) && !is_of_engine(&mask.function));
    let finding = |mask: Mask| {
        let message = "there is no such function".into();
        let error = EngineError::Sql { class: "Catalog".into(), message, offset: None };
        let error = MaterializeError::Mask { column: mask.column.clone(), function: mask.function.clone(), error };
        let found = unusable(model, &mask, &error);
        match closest_name(&mask.function, known.iter().copied()) {
            Some(other) => Finding::new(found.rule, found.place, error.to_string(), format!("did you mean `{other}`?")),
            None => found,
        }
    };
    unknown.map(finding).collect()
}

fn unusable(model: &Model, mask: &Mask, error: &MaterializeError) -> Finding {
    Finding::new(Rule::UnusableMask, model.place(mask.span.clone()), error.to_string(), error.help())
}
