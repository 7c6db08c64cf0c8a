//! Documents against their schemas in `docs/json/`: what they hold, and in which order.

use std::fs;

use serde_json::Value;

use crate::docs::repository;

/// The words of JSON Schema that are understood; any other one fails, so that none is passed over.
const KNOWN: [&str; 16] = [
    "$schema",
    "$defs",
    "$ref",
    "title",
    "description",
    "type",
    "const",
    "enum",
    "properties",
    "required",
    "items",
    "minimum",
    "minLength",
    "pattern",
    "oneOf",
    "additionalProperties",
];

/// Asserts that one line of standard output is a document of `docs/json/<name>.schema.json`, and gives it. The keys of
/// an object stand in the order of the schema, and there are no others.
#[track_caller]
pub(crate) fn document(name: &str, stdout: &str) -> Value {
    let path = format!("{}/docs/json/{name}.schema.json", repository());
    let schema: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let text = stdout.strip_suffix('\n').unwrap();
    assert!(!text.contains('\n'), "more than one document:\n{stdout}");
    let document: Value = serde_json::from_str(text).unwrap();
    assert_eq!(document.to_string(), text, "not in the compact form");
    let faults = faults(&document, &schema, &schema, "$");
    assert!(faults.is_empty(), "{}\n{document:#}", faults.join("\n"));
    document
}

fn faults(value: &Value, schema: &Value, root: &Value, at: &str) -> Vec<String> {
    let words = schema.as_object().unwrap();
    assert!(words.keys().all(|word| KNOWN.contains(&word.as_str())), "a word that is not understood: {words:?}");
    if let Some(name) = schema["$ref"].as_str() {
        let definition = &root["$defs"][name.strip_prefix("#/$defs/").unwrap()];
        assert!(definition.is_object(), "{name} is not defined");
        return faults(value, definition, root, at);
    }
    if let Some(choices) = schema["oneOf"].as_array() {
        let fitting = choices.iter().filter(|choice| faults(value, choice, root, at).is_empty()).count();
        return if fitting == 1 { Vec::new() } else { vec![format!("{at}: fits {fitting} of the choices: {value}")] };
    }
    let mut found = Vec::new();
    let mut check = |holds: bool, what: &str| {
        if !holds {
            found.push(format!("{at}: {what}: {value}"));
        }
    };
    check(fits_type(value, &schema["type"]), "has another type");
    check(schema.get("const").is_none_or(|only| only == value), "is another value");
    check(schema["enum"].as_array().is_none_or(|values| values.contains(value)), "is none of the values");
    let minimum = schema["minimum"].as_f64().zip(value.as_f64());
    check(minimum.is_none_or(|(least, number)| number >= least), "is too small");
    let shortest = schema["minLength"].as_u64().zip(value.as_str());
    check(shortest.is_none_or(|(least, text)| text.len() as u64 >= least), "is too short");
    let time = schema["pattern"].as_str().zip(value.as_str());
    check(time.is_none_or(|(pattern, text)| fits_time(pattern, text)), "is no time");
    if let (Some(items), Some(item)) = (value.as_array(), schema.get("items")) {
        let inner =
            items.iter().enumerate().flat_map(|(index, value)| faults(value, item, root, &format!("{at}[{index}]")));
        found.extend(inner.collect::<Vec<_>>());
    }
    found.extend(object_faults(value, schema, root, at));
    found
}

fn object_faults(value: &Value, schema: &Value, root: &Value, at: &str) -> Vec<String> {
    let (Some(object), Some(properties)) = (value.as_object(), schema["properties"].as_object()) else {
        if let (Some(object), Some(any)) = (value.as_object(), schema.get("additionalProperties")) {
            return object.iter().flat_map(|(key, value)| faults(value, any, root, &format!("{at}.{key}"))).collect();
        }
        return Vec::new();
    };
    let mut found = Vec::new();
    let required = schema["required"].as_array().into_iter().flatten().map(|key| key.as_str().unwrap());
    found.extend(required.filter(|&key| !object.contains_key(key)).map(|key| format!("{at}: lacks {key}")));
    found.extend(object.keys().filter(|&key| !properties.contains_key(key)).map(|key| format!("{at}: unknown {key}")));
    let expected: Vec<&String> = properties.keys().filter(|&key| object.contains_key(key)).collect();
    let order: Vec<&String> = object.keys().filter(|&key| properties.contains_key(key)).collect();
    if order != expected {
        found.push(format!("{at}: keys in another order: {order:?}"));
    }
    for (key, value) in object {
        if let Some(property) = properties.get(key) {
            found.extend(faults(value, property, root, &format!("{at}.{key}")));
        }
    }
    found
}

/// One type, or a list of them.
fn fits_type(value: &Value, types: &Value) -> bool {
    match types {
        Value::Null => true,
        Value::Array(any) => any.iter().any(|name| is_type(value, name.as_str().unwrap())),
        one => is_type(value, one.as_str().unwrap()),
    }
}

fn is_type(value: &Value, name: &str) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "null" => value.is_null(),
        other => panic!("type {other} is not understood"),
    }
}

/// The one pattern of the schemas: a time of RFC 3339 in UTC.
fn fits_time(pattern: &str, text: &str) -> bool {
    assert_eq!(pattern, r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$");
    let form: String = text.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    let fraction = form.strip_prefix("0000-00-00T00:00:00").and_then(|rest| rest.strip_suffix('Z'));
    fraction.is_some_and(|rest| rest.is_empty() || rest.starts_with('.') && rest[1..].chars().all(|c| c == '0'))
}
