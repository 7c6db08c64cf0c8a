//! What operators become in a rewritten text. Each does what the operator does, with its errors, or refuses.

use std::cmp::Ordering;

use starlark::environment::GlobalsBuilder;
use starlark::eval::Evaluator;
use starlark::values::bytes::StarlarkBytes;
use starlark::values::float::StarlarkFloat;
use starlark::values::list::ListRef;
use starlark::values::tuple::TupleRef;
use starlark::values::{Heap, Value, ValueLike};

use super::weight::{Excess, bits_of, digits_are_bounded, is_scalar, room, weigh};

pub(super) const MUL: &str = "__mul__";
pub(super) const MOD: &str = "__mod__";
pub(super) const SHL: &str = "__shl__";
pub(super) const EQ: &str = "__eq__";
pub(super) const NE: &str = "__ne__";
pub(super) const LT: &str = "__lt__";
pub(super) const GT: &str = "__gt__";
pub(super) const LE: &str = "__le__";
pub(super) const GE: &str = "__ge__";
pub(super) const IN: &str = "__in__";
pub(super) const NOT_IN: &str = "__not_in__";
/// Of `x *= y`: looks at both and gives `y`.
pub(super) const FACTOR: &str = "__factor__";
/// Of `x %= y`.
pub(super) const DIVISOR: &str = "__divisor__";
/// Of `x <<= y`.
pub(super) const SHIFT: &str = "__shift__";
/// Around what is added.
pub(super) const ADDEND: &str = "__addend__";
/// Around what becomes a key.
pub(super) const KEY: &str = "__key__";
/// Around what is put into an f-string.
pub(super) const SHOWN: &str = "__shown__";
/// Around what becomes arguments.
pub(super) const SPREAD: &str = "__spread__";

/// Most comparisons of parts that one look into a list may need.
const MAX_COMPARISONS: usize = 1 << 30;
/// Bytes that a value in a list takes, with what is made for it.
const PART_BYTES: usize = 32;

/// Adds the functions.
pub(super) fn register(builder: &mut GlobalsBuilder) {
    functions(builder);
}

#[starlark::starlark_module]
fn functions(builder: &mut GlobalsBuilder) {
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
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<Value<'v>> {
        shifted(a, b)?;
        a.left_shift(b, eval.heap())
    }

    fn __factor__<'v>(
        #[starlark(require = pos)] a: Value<'v>,
        #[starlark(require = pos)] b: Value<'v>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<Value<'v>> {
        product(a, b, eval).map(|()| b)
    }

    fn __divisor__<'v>(
        #[starlark(require = pos)] a: Value<'v>,
        #[starlark(require = pos)] b: Value<'v>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<Value<'v>> {
        formatted(a, b, eval).map(|()| b)
    }

    fn __shift__<'v>(
        #[starlark(require = pos)] a: Value<'v>,
        #[starlark(require = pos)] b: Value<'v>,
    ) -> starlark::Result<Value<'v>> {
        shifted(a, b).map(|()| b)
    }

    fn __addend__<'v>(
        #[starlark(require = pos)] b: Value<'v>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<Value<'v>> {
        // A sum is no larger than what is on the heap already, if that is looked at each time.
        if b.unpack_i32().is_none() && b.downcast_ref::<StarlarkFloat>().is_none() {
            room(eval, length(b).saturating_mul(PART_BYTES))?;
        }
        Ok(b)
    }

    fn __key__<'v>(#[starlark(require = pos)] key: Value<'v>, heap: Heap<'v>) -> starlark::Result<Value<'v>> {
        hashed(key, heap).map(|()| key)
    }

    fn __shown__<'v>(
        #[starlark(require = pos)] value: Value<'v>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<Value<'v>> {
        shown(value, eval).map(|()| value)
    }

    fn __spread__<'v>(
        #[starlark(require = pos)] value: Value<'v>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<Value<'v>> {
        iterated(value, eval).map(|()| value)
    }

    fn __eq__<'v>(
        #[starlark(require = pos)] a: Value<'v>,
        #[starlark(require = pos)] b: Value<'v>,
        heap: Heap<'v>,
    ) -> starlark::Result<bool> {
        compared(a, b, heap)?;
        a.equals(b)
    }

    fn __ne__<'v>(
        #[starlark(require = pos)] a: Value<'v>,
        #[starlark(require = pos)] b: Value<'v>,
        heap: Heap<'v>,
    ) -> starlark::Result<bool> {
        compared(a, b, heap)?;
        Ok(!a.equals(b)?)
    }

    fn __lt__<'v>(
        #[starlark(require = pos)] a: Value<'v>,
        #[starlark(require = pos)] b: Value<'v>,
        heap: Heap<'v>,
    ) -> starlark::Result<bool> {
        order(a, b, heap).map(Ordering::is_lt)
    }

    fn __gt__<'v>(
        #[starlark(require = pos)] a: Value<'v>,
        #[starlark(require = pos)] b: Value<'v>,
        heap: Heap<'v>,
    ) -> starlark::Result<bool> {
        order(a, b, heap).map(Ordering::is_gt)
    }

    fn __le__<'v>(
        #[starlark(require = pos)] a: Value<'v>,
        #[starlark(require = pos)] b: Value<'v>,
        heap: Heap<'v>,
    ) -> starlark::Result<bool> {
        order(a, b, heap).map(Ordering::is_le)
    }

    fn __ge__<'v>(
        #[starlark(require = pos)] a: Value<'v>,
        #[starlark(require = pos)] b: Value<'v>,
        heap: Heap<'v>,
    ) -> starlark::Result<bool> {
        order(a, b, heap).map(Ordering::is_ge)
    }

    fn __in__<'v>(
        #[starlark(require = pos)] item: Value<'v>,
        #[starlark(require = pos)] all: Value<'v>,
        heap: Heap<'v>,
    ) -> starlark::Result<bool> {
        looked_for(item, all, heap)?;
        all.is_in(item)
    }

    fn __not_in__<'v>(
        #[starlark(require = pos)] item: Value<'v>,
        #[starlark(require = pos)] all: Value<'v>,
        heap: Heap<'v>,
    ) -> starlark::Result<bool> {
        looked_for(item, all, heap)?;
        Ok(!all.is_in(item)?)
    }
}

