//! How large a value is when it is written out, compared or hashed: a list that holds another one many times, several
//! levels deep, is small on the heap and without bound then. It is found out without recursion.

use num_bigint::BigInt;
use starlark::eval::Evaluator;
use starlark::values::bytes::StarlarkBytes;
use starlark::values::dict::DictRef;
use starlark::values::list::ListRef;
use starlark::values::structs::StructRef;
use starlark::values::tuple::TupleRef;
use starlark::values::{Heap, UnpackValue, Value};

use super::{MAX_DIGITS, MAX_TEXT_BYTES};
use crate::host_value::{MAX_DEPTH, MAX_VALUES};
use crate::surroundings::Surroundings;

/// Bits of the largest integer: ten to the power of its digits has one more.
const MAX_BITS: u64 = 332_192;
/// Bytes that a value may take as text, beside those of texts in it.
const SCALAR_BYTES: usize = 24;

/// Longest text that takes no time.
pub(super) const SHORT_BYTES: usize = 4096;

/// Why an operation is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Excess {
    /// Nested too deep, perhaps because it holds itself.
    #[error("the value is nested more than {MAX_DEPTH} levels deep, or contains itself")]
    Deep,
    /// Too many values in it.
    #[error("the value has more than {MAX_VALUES} parts")]
    Parts,
    /// Too long as text.
    #[error("the value is longer than {MAX_TEXT_BYTES} bytes as text")]
    Long,
    /// More than the script's heap may hold.
    #[error("a text or a list is larger than the memory limit allows")]
    Memory,
    /// Too large an integer.
    #[error("an integer has more than {MAX_DIGITS} digits")]
    Digits,
}

impl From<Excess> for starlark::Error {
    fn from(excess: Excess) -> Self {
        Self::new_other(excess)
    }
}

/// Parts of a value, and bytes of its text.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Weight {
    pub parts: usize,
    pub bytes: usize,
}

/// The parts of a value that is walked through.
enum Parts<'v> {
    Slice(std::slice::Iter<'v, Value<'v>>),
    Owned(std::vec::IntoIter<Value<'v>>),
}

impl<'v> Iterator for Parts<'v> {
    type Item = Value<'v>;

    fn next(&mut self) -> Option<Value<'v>> {
        match self {
            Self::Slice(items) => items.next().copied(),
            Self::Owned(items) => items.next(),
        }
    }
}

/// Whether a value has no parts and is compared at once.
pub(super) fn is_scalar(value: Value<'_>) -> bool {
    value.unpack_i32().is_some() || value.unpack_str().is_some() || value.is_none() || value.unpack_bool().is_some()
}

/// Weighs a value.
pub(crate) fn weigh<'v>(value: Value<'v>, heap: Heap<'v>) -> Result<Weight, Excess> {
    let mut weight = Weight { parts: 1, bytes: bytes(value) };
    let mut open: Vec<Parts<'v>> = parts(value, heap).into_iter().collect();
    while let Some(innermost) = open.last_mut() {
        let Some(part) = innermost.next() else {
            open.pop();
            continue;
        };
        weight.parts += 1;
        weight.bytes += bytes(part);
        if weight.parts > MAX_VALUES {
            return Err(Excess::Parts);
        }
        if weight.bytes > MAX_TEXT_BYTES {
            return Err(Excess::Long);
        }
        if let Some(parts) = parts(part, heap) {
            if open.len() > MAX_DEPTH {
                return Err(Excess::Deep);
            }
            open.push(parts);
        }
    }
    Ok(weight)
}

fn bytes(value: Value<'_>) -> usize {
    if let Some(text) = value.unpack_str() {
        return text.len() + 4;
    }
    if let Some(bytes) = StarlarkBytes::from_value(value) {
        return bytes.as_bytes().len() + 4;
    }
    SCALAR_BYTES + big_bits(value).map_or(0, |bits| usize::try_from(bits / 3).unwrap_or(usize::MAX))
}

/// The bits of an integer that is not small.
fn big_bits(value: Value<'_>) -> Option<u64> {
    if value.unpack_i32().is_some() || value.get_type() != "int" {
        return None;
    }
    BigInt::unpack_value(value).ok().flatten().map(|int| int.bits())
}

fn parts<'v>(value: Value<'v>, heap: Heap<'v>) -> Option<Parts<'v>> {
    if is_scalar(value) {
        return None;
    }
    if let Some(list) = ListRef::from_value(value) {
        return Some(Parts::Slice(list.content().iter()));
    }
    if let Some(tuple) = TupleRef::from_value(value) {
        return Some(Parts::Slice(tuple.content().iter()));
    }
    if let Some(dict) = DictRef::from_value(value) {
        let all: Vec<Value<'v>> = dict.iter().flat_map(|(key, value)| [key, value]).collect();
        return Some(Parts::Owned(all.into_iter()));
    }
    if let Some(fields) = StructRef::from_value(value) {
        let all: Vec<Value<'v>> = fields.iter().map(|(_, value)| value).collect();
        return Some(Parts::Owned(all.into_iter()));
    }
    // Its members are hashed already, so they are bounded.
    if value.get_type() == "set" {
        let all: Vec<Value<'v>> = value.iterate(heap).ok()?.collect();
        return Some(Parts::Owned(all.into_iter()));
    }
    None
}

/// An error unless an integer of so many bits is one that can be worked with.
pub(crate) fn check_bits(bits: u64) -> Result<(), Excess> {
    if bits > MAX_BITS { Err(Excess::Digits) } else { Ok(()) }
}

/// The bits of an integer; nothing for another value.
pub(super) fn bits_of(value: Value<'_>) -> Option<u64> {
    match value.unpack_i32() {
        Some(int) => Some(u64::from(32 - int.unsigned_abs().leading_zeros())),
        None => big_bits(value),
    }
}

/// An error unless the heap may grow by so many bytes, and there is time for it.
pub(super) fn room(eval: &Evaluator<'_, '_, '_>, bytes: usize) -> starlark::Result<()> {
    if bytes > SHORT_BYTES {
        Surroundings::pace(eval)?;
    }
    let limit = Surroundings::of(eval)?.host.options().limits.heap_bytes;
    if eval.heap().allocated_bytes().saturating_add(bytes) > limit { Err(Excess::Memory.into()) } else { Ok(()) }
}
