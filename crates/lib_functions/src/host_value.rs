//! Values of scripts as the host keeps them: without a heap, owned, sendable.

use jiff::{SignedDuration, Zoned};
use num_bigint::BigInt;
use starlark::collections::SmallMap;
use starlark::values::bytes::StarlarkBytes;
use starlark::values::dict::{Dict, DictRef};
use starlark::values::float::StarlarkFloat;
use starlark::values::list::{AllocList, ListRef};
use starlark::values::tuple::{AllocTuple, TupleRef};
use starlark::values::{Heap, UnpackValue, Value, ValueLike};

use crate::builtins::duration::Duration;
use crate::builtins::time::Time;

/// Deepest nesting of lists and dicts that is read, written or taken over. A bound, because all of it is done by
/// recursion, here and in the language itself.
pub(crate) const MAX_DEPTH: usize = 512;
/// Most values that are taken over at once. A list that holds another one many times, several levels deep, is small on
/// the heap and without bound when written out.
pub(crate) const MAX_VALUES: usize = 1 << 25;

/// A value of a script, away from its heap.
#[derive(Debug, Clone, PartialEq)]
pub enum HostValue {
    /// `None`.
    None,
    /// `True` or `False`.
    Bool(bool),
    /// An integer of any size.
    Int(BigInt),
    /// A float, finite or not.
    Float(f64),
    /// A string.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
    /// A list; also what was a set or a range.
    List(Vec<HostValue>),
    /// A tuple.
    Tuple(Vec<HostValue>),
    /// A dict in its order.
    Dict(Vec<(HostValue, HostValue)>),
    /// A time value with its zone.
    Time(Box<Zoned>),
    /// A duration value.
    Duration(SignedDuration),
}

/// Why a value cannot be taken over, or not be given back.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum HostValueError {
    /// There is no host value for this type.
    #[error("a value of type {0} is not data")]
    NotData(String),
    /// Nested too deep, perhaps because it holds itself.
    #[error("the value is nested more than {MAX_DEPTH} levels deep, or contains itself")]
    TooDeep,
    /// More than the host can hold.
    #[error("the value has more than {MAX_VALUES} parts")]
    TooLarge,
    /// A list or a dict as a key of a dict.
    #[error("a {0} cannot be a key of a dict")]
    Unhashable(String),
}

impl HostValue {
    /// Takes over a value and all that it holds.
    ///
    /// # Errors
    /// When it holds something that is not data (a function, a module), or has no end.
    pub(crate) fn from_value<'v>(value: Value<'v>, heap: Heap<'v>) -> Result<Self, HostValueError> {
        Taking { heap, values: 0 }.take(value, 0)
    }

    /// Puts the value onto a heap.
    ///
    /// # Errors
    /// When a key of a dict is something that scripts cannot use as one.
    pub(crate) fn to_value<'v>(&self, heap: Heap<'v>) -> Result<Value<'v>, HostValueError> {
        Ok(match self {
            Self::None => Value::new_none(),
            Self::Bool(value) => Value::new_bool(*value),
            Self::Int(value) => heap.alloc(value.clone()),
            Self::Float(value) => heap.alloc(*value),
            Self::Text(value) => heap.alloc(value.as_str()),
            Self::Bytes(value) => heap.alloc(value.as_slice()),
            Self::List(items) => heap.alloc(AllocList(all_to_values(items, heap)?)),
            Self::Tuple(items) => heap.alloc(AllocTuple(all_to_values(items, heap)?)),
            Self::Dict(items) => {
                let mut content = SmallMap::with_capacity(items.len());
                for (key, value) in items {
                    let key = key.to_value(heap)?;
                    let hashed = key.get_hashed().map_err(|_| HostValueError::Unhashable(key.get_type().to_owned()))?;
                    content.insert_hashed(hashed, value.to_value(heap)?);
                }
                heap.alloc(Dict::new(content))
            }
            Self::Time(value) => heap.alloc(Time::new((**value).clone())),
            Self::Duration(value) => heap.alloc(Duration::new(*value)),
        })
    }
}

fn all_to_values<'v>(items: &[HostValue], heap: Heap<'v>) -> Result<Vec<Value<'v>>, HostValueError> {
    items.iter().map(|item| item.to_value(heap)).collect()
}

struct Taking<'v> {
    heap: Heap<'v>,
    values: usize,
}

