//! Simple types: what each value becomes (chapter 03 §3.4, "Values").
//!
//! For pairs that the chapter does not list, a value counts as what DuckDB would call it (a float as a DOUBLE, bytes as
//! a BLOB, a time as a TIMESTAMPTZ, a duration as an INTERVAL), and the CAST between the two is followed.

use std::fmt::Write as _;

use lib_functions::{Cell, CellKind, digits, push_json_string};

use crate::decimal::Decimal;
use crate::integer::Integers;
use crate::moment::{self, MomentType};
use crate::{Refusal, Written};
use crate::{blob, duration, float, json_check, json_write};

/// A simple type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scalar {
    Varchar,
    Boolean,
    Integer(Integers),
    Float,
    Double,
    Decimal { width: u8, scale: u8 },
    Moment(MomentType),
    Interval,
    Json,
    Blob,
    Bit,
    Uuid,
}

impl Scalar {
    /// The type of a name; VARCHAR for one that is not known.
    pub(crate) fn named(name: &str) -> Self {
        match name {
            "BOOLEAN" => Self::Boolean,
            "FLOAT" => Self::Float,
            "DOUBLE" => Self::Double,
            "INTERVAL" => Self::Interval,
            "JSON" => Self::Json,
            "BLOB" => Self::Blob,
            "BIT" => Self::Bit,
            "UUID" => Self::Uuid,
            name => Integers::named(name)
                .map(Self::Integer)
                .or_else(|| MomentType::named(name).map(Self::Moment))
                .unwrap_or(Self::Varchar),
        }
    }

    /// Appends the carrier of a value, which is not `None`.
    pub(crate) fn write(self, cell: Cell<'_>, kind: &CellKind<'_>, out: &mut String) -> Written {
        if let CellKind::Other(name) = kind {
            return Err(no_data(name));
        }
        match self {
            Self::Varchar => varchar(cell, kind, out),
            Self::Json => json(cell, kind, out),
            Self::Integer(integers) => integer(integers, kind, out),
            Self::Float | Self::Double => floating(self == Self::Float, kind, out),
            Self::Decimal { width, scale } => decimal(width, scale, kind, out),
            Self::Moment(moment) => instant(moment, kind, out),
            Self::Boolean => boolean(kind, out),
            Self::Blob => bytes(kind, out),
            Self::Bit => bit(kind, out),
            Self::Uuid => text(kind, out),
            Self::Interval => match kind {
                CellKind::Duration(value) => duration::write_interval(value, out),
                _ => text(kind, out),
            },
        }
    }
}

/// A text that the lake can hold: its filters cannot, past the character NUL.
fn storable(text: &str) -> Written<&str> {
    if text.contains('\0') { Err(Refusal::new("it holds the character NUL, which the lake cannot")) } else { Ok(text) }
}

/// For a function, a module or the like.
pub(crate) fn no_data(type_name: &str) -> Refusal {
    Refusal::new(format!("a {type_name} is no data"))
}

/// For a value of which the type makes nothing.
fn unfit(kind: &CellKind<'_>) -> Refusal {
    let name = match kind {
        CellKind::Null => "None",
        CellKind::Bool(_) => "a bool",
        CellKind::Int(_) | CellKind::BigInt(_) => "an int",
        CellKind::Float(_) => "a float",
        CellKind::Text(_) => "a string",
        CellKind::Bytes(_) => "bytes",
        CellKind::Time(_) => "a time",
        CellKind::Duration(_) => "a duration",
        CellKind::List(_) => "a list",
        CellKind::Dict(_) => "a dict",
        CellKind::Other(name) => name,
    };
    Refusal::new(format!("{name} has no meaning there"))
}

fn text(kind: &CellKind<'_>, out: &mut String) -> Written {
    let CellKind::Text(text) = kind else { return Err(unfit(kind)) };
    out.push_str(storable(text)?);
    Ok(())
}

fn finite(value: f64) -> Written<f64> {
    if value.is_finite() { Ok(value) } else { Err(Refusal::new("only FLOAT and DOUBLE take what is not finite")) }
}

fn varchar(cell: Cell<'_>, kind: &CellKind<'_>, out: &mut String) -> Written {
    match kind {
        CellKind::Text(text) => out.push_str(storable(text)?),
        CellKind::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        CellKind::Int(value) => drop(write!(out, "{value}")),
        CellKind::BigInt(value) => out.push_str(&digits(value)?),
        CellKind::Float(value) => float::write_text(finite(*value)?, out),
        CellKind::List(_) | CellKind::Dict(_) => json_write::write(cell, out)?,
        CellKind::Bytes(bytes) => blob::write(bytes, out),
        CellKind::Time(zoned) => moment::write_shown(zoned, out),
        CellKind::Duration(value) => duration::write_text(value, out)?,
        CellKind::Null | CellKind::Other(_) => return Err(unfit(kind)),
    }
    Ok(())
}

