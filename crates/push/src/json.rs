//! Values of scripts as JSON text, and back: references of jobs and the rows of dead letters are kept in the state.

use std::str::FromStr as _;

use lib_functions::HostValue;
use num_bigint::BigInt;
use serde_json::{Map, Number, Value};

/// The JSON text of data; `None` for what JSON has no form for.
pub(crate) fn to_json(value: &HostValue) -> Option<String> {
    tree(value, name).map(|tree| tree.to_string())
}

/// Data of a row as JSON, for people and not for the way back: every key of a map is a text.
pub(crate) fn shown(value: &HostValue) -> Value {
    let name = |key: &HostValue| name(key).or_else(|| to_json(key));
    tree(value, name).unwrap_or_default()
}

fn tree(value: &HostValue, name: impl Fn(&HostValue) -> Option<String> + Copy) -> Option<Value> {
    let tree = |value: &HostValue| tree(value, name);
    Some(match value {
        HostValue::None => Value::Null,
        HostValue::Bool(value) => Value::Bool(*value),
        HostValue::Int(value) => Value::Number(Number::from_str(&value.to_string()).ok()?),
        HostValue::Float(value) => Value::Number(Number::from_f64(*value)?),
        HostValue::Text(text) => Value::String(text.clone()),
        HostValue::List(values) | HostValue::Tuple(values) => {
            Value::Array(values.iter().map(tree).collect::<Option<_>>()?)
        }
        HostValue::Dict(pairs) => {
            let pair = |(key, value): &(HostValue, HostValue)| Some((name(key)?, tree(value)?));
            Value::Object(pairs.iter().map(pair).collect::<Option<Map<_, _>>>()?)
        }
        HostValue::Bytes(_) | HostValue::Time(_) | HostValue::Duration(_) => return None,
    })
}

fn name(key: &HostValue) -> Option<String> {
    match key {
        HostValue::Text(text) => Some(text.clone()),
        HostValue::Int(value) => Some(value.to_string()),
        _ => None,
    }
}

/// The data of a JSON text.
pub(crate) fn from_json(text: &str) -> Option<HostValue> {
    serde_json::from_str(text).ok().map(value)
}

fn value(tree: Value) -> HostValue {
    match tree {
        Value::Null => HostValue::None,
        Value::Bool(value) => HostValue::Bool(value),
        Value::Number(number) => match BigInt::from_str(number.as_str()) {
            Ok(whole) => HostValue::Int(whole),
            Err(_) => HostValue::Float(number.as_f64().unwrap_or(f64::NAN)),
        },
        Value::String(text) => HostValue::Text(text),
        Value::Array(values) => HostValue::List(values.into_iter().map(value).collect()),
        Value::Object(pairs) => {
            HostValue::Dict(pairs.into_iter().map(|(key, tree)| (HostValue::Text(key), value(tree))).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{from_json, shown, to_json};
    use lib_functions::HostValue;

    #[test]
    fn data_survives_the_way_through_json() {
        for text in [
            r#"{"id":123456789012345678901234567890,"parts":["a",null,true,1.5],"a":{"z":1,"b":-2}}"#,
            r#""only text""#,
            "null",
            "1.0",
        ] {
            assert_eq!(to_json(&from_json(text).unwrap()).as_deref(), Some(text));
        }
    }

    #[test]
    fn keys_of_maps_are_shown_as_texts() {
        let pairs = [HostValue::Bool(true), HostValue::Float(1.5), HostValue::None];
        let dict = HostValue::Dict(pairs.into_iter().map(|key| (key, HostValue::Int(1.into()))).collect());
        assert_eq!(to_json(&dict), None);
        assert_eq!(shown(&dict).to_string(), r#"{"true":1,"1.5":1,"null":1}"#);
    }

    #[test]
    fn what_json_has_no_form_for_is_none() {
        assert_eq!(to_json(&HostValue::Bytes(vec![1])), None);
        assert_eq!(to_json(&HostValue::List(vec![HostValue::Float(f64::NAN)])), None);
    }
}
