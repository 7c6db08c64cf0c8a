//! What every lib file can call besides the language's own functions. A file per module of chapter 03 §3.3.

mod arguments;
mod csv;
mod csv_quotes;
// Here and below: what the language's macros make of values and of modules does not meet these lints.
#[allow(unsafe_code, clippy::unnecessary_wraps)]
pub(crate) mod duration;
mod file_paths;
mod files;
mod glob_paths;
mod go_format;
mod go_layout;
mod go_parse;
mod hashes;
#[allow(clippy::needless_pass_by_value)]
mod http;
mod http_arguments;
pub(crate) mod json;
mod json_read;
mod json_schema;
mod json_token;
mod position;
mod script;
#[cfg(test)]
pub(crate) mod testing;
#[allow(unsafe_code, clippy::unnecessary_wraps)]
pub(crate) mod time;
#[allow(clippy::too_many_arguments)]
mod time_module;
mod time_zone;
mod xml;
mod xml_names;
mod xml_read;
mod xml_write;
mod yaml;
mod yaml_read;
mod yaml_scalar;
mod yaml_write;

use std::fmt::Display;

use starlark::environment::{FrozenModule, Globals, GlobalsBuilder, LibraryExtension, Module};
use starlark::eval::Evaluator;
use starlark::syntax::{AstModule, Dialect};
use starlark::values::OwnedFrozenValue;

use crate::bounds;
use crate::source::FOREVER;

/// Adds the modules and functions that need nothing but their arguments, the clock and random numbers.
pub(crate) fn register_pure(builder: &mut GlobalsBuilder) {
    json::register(builder);
    time_module::register(builder);
    hashes::register(builder);
    csv::register(builder);
    json_schema::register(builder);
    xml::register(builder);
    yaml::register(builder);
}

/// All that a lib file can name: the language's own functions with `set`, and those of the chapter.
pub(crate) fn globals() -> starlark::Result<Globals> {
    let mut builder = GlobalsBuilder::extended_by(&[LibraryExtension::SetType]);
    register_pure(&mut builder);
    script::register(&mut builder);
    files::register(&mut builder);
    http::register(&mut builder);
    bounds::register(&mut builder);
    builder.set(FOREVER, forever()?);
    Ok(builder.build())
}

/// What a `while` loop runs over: more rounds than a call may have steps.
fn forever() -> starlark::Result<OwnedFrozenValue> {
    let text = format!("rounds = range({})", i32::MAX);
    frozen(text, &Globals::standard())?.get("rounds").map_err(starlark::Error::new_other)
}

/// The module of a text of our own.
pub(crate) fn frozen(text: String, globals: &Globals) -> starlark::Result<FrozenModule> {
    let module = AstModule::parse("ondatrasql", text, &Dialect::Standard)?;
    Module::with_temp_heap(|environment| {
        Evaluator::new(&environment).eval_module(module, globals)?;
        environment.freeze().map_err(starlark::Error::from)
    })
}

/// What a builtin fails with.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(crate) struct Failure {
    message: String,
    /// What to do, where the message alone does not lead to it.
    pub help: Option<String>,
}

/// The error of a builtin: prefixed with the function's name as chapter 03 asks.
pub(crate) fn failure(function: &str, message: impl Display) -> starlark::Error {
    starlark::Error::new_other(Failure { message: format!("{function}: {message}"), help: None })
}

/// The same, with what to do.
pub(crate) fn failure_with_help(function: &str, message: impl Display, help: String) -> starlark::Error {
    starlark::Error::new_other(Failure { message: format!("{function}: {message}"), help: Some(help) })
}