fn json(cell: Cell<'_>, kind: &CellKind<'_>, out: &mut String) -> Written {
    let CellKind::Text(text) = kind else { return json_write::write(cell, out) };
    match json_check::object_or_array(text) {
        Some(json) => out.push_str(&json),
        None => push_json_string(out, text),
    }
    Ok(())
}

fn integer(integers: Integers, kind: &CellKind<'_>, out: &mut String) -> Written {
    match kind {
        CellKind::Int(value) => integers.write_int(*value, out),
        CellKind::BigInt(value) => integers.write_big(value, out),
        CellKind::Float(value) => integers.write_float(*value, out),
        CellKind::Text(text) => integers.write_text(text, out),
        CellKind::Bool(value) => integers.write_int(i64::from(*value), out),
        _ => Err(unfit(kind)),
    }
}

fn floating(is_single: bool, kind: &CellKind<'_>, out: &mut String) -> Written {
    match kind {
        CellKind::Float(value) if is_single => float::write_single(*value, out)?,
        CellKind::Float(value) => float::write_double(*value, out),
        CellKind::Int(value) => drop(write!(out, "{value}")),
        CellKind::BigInt(value) => float::write_big(value, is_single, out)?,
        CellKind::Bool(value) => out.push(if *value { '1' } else { '0' }),
        CellKind::Text(text) => out.push_str(float::finite_or_named(storable(text)?, is_single)?),
        _ => return Err(unfit(kind)),
    }
    Ok(())
}

fn decimal(width: u8, scale: u8, kind: &CellKind<'_>, out: &mut String) -> Written {
    let read = |text: &str| Decimal::parse(text).ok_or_else(|| Refusal::new("it is no number"));
    let number = match kind {
        CellKind::Int(value) => read(&value.to_string())?,
        CellKind::BigInt(value) => read(&digits(value)?)?,
        CellKind::Float(value) => read(&float::shortest(finite(*value)?))?,
        CellKind::Text(text) => read(text)?,
        CellKind::Bool(value) => read(if *value { "1" } else { "0" })?,
        _ => return Err(unfit(kind)),
    };
    number.write_rounded(width, scale, out)
}

fn instant(moment: MomentType, kind: &CellKind<'_>, out: &mut String) -> Written {
    match kind {
        CellKind::Text(text) => moment.write_text(storable(text)?, out)?,
        CellKind::Time(zoned) => moment.write_time(zoned, out),
        CellKind::Int(_) | CellKind::BigInt(_) | CellKind::Float(_) => {
            return Err(Refusal::new("a number is no date or time: epochs are not guessed"));
        }
        _ => return Err(unfit(kind)),
    }
    Ok(())
}

fn bytes(kind: &CellKind<'_>, out: &mut String) -> Written {
    match kind {
        CellKind::Bytes(bytes) => blob::write(bytes, out),
        CellKind::Text(text) => blob::write(text.as_bytes(), out),
        _ => return Err(unfit(kind)),
    }
    Ok(())
}

fn boolean(kind: &CellKind<'_>, out: &mut String) -> Written {
    let value = match kind {
        CellKind::Bool(value) => *value,
        CellKind::Int(value) => *value != 0,
        CellKind::BigInt(_) => true,
        CellKind::Float(value) => finite(*value)? != 0.0,
        _ => return text(kind, out),
    };
    out.push_str(if value { "true" } else { "false" });
    Ok(())
}

/// A string of bits, or the bits of what DuckDB would hold a value in.
fn bit(kind: &CellKind<'_>, out: &mut String) -> Written {
    let _ = match kind {
        CellKind::Bool(value) => write!(out, "{:08b}", u8::from(*value)),
        CellKind::Int(value) => match i32::try_from(*value) {
            Ok(value) => write!(out, "{value:032b}"),
            Err(_) => write!(out, "{value:064b}"),
        },
        CellKind::Float(value) => write!(out, "{:064b}", finite(*value)?.to_bits()),
        CellKind::Bytes(bytes) => bytes.iter().try_for_each(|byte| write!(out, "{byte:08b}")),
        _ => return text(kind, out),
    };
    Ok(())
}
