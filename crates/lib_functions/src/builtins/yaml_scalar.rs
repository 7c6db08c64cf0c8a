//! What a scalar of YAML means in the core schema (YAML 1.2.2, section 10.3.2). Dates are strings.

use num_bigint::BigInt;
use saphyr_parser::{ScalarStyle, Tag};

use crate::bounds::MAX_DIGITS;
use crate::host_value::HostValue;

/// The value of a scalar.
pub(super) fn value(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> Result<HostValue, String> {
    let wanted = tag.filter(|tag| tag.is_yaml_core_schema()).map(|tag| tag.suffix.as_str());
    let is_text = || HostValue::Text(text.to_owned());
    match wanted {
        Some("null" | "bool" | "int" | "float") => {}
        Some(_) => return Ok(is_text()),
        None if style != ScalarStyle::Plain || tag.is_some_and(|tag| tag.suffix == "!" || tag.suffix.is_empty()) => {
            return Ok(is_text());
        }
        None => {}
    }
    let value = plain(text)?;
    match (wanted, value) {
        (None, None) => Ok(is_text()),
        (Some("float"), Some(HostValue::Int(value))) => {
            let float = value.to_string().parse().map_err(|_| format!("{text:?} is no float"))?;
            Ok(HostValue::Float(float))
        }
        (Some("null"), Some(value @ HostValue::None))
        | (Some("bool"), Some(value @ HostValue::Bool(_)))
        | (Some("int"), Some(value @ HostValue::Int(_)))
        | (Some("float"), Some(value @ HostValue::Float(_)))
        | (None, Some(value)) => Ok(value),
        (Some(wanted), _) => Err(format!("{text:?} is no {wanted}")),
    }
}

/// What a text without quotes stands for, if it is no string.
fn plain(text: &str) -> Result<Option<HostValue>, String> {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Ok(Some(HostValue::None)),
        "true" | "True" | "TRUE" => return Ok(Some(HostValue::Bool(true))),
        "false" | "False" | "FALSE" => return Ok(Some(HostValue::Bool(false))),
        ".nan" | ".NaN" | ".NAN" => return Ok(Some(HostValue::Float(f64::NAN))),
        _ => {}
    }
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") {
        let sign = if text.starts_with('-') { -1.0 } else { 1.0 };
        return Ok(Some(HostValue::Float(sign * f64::INFINITY)));
    }
    for (prefix, radix) in [("0o", 8), ("0x", 16)] {
        if let Some(digits) = text.strip_prefix(prefix).filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit())) {
            return Ok(BigInt::parse_bytes(digits.as_bytes(), radix).map(HostValue::Int));
        }
    }
    if !unsigned.is_empty() && unsigned.bytes().all(|byte| byte.is_ascii_digit()) {
        if unsigned.len() > MAX_DIGITS {
            return Err(format!("an integer of {} digits is longer than {MAX_DIGITS}", unsigned.len()));
        }
        return Ok(text.parse().ok().map(HostValue::Int));
    }
    if !is_float(unsigned) {
        return Ok(None);
    }
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(Some(HostValue::Float(value))),
        _ => Err(format!("the number {text:.40} is out of range")),
    }
}

/// Whether a text without its sign is a float: `(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`.
fn is_float(unsigned: &str) -> bool {
    let all_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let exponent_fits = exponent.is_none_or(|exponent| {
        let digits = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
        !digits.is_empty() && all_digits(digits)
    });
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    exponent_fits && all_digits(whole) && all_digits(fraction) && whole.len() + fraction.len() > 0
}
