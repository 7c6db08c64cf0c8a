//! Checks of arguments. The language's own message for a wrong type does not name the function.

use starlark::values::Value;
use starlark::values::bytes::StarlarkBytes;
use starlark::values::tuple::UnpackTuple;

use super::failure;

/// A string argument.
pub(super) fn text<'v>(function: &str, name: &str, value: Value<'v>) -> starlark::Result<&'v str> {
    value.unpack_str().ok_or_else(|| wrong_type(function, name, "str", value))
}

/// An argument that is a string, taken as UTF-8, or bytes.
pub(super) fn text_or_bytes<'v>(function: &str, name: &str, value: Value<'v>) -> starlark::Result<&'v [u8]> {
    if let Some(text) = value.unpack_str() {
        return Ok(text.as_bytes());
    }
    match StarlarkBytes::from_value(value) {
        Some(bytes) => Ok(bytes.as_bytes()),
        None => Err(wrong_type(function, name, "str or bytes", value)),
    }
}

/// Fails if there is an argument. The language's own message names the function only if it has parameters.
pub(super) fn none(function: &str, args: &UnpackTuple<Value<'_>>) -> starlark::Result<()> {
    if args.items.is_empty() { Ok(()) } else { Err(failure(function, "takes no arguments")) }
}

/// The error for an argument of a wrong type.
pub(super) fn wrong_type(function: &str, name: &str, expected: &str, value: Value<'_>) -> starlark::Error {
    failure(function, format_args!("`{name}` must be {expected}, not {}", value.get_type()))
}
