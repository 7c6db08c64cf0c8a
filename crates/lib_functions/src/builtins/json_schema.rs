//! The module `lib_helpers`: JSON Schema from the column types that fetch functions are given (chapter 03 §3.4).

use starlark::environment::GlobalsBuilder;
use starlark::values::dict::{AllocDict, DictRef};
use starlark::values::list::ListRef;
use starlark::values::{Heap, Value};

use super::failure;
use crate::host_value::MAX_DEPTH;

const NAME: &str = "lib_helpers.to_json_schema";
/// Types of numbers that are no integers.
const NUMBERS: [&str; 5] = ["DECIMAL", "NUMERIC", "FLOAT", "DOUBLE", "REAL"];

/// Adds the namespace `lib_helpers`.
pub(super) fn register(builder: &mut GlobalsBuilder) {
    builder.namespace("lib_helpers", members);
}

#[starlark::starlark_module]
fn members(builder: &mut GlobalsBuilder) {
    /// The schema of a type: a name, a list of one type, or a dict of types.
    fn to_json_schema<'v>(t: Value<'v>, heap: Heap<'v>) -> starlark::Result<Value<'v>> {
        schema(t, heap, 0).map_err(|error| failure(NAME, error))
    }
}

fn schema<'v>(of: Value<'v>, heap: Heap<'v>, depth: usize) -> Result<Value<'v>, String> {
    if depth > MAX_DEPTH {
        return Err(format!("the type is nested more than {MAX_DEPTH} levels deep"));
    }
    if let Some(name) = of.unpack_str() {
        let (kind, format) = simple(name);
        let entries = [("type", kind)].into_iter().chain(format.map(|format| ("format", format)));
        return Ok(heap.alloc(AllocDict(entries)));
    }
    if let Some(items) = ListRef::from_value(of) {
        return match items.content() {
            [] => Ok(heap.alloc(AllocDict([("type", "array")]))),
            [item] => {
                let items = schema(*item, heap, depth + 1)?;
                Ok(heap.alloc(AllocDict([("type", heap.alloc("array")), ("items", items)])))
            }
            more => Err(format!("a list must hold one type, not {}", more.len())),
        };
    }
    let Some(fields) = DictRef::from_value(of) else {
        return Err(format!("a type must be str, list or dict, not {}", of.get_type()));
    };
    let mut properties = Vec::with_capacity(fields.len());
    for (name, of) in fields.iter() {
        if name.unpack_str().is_none() {
            return Err(format!("the name of a field must be str, not {}", name.get_type()));
        }
        properties.push((name, schema(of, heap, depth + 1)?));
    }
    let properties = heap.alloc(AllocDict(properties));
    Ok(heap.alloc(AllocDict([("type", heap.alloc("object")), ("properties", properties)])))
}

/// The schema's type and format for the name of a type.
fn simple(name: &str) -> (&'static str, Option<&'static str>) {
    let upper = name.trim().to_ascii_uppercase();
    // Of `MAP(VARCHAR, INTEGER)` the parts in parentheses say nothing.
    let head = upper.split('(').next().unwrap_or_default().trim_end();
    match head {
        "BOOLEAN" => ("boolean", None),
        "DATE" => ("string", Some("date")),
        "INTERVAL" => ("string", None),
        _ if head.starts_with("TIMESTAMP") => ("string", Some("date-time")),
        _ if NUMBERS.contains(&head) => ("number", None),
        _ if head.contains("INT") => ("integer", None),
        _ => ("string", None),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{all_fail, eval};

    fn schema(script: &str) -> String {
        eval(&format!("json.encode(lib_helpers.to_json_schema({script}))")).unwrap().replace('\\', "")
    }

    #[test]
    fn names_become_types() {
        let cases = [
            ("TINYINT SMALLINT INTEGER BIGINT HUGEINT UTINYINT UINTEGER UHUGEINT integer", "{\"type\":\"integer\"}"),
            ("DECIMAL DECIMAL(18,3) NUMERIC FLOAT DOUBLE REAL", "{\"type\":\"number\"}"),
            ("BOOLEAN", "{\"type\":\"boolean\"}"),
            ("DATE", "{\"format\":\"date\",\"type\":\"string\"}"),
            ("TIMESTAMP TIMESTAMPTZ TIMESTAMP_NS", "{\"format\":\"date-time\",\"type\":\"string\"}"),
            (
                "VARCHAR JSON UUID BLOB TIME INTERVAL MAP(VARCHAR,INTEGER) UNION(a,INTEGER) DATES",
                "{\"type\":\"string\"}",
            ),
        ];
        for (names, expected) in cases {
            for name in names.split(' ') {
                assert_eq!(schema(&format!("'{name}'")), format!("\"{expected}\""), "{name}");
            }
        }
        assert_eq!(schema("''"), "\"{\"type\":\"string\"}\"");
    }

    #[test]
    fn lists_and_dicts_become_arrays_and_objects() {
        assert_eq!(schema("[]"), "\"{\"type\":\"array\"}\"");
        assert_eq!(
            schema("[['BIGINT']]"),
            "\"{\"items\":{\"items\":{\"type\":\"integer\"},\"type\":\"array\"},\"type\":\"array\"}\""
        );
        let expected = "{\"type\": \"object\", \"properties\": {\"b\": {\"type\": \"string\", \"format\": \"date\"}, \"a\": {\"type\": \"object\", \"properties\": {}}}}";
        assert_eq!(eval("lib_helpers.to_json_schema({'b': 'DATE', 'a': {}})").as_deref(), Ok(expected));
    }

    #[test]
    fn what_is_no_type_is_an_error() {
        all_fail(&[
            ("lib_helpers.to_json_schema(1)", "lib_helpers.to_json_schema: a type must be str, list or dict, not int"),
            ("lib_helpers.to_json_schema(None)", "not NoneType"),
            ("lib_helpers.to_json_schema(['DATE', 'DATE'])", "a list must hold one type, not 2"),
            ("lib_helpers.to_json_schema({1: 'DATE'})", "the name of a field must be str, not int"),
            ("lib_helpers.to_json_schema({'a': [True]})", "not bool"),
            ("x = []\nx.append(x)\nlib_helpers.to_json_schema(x)", "nested more than"),
        ]);
    }
}
