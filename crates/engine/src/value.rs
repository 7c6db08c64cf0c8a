//! Values of query results, exact for every type.

/// One value. Types without a JSON form of their own arrive as the text that the output shows.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// SQL NULL.
    Null,
    /// BOOLEAN.
    Bool(bool),
    /// Any signed or unsigned integer type up to HUGEINT.
    Int(i128),
    /// UHUGEINT.
    UHuge(u128),
    /// FLOAT.
    Float(f32),
    /// DOUBLE.
    Double(f64),
    /// DECIMAL, as exact decimal digits.
    Decimal(String),
    /// VARCHAR, ENUM, UUID, BIT, INTERVAL and the date and time types in ISO form.
    Text(String),
    /// JSON text.
    Json(String),
    /// BLOB.
    Blob(Vec<u8>),
    /// LIST or ARRAY.
    List(Vec<Value>),
    /// STRUCT, in field order.
    Struct(Vec<(String, Value)>),
    /// MAP, in stored order.
    Map(Vec<(Value, Value)>),
}

impl Value {
    /// The value as text, if it is one.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) | Self::Json(text) | Self::Decimal(text) => Some(text),
            _ => None,
        }
    }

    /// The value as an owned text, if it is one.
    pub fn into_text(self) -> Option<String> {
        match self {
            Self::Text(text) | Self::Json(text) | Self::Decimal(text) => Some(text),
            _ => None,
        }
    }

    /// The value as a 64-bit integer, if it is one.
    pub fn as_i64(&self) -> Option<i64> {
        match self {
            Self::Int(value) => i64::try_from(*value).ok(),
            _ => None,
        }
    }

    /// The value as a boolean, if it is one.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(value) => Some(*value),
            _ => None,
        }
    }
}
