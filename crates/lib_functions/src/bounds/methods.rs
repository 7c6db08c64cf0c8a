//! Methods whose result is larger than all that they are given, or that compare and hash.

use starlark::collections::SmallMap;
use starlark::environment::GlobalsBuilder;
use starlark::eval::Evaluator;
use starlark::values::Value;
use starlark::values::tuple::UnpackTuple;

use super::operators::{bounded, fits, iterated, length, listed};
use super::weight::room;
use crate::host_value::elements;

/// Calls a method by its [number]: a name in quotes could not stand in every f-string.
pub(super) const METHOD: &str = "__method__";
/// What a method is taken of that is not called at once.
pub(super) const RECEIVER: &str = "__receiver__";

/// Methods that are called through us.
const CALLED: [&str; 22] = [
    "join",
    "replace",
    "format",
    "split",
    "rsplit",
    "splitlines",
    "elems",
    "codepoints",
    "elem_ords",
    "codepoint_ords",
    "extend",
    "update",
    "union",
    "intersection",
    "difference",
    "symmetric_difference",
    "issubset",
    "issuperset",
    "isdisjoint",
    "difference_update",
    "intersection_update",
    "symmetric_difference_update",
];

/// Methods that hash their first argument, compare it, or show it in an error. They are called through us only where
/// that argument is not looked at in its place.
pub(super) const KEYED: [&str; 21] = [
    "get",
    "pop",
    "setdefault",
    "add",
    "discard",
    "remove",
    "index",
    "startswith",
    "endswith",
    "count",
    "find",
    "rfind",
    "rindex",
    "strip",
    "lstrip",
    "rstrip",
    "removeprefix",
    "removesuffix",
    "partition",
    "rpartition",
    "insert",
];

/// Methods that search or copy all that their receiver holds, however short their arguments are.
pub(super) const LONG: [&str; 29] = [
    "upper",
    "lower",
    "title",
    "capitalize",
    "isalnum",
    "isalpha",
    "isdigit",
    "islower",
    "isspace",
    "istitle",
    "isupper",
    "keys",
    "values",
    "items",
    "count",
    "find",
    "rfind",
    "index",
    "rindex",
    "strip",
    "lstrip",
    "rstrip",
    "removeprefix",
    "removesuffix",
    "partition",
    "rpartition",
    "remove",
    "insert",
    "pop",
];

fn names() -> impl Iterator<Item = &'static str> {
    CALLED.iter().chain(&KEYED).copied()
}

/// The number of a method, if it is called through us.
pub(super) fn number(method: &str) -> Option<usize> {
    names().position(|name| name == method)
}

/// Adds the function.
#[starlark::starlark_module]
pub(super) fn register(builder: &mut GlobalsBuilder) {
    fn __method__<'v>(
        #[starlark(require = pos)] number: i32,
        #[starlark(require = pos)] receiver: Value<'v>,
        #[starlark(args)] args: UnpackTuple<Value<'v>>,
        #[starlark(kwargs)] kwargs: SmallMap<String, Value<'v>>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<Value<'v>> {
        let name = usize::try_from(number).ok().and_then(|number| names().nth(number)).unwrap_or_default();
        let method = receiver.get_attr_error(name, eval.heap())?;
        check(name, receiver, &args.items, &kwargs, eval)?;
        let named: Vec<(&str, Value<'v>)> = kwargs.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        eval.eval_function(method, &args.items, &named)
    }
}

fn check<'v>(
    name: &str,
    receiver: Value<'v>,
    args: &[Value<'v>],
    kwargs: &SmallMap<String, Value<'v>>,
    eval: &Evaluator<'v, '_, '_>,
) -> starlark::Result<()> {
    // What these gather is neither hashed nor shown, and may be large.
    match (receiver.unpack_str(), name, args) {
        (Some(separator), "join", [all]) => return joined(separator, *all, eval),
        (None, "extend", [all]) => return iterated(*all, eval),
        _ => {}
    }
    // Also what is of a wrong type: the error shows it.
    args.iter().chain(kwargs.values()).try_for_each(|value| bounded(*value, eval.heap()))?;
    match (receiver.unpack_str(), name, args) {
        (_, name, _) if KEYED.contains(&name) => Ok(()),
        (Some(text), "replace", [old, new, ..]) => match (old.unpack_str(), new.unpack_str()) {
            (Some(old), Some(new)) => replaced(text, old, new, eval),
            _ => Ok(()),
        },
        (Some(text), "format", _) => {
            let places = text.matches('{').count();
            args.iter().chain(kwargs.values()).try_for_each(|value| fits(places, *value, eval))
        }
        (Some(text), "split" | "rsplit", [by, ..]) => match by.unpack_str().filter(|by| !by.is_empty()) {
            Some(by) => listed(text.matches(by).count(), eval),
            None => listed(text.split_whitespace().count(), eval),
        },
        (Some(text), "split" | "rsplit", _) => listed(text.split_whitespace().count(), eval),
        (Some(text), "splitlines", _) => listed(text.matches(['\n', '\r']).count(), eval),
        (Some(text), ..) => listed(text.len(), eval),
        (None, ..) => args.iter().try_for_each(|value| iterated(*value, eval)),
    }
}

fn joined<'v>(separator: &str, all: Value<'v>, eval: &Evaluator<'v, '_, '_>) -> starlark::Result<()> {
    let mut bytes = separator.len().saturating_mul(length(all));
    if let Some(items) = elements(all, eval.heap()).filter(|_| all.get_type() != "range") {
        for item in items {
            bounded(item, eval.heap())?;
            bytes = bytes.saturating_add(item.unpack_str().map_or(0, str::len));
        }
    }
    room(eval, bytes)
}

fn replaced(text: &str, old: &str, new: &str, eval: &Evaluator<'_, '_, '_>) -> starlark::Result<()> {
    if new.len() <= old.len() {
        return room(eval, text.len());
    }
    let places = if old.is_empty() { text.len() + 1 } else { text.matches(old).count() };
    room(eval, text.len().saturating_add(places.saturating_mul(new.len())))
}