impl<'v> Taking<'v> {
    fn take(&mut self, value: Value<'v>, depth: usize) -> Result<HostValue, HostValueError> {
        if depth > MAX_DEPTH {
            return Err(HostValueError::TooDeep);
        }
        self.values += 1;
        if self.values > MAX_VALUES {
            return Err(HostValueError::TooLarge);
        }
        if let Some(text) = value.unpack_str() {
            return Ok(HostValue::Text(text.to_owned()));
        }
        if let Some(dict) = DictRef::from_value(value) {
            let items = dict.iter().map(|(key, value)| Ok((self.take(key, depth + 1)?, self.take(value, depth + 1)?)));
            return Ok(HostValue::Dict(items.collect::<Result<_, _>>()?));
        }
        if let Some(items) = elements(value, self.heap) {
            let tuple = TupleRef::from_value(value).is_some();
            let items = items.into_iter().map(|item| self.take(item, depth + 1)).collect::<Result<_, _>>()?;
            return Ok(if tuple { HostValue::Tuple(items) } else { HostValue::List(items) });
        }
        take_scalar(value).ok_or_else(|| HostValueError::NotData(value.get_type().to_owned()))
    }
}

fn take_scalar(value: Value) -> Option<HostValue> {
    if value.is_none() {
        return Some(HostValue::None);
    }
    if let Some(value) = value.unpack_bool() {
        return Some(HostValue::Bool(value));
    }
    if let Ok(Some(value)) = BigInt::unpack_value(value) {
        return Some(HostValue::Int(value));
    }
    if let Some(value) = value.downcast_ref::<StarlarkFloat>() {
        return Some(HostValue::Float(value.0));
    }
    if let Some(value) = StarlarkBytes::from_value(value) {
        return Some(HostValue::Bytes(value.as_bytes().to_vec()));
    }
    if let Some(value) = Time::from_value(value) {
        return Some(HostValue::Time(Box::new(value.zoned().clone())));
    }
    Duration::from_value(value).map(|value| HostValue::Duration(value.signed()))
}

/// What a list, a tuple, a set or a range holds; nothing for another value.
pub(crate) fn elements<'v>(value: Value<'v>, heap: Heap<'v>) -> Option<Vec<Value<'v>>> {
    if let Some(list) = ListRef::from_value(value) {
        return Some(list.content().to_vec());
    }
    if let Some(tuple) = TupleRef::from_value(value) {
        return Some(tuple.content().to_vec());
    }
    if matches!(value.get_type(), "set" | "range") {
        return value.iterate(heap).ok().map(Iterator::collect);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtins::testing::with_value;

    fn taken(script: &str) -> Result<HostValue, HostValueError> {
        with_value(script, HostValue::from_value)
    }

    #[test]
    fn data_is_taken_over_and_given_back() {
        let scripts = [
            "None",
            "True",
            "1 << 300",
            "-1.5",
            "'\\x00é\\U0001f600'",
            "b'\\xff\\x00'",
            "[1, [2, ()], {}]",
            "(1, 'a')",
            "{'b': 1, 2: None, (1, 2): [3]}",
            "time.from_timestamp(1).in_location('Europe/Berlin')",
            "-time.hour",
        ];
        for script in scripts {
            let same = with_value(script, |value, heap| {
                let back = HostValue::from_value(value, heap).unwrap().to_value(heap).unwrap();
                (value.to_repr(), back.to_repr(), value.get_type() == back.get_type())
            });
            assert_eq!((&same.0, same.2), (&same.1, true), "{script}");
        }
    }

    #[test]
    fn sets_and_ranges_become_lists() {
        let expected = HostValue::List(vec![HostValue::Int(0.into()), HostValue::Int(1.into())]);
        for script in ["set([0, 1])", "range(2)", "[0, 1]"] {
            assert_eq!(taken(script).as_ref(), Ok(&expected), "{script}");
        }
    }

    #[test]
    fn what_is_not_data_is_named() {
        assert_eq!(taken("[len]"), Err(HostValueError::NotData("function".to_owned())));
        assert_eq!(taken("{'a': json}"), Err(HostValueError::NotData("namespace".to_owned())));
        assert_eq!(taken("x = []\nx.append(x)\nx"), Err(HostValueError::TooDeep));
        assert_eq!(
            with_value("1", |_, heap| {
                let bad = HostValue::Dict(vec![(HostValue::List(Vec::new()), HostValue::None)]);
                bad.to_value(heap).err()
            }),
            Some(HostValueError::Unhashable("list".to_owned()))
        );
    }
}
