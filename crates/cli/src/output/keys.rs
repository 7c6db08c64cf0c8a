//! The document of a command under `--json`, key by key (chapter 05 §1.3).

use serde_json::{Map, Value};

/// A JSON object whose keys stand in the order in which they were put.
pub(crate) struct Keys(Map<String, Value>);

impl Keys {
    /// An object without keys.
    pub(crate) fn new() -> Self {
        Self(Map::new())
    }

    /// A document of version 1.
    pub(crate) fn document() -> Self {
        let mut keys = Self::new();
        keys.put("schema_version", 1);
        keys
    }

    /// Puts a key.
    pub(crate) fn put(&mut self, key: &str, value: impl Into<Value>) {
        self.0.insert(key.to_owned(), value.into());
    }

    /// Puts a key, unless its value is nothing: null, zero, false, an empty text, an empty list or object.
    pub(crate) fn put_some(&mut self, key: &str, value: impl Into<Value>) {
        let value = value.into();
        let is_nothing = match &value {
            Value::Null => true,
            Value::Bool(value) => !value,
            Value::Number(number) => number.as_f64() == Some(0.0),
            Value::String(text) => text.is_empty(),
            Value::Array(items) => items.is_empty(),
            Value::Object(keys) => keys.is_empty(),
        };
        if !is_nothing {
            self.put(key, value);
        }
    }
}

impl From<Keys> for Value {
    fn from(keys: Keys) -> Self {
        Self::Object(keys.0)
    }
}