fn order<'v>(a: Value<'v>, b: Value<'v>, heap: Heap<'v>) -> starlark::Result<Ordering> {
    compared(a, b, heap)?;
    a.compare(b)
}

/// Bounds `a * b`.
fn product(a: Value<'_>, b: Value<'_>, eval: &Evaluator<'_, '_, '_>) -> starlark::Result<()> {
    if a.unpack_i32().is_some() && b.unpack_i32().is_some() {
        return Ok(());
    }
    match (bits_of(a), bits_of(b), size(a), size(b)) {
        (Some(a), Some(b), ..) => Ok(digits_are_bounded(a + b)?),
        (_, Some(_), Some(size), _) => room(eval, size.saturating_mul(times(b))),
        (Some(_), _, _, Some(size)) => room(eval, size.saturating_mul(times(a))),
        _ => Ok(()),
    }
}

/// How often something is repeated; what is no such number is left to the operator.
fn times(value: Value<'_>) -> usize {
    value.unpack_i32().map_or(0, |times| usize::try_from(times).unwrap_or(0))
}

/// The bytes of what can be repeated.
fn size(value: Value<'_>) -> Option<usize> {
    let list = || ListRef::from_value(value).map(|list| list.len() * size_of::<usize>());
    let tuple = || TupleRef::from_value(value).map(|tuple| tuple.len() * size_of::<usize>());
    let bytes = || StarlarkBytes::from_value(value).map(|bytes| bytes.as_bytes().len());
    value.unpack_str().map(str::len).or_else(list).or_else(tuple).or_else(bytes)
}

/// Bounds `a % b`, which formats if `a` is a text.
fn formatted<'v>(a: Value<'v>, b: Value<'v>, eval: &Evaluator<'v, '_, '_>) -> starlark::Result<()> {
    match a.unpack_str() {
        Some(format) => fits(format, format.matches('%').count(), b, eval),
        None => Ok(()),
    }
}

/// Bounds a text in which so many places each show at most a whole value.
pub(super) fn fits<'v>(
    format: &str,
    places: usize,
    value: Value<'v>,
    eval: &Evaluator<'v, '_, '_>,
) -> starlark::Result<()> {
    let shown = weigh(value, eval.heap())?.bytes;
    room(eval, format.len().saturating_add(places.saturating_mul(shown)))
}

/// Bounds `a << b`.
fn shifted(a: Value<'_>, b: Value<'_>) -> starlark::Result<()> {
    match (bits_of(a), b.unpack_i32().and_then(|by| u64::try_from(by).ok())) {
        (Some(0), _) => Ok(()),
        (Some(bits), Some(by)) => Ok(digits_are_bounded(bits + by)?),
        _ => Ok(()),
    }
}

/// Bounds comparisons: they end with the smaller value.
pub(super) fn compared<'v>(a: Value<'v>, b: Value<'v>, heap: Heap<'v>) -> starlark::Result<()> {
    if is_scalar(a) || is_scalar(b) || a.ptr_eq(b) {
        return Ok(());
    }
    let (small, large) = if length(a) <= length(b) { (a, b) } else { (b, a) };
    weigh(small, heap).or_else(|_| weigh(large, heap))?;
    Ok(())
}

/// Bounds `item in all`.
pub(super) fn looked_for<'v>(item: Value<'v>, all: Value<'v>, heap: Heap<'v>) -> starlark::Result<()> {
    if is_scalar(item) {
        return Ok(());
    }
    let parts = weigh(item, heap)?.parts;
    let is_list = matches!(all.get_type(), "list" | "tuple");
    if is_list && parts.saturating_mul(length(all)) > MAX_COMPARISONS { Err(Excess::Parts.into()) } else { Ok(()) }
}

/// Bounds hashing: of all that nests, tuples alone can be keys.
pub(super) fn hashed<'v>(key: Value<'v>, heap: Heap<'v>) -> starlark::Result<()> {
    if !is_scalar(key) {
        weigh(key, heap)?;
    }
    Ok(())
}

/// Bounds the text of a value.
pub(super) fn shown<'v>(value: Value<'v>, eval: &Evaluator<'v, '_, '_>) -> starlark::Result<()> {
    if value.unpack_i32().is_some() { Ok(()) } else { room(eval, weigh(value, eval.heap())?.bytes) }
}

/// Bounds what is made of all that a value gives.
pub(super) fn iterated<'v>(value: Value<'v>, eval: &Evaluator<'v, '_, '_>) -> starlark::Result<()> {
    room(eval, length(value).saturating_mul(PART_BYTES))
}

/// How many values there are directly in a value.
pub(super) fn length(value: Value<'_>) -> usize {
    if value.unpack_i32().is_some() || value.unpack_str().is_some() {
        return 0;
    }
    value.length().map_or(0, |length| usize::try_from(length).unwrap_or(usize::MAX))
}
