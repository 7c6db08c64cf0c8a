//! Values as JSON text (chapter 05 §5): integers and decimals exact, floats shortest round-trip.

use std::fmt::Write;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::Value;

impl Value {
    /// Appends the value as compact JSON.
    pub fn write_json(&self, out: &mut String) {
        match self {
            Self::Null => out.push_str("null"),
            Self::Bool(value) => push(out, format_args!("{value}")),
            Self::Int(value) => push(out, format_args!("{value}")),
            Self::UHuge(value) => push(out, format_args!("{value}")),
            Self::Decimal(digits) => out.push_str(digits),
            Self::Float(value) => write_float(f64::from(*value), &number(*value), out),
            Self::Double(value) => write_float(*value, &number(*value), out),
            // The engine's JSON type may hold what is no JSON; a line break can only stand between tokens.
            Self::Json(text) if serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok() => {
                out.push_str(&text.trim().replace(['\n', '\r'], " "));
            }
            Self::Text(text) | Self::Json(text) => write_json_text(text, out),
            Self::Blob(bytes) => write_json_text(&STANDARD.encode(bytes), out),
            Self::List(items) => {
                out.push('[');
                separated(items, out, Value::write_json);
                out.push(']');
            }
            // A row without field names.
            Self::Struct(fields) if fields.iter().all(|(name, _)| name.is_empty()) => {
                out.push('[');
                separated(fields, out, |(_, value), out| value.write_json(out));
                out.push(']');
            }
            Self::Struct(fields) => {
                out.push('{');
                separated(fields, out, |(name, value), out| {
                    write_json_text(name, out);
                    out.push(':');
                    value.write_json(out);
                });
                out.push('}');
            }
            Self::Map(entries) => {
                out.push('{');
                separated(entries, out, |(key, value), out| {
                    write_json_text(&key_text(key), out);
                    out.push(':');
                    value.write_json(out);
                });
                out.push('}');
            }
        }
    }
}

fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a String cannot fail.
    let _ = out.write_fmt(text);
}

fn separated<T>(items: &[T], out: &mut String, mut write: impl FnMut(&T, &mut String)) {
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        write(item, out);
    }
}

/// Rust's `{:?}` of a float is its shortest round-trip form, always with a point or an exponent.
fn number(value: impl std::fmt::Debug) -> String {
    format!("{value:?}")
}

fn write_float(value: f64, digits: &str, out: &mut String) {
    match value {
        v if v.is_nan() => out.push_str("\"NaN\""),
        v if v.is_infinite() => out.push_str(if v > 0.0 { "\"Infinity\"" } else { "\"-Infinity\"" }),
        _ => out.push_str(digits),
    }
}

/// Appends `text` as a JSON string; `<`, `>` and `&` stay as they are.
pub(crate) fn write_json_text(text: &str, out: &mut String) {
    out.push_str(&serde_json::Value::from(text).to_string());
}

fn key_text(key: &Value) -> String {
    match key {
        Value::Text(text) => text.clone(),
        other => {
            let mut text = String::new();
            other.write_json(&mut text);
            text.trim_matches('"').to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Value;

    fn json(value: &Value) -> String {
        let mut out = String::new();
        value.write_json(&mut out);
        out
    }

    #[test]
    fn numbers_are_exact_and_special_floats_are_texts() {
        assert_eq!(json(&Value::Int(i128::MAX)), "170141183460469231731687303715884105727");
        assert_eq!(json(&Value::Decimal("1.50".into())), "1.50");
        assert_eq!(json(&Value::Double(0.1)), "0.1");
        assert_eq!(json(&Value::Float(0.1)), "0.1");
        assert_eq!(json(&Value::Double(f64::NEG_INFINITY)), "\"-Infinity\"");
    }
}
