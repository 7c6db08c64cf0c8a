//! What rewritten texts call around operators. Each does what the operator does, with its errors, or refuses.

use starlark::environment::GlobalsBuilder;
use starlark::eval::Evaluator;
use starlark::values::bytes::StarlarkBytes;
use starlark::values::float::StarlarkFloat;
use starlark::values::list::ListRef;
use starlark::values::tuple::TupleRef;
use starlark::values::{Heap, Value, ValueLike};

use super::weight::{SHORT_BYTES, bits_of, check_bits, is_scalar, room, weigh};
use crate::surroundings::Surroundings;

/// In place of `*`.
pub(super) const MUL: &str = "__mul__";
/// In place of `%`.
pub(super) const MOD: &str = "__mod__";
/// In place of `<<`.
pub(super) const SHL: &str = "__shl__";
/// Around what is added.
pub(super) const ADDEND: &str = "__addend__";
/// Around what becomes a key or is compared with.
pub(super) const BOUNDED: &str = "__bounded__";
/// Around what is searched or copied.
pub(super) const PACED: &str = "__paced__";
/// Around what is put into an f-string with so many places.
pub(super) const SHOWN: &str = "__shown__";
/// Around what becomes arguments.
pub(super) const SPREAD: &str = "__spread__";

/// Bytes that a value in a list takes, with what is made for it.
const PART_BYTES: usize = 32;

/// Adds the functions.
#[starlark::starlark_module]
pub(super) fn register(builder: &mut GlobalsBuilder) {
    fn __mul__<'v>(
        #[starlark(require = pos)] a: Value<'v>,
        #[starlark(require = pos)] b: Value<'v>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<Value<'v>> {
        product(a, b, eval)?;
        a.mul(b, eval.heap())
    }

    fn __mod__<'v>(
        #[starlark(require = pos)] a: Value<'v>,
        #[starlark(require = pos)] b: Value<'v>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<Value<'v>> {
        formatted(a, b, eval)?;
        a.percent(b, eval.heap())
    }

    fn __shl__<'v>(
        #[starlark(require = pos)] a: Value<'v>,
        #[starlark(require = pos)] b: Value<'v>,
        heap: Heap<'v>,
    ) -> starlark::Result<Value<'v>> {
        shifted(a, b)?;
        a.left_shift(b, heap)
    }

    fn __addend__<'v>(
        #[starlark(require = pos)] b: Value<'v>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<Value<'v>> {
        // A sum is no larger than what is on the heap already, if that is looked at each time.
        if b.unpack_i32().is_none() && b.downcast_ref::<StarlarkFloat>().is_none() {
            Surroundings::pace(eval)?;
            iterated(b, eval)?;
        }
        Ok(b)
    }

    fn __bounded__<'v>(
        #[starlark(require = pos)] value: Value<'v>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<Value<'v>> {
        paced(value, eval)?;
        bounded(value, eval.heap()).map(|()| value)
    }

    fn __paced__<'v>(
        #[starlark(require = pos)] value: Value<'v>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<Value<'v>> {
        paced(value, eval).map(|()| value)
    }

    fn __shown__<'v>(
        #[starlark(require = pos)] places: i32,
        #[starlark(require = pos)] value: Value<'v>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<Value<'v>> {
        fits(usize::try_from(places).unwrap_or(0), value, eval).map(|()| value)
    }

    fn __spread__<'v>(
        #[starlark(require = pos)] value: Value<'v>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<Value<'v>> {
        iterated(value, eval).map(|()| value)
    }
}

/// Bounds `a * b`.
fn product(a: Value<'_>, b: Value<'_>, eval: &Evaluator<'_, '_, '_>) -> starlark::Result<()> {
    if a.unpack_i32().is_some() && b.unpack_i32().is_some() {
        return Ok(());
    }
    match (bits_of(a), bits_of(b)) {
        (Some(a), Some(b)) => Ok(check_bits(a + b)?),
        (Some(_), None) => room(eval, size(b).saturating_mul(times(a))),
        (None, Some(_)) => room(eval, size(a).saturating_mul(times(b))),
        (None, None) => Ok(()),
    }
}

/// How often something is repeated; what is no such number is left to the operator.
fn times(value: Value<'_>) -> usize {
    value.unpack_i32().map_or(0, |times| usize::try_from(times).unwrap_or(0))
}

/// The bytes of what can be repeated.
fn size(value: Value<'_>) -> usize {
    let list = || ListRef::from_value(value).map(|list| list.len() * size_of::<usize>());
    let tuple = || TupleRef::from_value(value).map(|tuple| tuple.len() * size_of::<usize>());
    let bytes = || StarlarkBytes::from_value(value).map(|bytes| bytes.as_bytes().len());
    value.unpack_str().map(str::len).or_else(list).or_else(tuple).or_else(bytes).unwrap_or(0)
}

/// Bounds `a % b`, which formats if `a` is a text.
fn formatted<'v>(a: Value<'v>, b: Value<'v>, eval: &Evaluator<'v, '_, '_>) -> starlark::Result<()> {
    let Some(format) = a.unpack_str() else { return Ok(()) };
    let places = format.matches('%').count();
    match TupleRef::from_value(b) {
        Some(values) => values.content().iter().try_for_each(|value| fits(places, *value, eval)),
        None => fits(places, b, eval),
    }
}

/// Bounds a text in which so many places may show this value.
pub(super) fn fits<'v>(places: usize, value: Value<'v>, eval: &Evaluator<'v, '_, '_>) -> starlark::Result<()> {
    if value.unpack_i32().is_some() {
        return Ok(());
    }
    paced(value, eval)?;
    let shown = weigh(value, eval.heap())?.bytes;
    room(eval, places.saturating_mul(shown))
}

/// Bounds `a << b`.
fn shifted(a: Value<'_>, b: Value<'_>) -> starlark::Result<()> {
    match (bits_of(a), b.unpack_i32().and_then(|by| u64::try_from(by).ok())) {
        (Some(bits), Some(by)) if bits > 0 => Ok(check_bits(bits + by)?),
        _ => Ok(()),
    }
}

/// Ends the call before a long step, if the run is stopped.
fn paced(value: Value<'_>, eval: &Evaluator<'_, '_, '_>) -> starlark::Result<()> {
    let is_short = match value.unpack_str() {
        Some(text) => text.len() <= SHORT_BYTES,
        None => is_scalar(value),
    };
    if is_short { Ok(()) } else { Surroundings::pace(eval) }
}

/// Bounds hashing a value, and comparing with it: that ends with the smaller one.
pub(super) fn bounded<'v>(value: Value<'v>, heap: Heap<'v>) -> starlark::Result<()> {
    if !is_scalar(value) {
        weigh(value, heap)?;
    }
    Ok(())
}

/// Bounds what is made of all that a value gives.
pub(super) fn iterated(value: Value<'_>, eval: &Evaluator<'_, '_, '_>) -> starlark::Result<()> {
    listed(length(value), eval)
}

/// Bounds a list of so many texts.
pub(super) fn listed(texts: usize, eval: &Evaluator<'_, '_, '_>) -> starlark::Result<()> {
    room(eval, texts.saturating_mul(PART_BYTES))
}

/// How many values there are directly in a value.
pub(super) fn length(value: Value<'_>) -> usize {
    if is_scalar(value) {
        return 0;
    }
    value.length().map_or(0, |length| usize::try_from(length).unwrap_or(usize::MAX))
}
