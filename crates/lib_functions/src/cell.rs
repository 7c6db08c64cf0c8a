//! Rows and their values as a function returned them: still on the script's heap, nothing is copied.

use jiff::Zoned;
use num_bigint::BigInt;
use starlark::values::bytes::StarlarkBytes;
use starlark::values::dict::DictRef;
use starlark::values::float::StarlarkFloat;
use starlark::values::{Heap, UnpackValue, Value, ValueLike};

use crate::bounds::weigh;
use crate::builtins::duration::Duration;
use crate::builtins::json;
use crate::builtins::time::Time;
use crate::host_value::elements;
use crate::json_write::{Style, WriteOther, Writer, to_text};
use crate::refusal::Refusal;

/// A value on the script's heap.
#[derive(Clone, Copy)]
pub struct Cell<'v> {
    value: Value<'v>,
    heap: Heap<'v>,
}

/// What a value is.
pub enum CellKind<'v> {
    /// `None`.
    Null,
    /// `True` or `False`.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A larger one.
    BigInt(BigInt),
    /// A float, finite or not.
    Float(f64),
    /// A string.
    Text(&'v str),
    /// Bytes.
    Bytes(&'v [u8]),
    /// A time with its zone.
    Time(&'v Zoned),
    /// A duration, as text like `1h30m0s`.
    Duration(String),
    /// A list, a tuple, a set or a range.
    List(Vec<Cell<'v>>),
    /// A dict in its order.
    Dict(Vec<(Cell<'v>, Cell<'v>)>),
    /// No data: the name of its type.
    Other(&'static str),
}

impl<'v> Cell<'v> {
    pub(crate) fn new(value: Value<'v>, heap: Heap<'v>) -> Self {
        Self { value, heap }
    }

    /// What it is.
    pub fn kind(self) -> CellKind<'v> {
        let value = self.value;
        if let Some(text) = value.unpack_str() {
            return CellKind::Text(text);
        }
        if value.is_none() {
            return CellKind::Null;
        }
        if let Some(flag) = value.unpack_bool() {
            return CellKind::Bool(flag);
        }
        if let Some(int) = value.unpack_i32() {
            return CellKind::Int(i64::from(int));
        }
        if let Some(float) = value.downcast_ref::<StarlarkFloat>() {
            return CellKind::Float(float.0);
        }
        self.rare_kind()
    }

    fn rare_kind(self) -> CellKind<'v> {
        let value = self.value;
        if let Ok(Some(int)) = BigInt::unpack_value(value) {
            return i64::try_from(&int).map_or(CellKind::BigInt(int), CellKind::Int);
        }
        if let Some(bytes) = value.downcast_ref::<StarlarkBytes>() {
            return CellKind::Bytes(bytes.as_bytes());
        }
        if let Some(time) = value.downcast_ref::<Time>() {
            return CellKind::Time(time.zoned());
        }
        if value.downcast_ref::<Duration>().is_some() {
            return CellKind::Duration(value.to_str());
        }
        if let Some(dict) = DictRef::from_value(value) {
            let cell = |value| Self::new(value, self.heap);
            return CellKind::Dict(dict.iter().map(|(key, value)| (cell(key), cell(value))).collect());
        }
        match elements(value, self.heap) {
            Some(items) => CellKind::List(items.into_iter().map(|item| Self::new(item, self.heap)).collect()),
            None => CellKind::Other(value.get_type()),
        }
    }

    /// The name of its type.
    pub(crate) fn type_name(self) -> &'static str {
        self.value.get_type()
    }

    /// Compact JSON with keys in their order and exact integers.
    ///
    /// # Errors
    /// What keeps it from being JSON: NaN, a key that is no string, something that is no data.
    pub fn json(self) -> Result<String, String> {
        to_text(self.value, self.heap, Style::Insertion).map_err(|error| error.to_string())
    }

    /// Appends the same; what JSON has no form for becomes the string that `other` makes of it. Ends early once `out` is
    /// longer than `limit`.
    ///
    /// # Errors
    /// As for [`Self::json`], or when the text is longer than `limit`.
    pub fn write_json(self, out: &mut String, limit: usize, other: WriteOther) -> Result<(), Refusal> {
        Writer { out, style: Style::Insertion, limit, other: Some(other) }.value(self, 0)
    }

    /// The value that a JSON text stands for, on the heap of this one, as `json.decode` reads it.
    ///
    /// # Errors
    /// Where and why the text is not JSON.
    pub fn from_json(self, text: &str) -> Result<Self, String> {
        json::parse(text, self.heap).map(|value| Self::new(value, self.heap)).map_err(|error| error.to_string())
    }
}

/// A row: a dict that is not empty, whose keys are strings.
#[derive(Clone, Copy)]
pub struct Row<'v> {
    value: Value<'v>,
    heap: Heap<'v>,
}

impl<'v> Row<'v> {
    /// Takes a value for a row; the error says what it is instead.
    pub(crate) fn new(value: Value<'v>, heap: Heap<'v>) -> Result<Self, String> {
        let Some(dict) = DictRef::from_value(value) else {
            return Err(format!("must be a dict, not {}", value.get_type()));
        };
        if dict.iter().next().is_none() {
            return Err("is an empty dict".into());
        }
        match dict.keys().find(|key| key.unpack_str().is_none()) {
            Some(key) => match weigh(key, heap) {
                Ok(_) => Err(format!("has the key {}, which is no string", key.to_repr())),
                Err(_) => Err(format!("has a key of type {}, which is no string", key.get_type())),
            },
            None => Ok(Self { value, heap }),
        }
    }

    /// The value of a key, exactly as written; `None` if it is not there.
    pub fn get(self, key: &str) -> Option<Cell<'v>> {
        let value = DictRef::from_value(self.value)?.get_str(key)?;
        Some(Cell::new(value, self.heap))
    }

    /// All keys with their values, in their order.
    pub fn cells(self) -> Vec<(&'v str, Cell<'v>)> {
        let Some(dict) = DictRef::from_value(self.value) else { return Vec::new() };
        dict.iter().filter_map(|(key, value)| Some((key.unpack_str()?, Cell::new(value, self.heap)))).collect()
    }
}
