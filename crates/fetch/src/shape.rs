//! A declared type, taken apart once for all values of its column.

use query::DeclaredType;

use crate::scalar::Scalar;

/// What a value must look like.
#[derive(Debug)]
pub(crate) enum Shape {
    Scalar(Scalar),
    List(Box<Shape>),
    Array(Box<Shape>, usize),
    Struct(Vec<(String, Shape)>),
    /// The type of the keys and that of the values.
    Map(Box<Shape>, Box<Shape>),
}

impl Shape {
    pub(crate) fn of(declared: &DeclaredType) -> Self {
        match declared {
            DeclaredType::Scalar(name) => Self::Scalar(Scalar::named(name)),
            DeclaredType::Decimal { width, scale } => Self::Scalar(Scalar::Decimal { width: *width, scale: *scale }),
            DeclaredType::List(item) => Self::List(Box::new(Self::of(item))),
            DeclaredType::Array(item, length) => Self::Array(Box::new(Self::of(item)), *length as usize),
            DeclaredType::Struct(fields) => {
                Self::Struct(fields.iter().map(|(name, field)| (name.clone(), Self::of(field))).collect())
            }
            DeclaredType::Map(_) => match declared.map_types() {
                Some((key, value)) => Self::Map(Box::new(Self::of(&key)), Box::new(Self::of(&value))),
                None => Self::Scalar(Scalar::Varchar),
            },
            // The lake has no unions; the engine makes one of a text, where it can.
            DeclaredType::Union(_) => Self::Scalar(Scalar::Varchar),
        }
    }
}
