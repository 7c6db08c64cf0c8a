//! For the tests of the rooms below: rows as a lib function returns them.

use starlark::environment::{GlobalsBuilder, LibraryExtension, Module};
use starlark::eval::Evaluator;
use starlark::syntax::{AstModule, Dialect};
use starlark::values::list::ListRef;

use crate::Row;

/// Hands over the rows that a script's last expression lists.
///
/// # Panics
/// When the script fails, or gives anything but a list of rows.
#[allow(clippy::unwrap_used)]
pub fn with_rows<T>(script: &str, take: impl FnOnce(&[Row<'_>]) -> T) -> T {
    let globals =
        GlobalsBuilder::extended_by(&[LibraryExtension::SetType]).with(crate::builtins::register_pure).build();
    let ast = AstModule::parse("rows.star", script.to_owned(), &Dialect::Extended).unwrap();
    Module::with_temp_heap(|module| {
        let value = Evaluator::new(&module).eval_module(ast, &globals).unwrap();
        let list = ListRef::from_value(value).unwrap();
        let rows: Vec<Row> = list.iter().map(|row| Row::new(row, module.heap()).unwrap()).collect();
        take(&rows)
    })
}
