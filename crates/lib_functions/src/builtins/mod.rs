//! What every lib file can call besides the language's own functions. A file per module of chapter 03 §3.3.

mod arguments;
mod csv;
mod csv_quotes;
// Here and below: what the language's macros make of values and of modules does not meet these lints.
#[allow(unsafe_code, clippy::unnecessary_wraps)]
pub(crate) mod duration;
mod go_format;
mod go_layout;
mod go_parse;
mod hashes;
pub(crate) mod json;
mod json_read;
mod json_schema;
mod json_token;
mod json_write;
mod position;
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

use starlark::environment::GlobalsBuilder;

/// Adds the modules and functions that need nothing but their arguments, the clock and random numbers.
#[allow(dead_code)]
pub(crate) fn register_pure(builder: &mut GlobalsBuilder) {
    json::register(builder);
    time_module::register(builder);
    hashes::register(builder);
    csv::register(builder);
    json_schema::register(builder);
    xml::register(builder);
    yaml::register(builder);
}

#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Failure(String);

/// The error of a builtin: prefixed with the function's name as chapter 03 asks.
pub(crate) fn failure(function: &str, message: impl Display) -> starlark::Error {
    starlark::Error::new_other(Failure(format!("{function}: {message}")))
}
