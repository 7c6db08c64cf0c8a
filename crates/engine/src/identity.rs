//! What tells two values apart, where SQL's equality does not.

use types::Column;

/// What tells a column's values apart, `name` being the column where it stands. SQL's equality does not
/// always: 0.0 equals -0.0, a month equals 30 days, and under a collation 'abc' may equal 'ABC'.
pub fn identity(column: &Column, name: &str) -> String {
    match column.type_name.as_str() {
        // Fields have names, as a column of a table needs.
        "FLOAT" | "DOUBLE" => format!("{{'value': {name}, 'sign': signbit({name})}}"),
        "VARCHAR" | "JSON" => format!("encode({name}::VARCHAR)"),
        "INTERVAL" => format!("{name}::VARCHAR"),
        "VARIANT" => format!("{{'type': variant_typeof({name}), 'text': encode({name}::VARCHAR)}}"),
        nested if nested.contains(['(', '[']) && !nested.starts_with("DECIMAL") => format!("encode({name}::VARCHAR)"),
        _ => name.to_owned(),
    }
}
