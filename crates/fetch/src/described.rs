//! The columns as a lib function is told them: the argument `columns` (chapter 03 §3.4).

use lib_functions::HostValue;
use query::DeclaredType;

use crate::Column;

/// A list of `{"name": …, "type": …}` in the order of the columns.
pub fn columns_argument(columns: &[Column]) -> HostValue {
    described_columns(columns.iter().map(|column| (column.source.as_str(), &column.declared)))
}

/// The same of columns by name and type.
pub fn described_columns<'a>(columns: impl Iterator<Item = (&'a str, &'a DeclaredType)>) -> HostValue {
    let described =
        |(name, declared)| HostValue::Dict(vec![(text("name"), text(name)), (text("type"), described_type(declared))]);
    HostValue::List(columns.map(described).collect())
}

/// A name; `[T]` for lists and arrays; a dict for structs.
fn described_type(declared: &DeclaredType) -> HostValue {
    match declared {
        DeclaredType::List(item) | DeclaredType::Array(item, _) => HostValue::List(vec![described_type(item)]),
        DeclaredType::Struct(fields) => {
            HostValue::Dict(fields.iter().map(|(name, field)| (text(name), described_type(field))).collect())
        }
        name => text(&name.to_string()),
    }
}

fn text(text: &str) -> HostValue {
    HostValue::Text(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_told_as_text_list_or_dict() {
        let dict = |items: Vec<(&str, HostValue)>| {
            HostValue::Dict(items.into_iter().map(|(key, value)| (text(key), value)).collect())
        };
        for (name, expected) in [
            ("INTEGER", text("INTEGER")),
            ("TIMESTAMP WITH TIME ZONE", text("TIMESTAMPTZ")),
            ("DECIMAL(18,3)", text("DECIMAL(18,3)")),
            ("INTEGER[]", HostValue::List(vec![text("INTEGER")])),
            ("DATE[3][]", HostValue::List(vec![HostValue::List(vec![text("DATE")])])),
            ("MAP(VARCHAR, INTEGER)", text("MAP(VARCHAR, INTEGER)")),
            ("UNION(num INTEGER, str VARCHAR)", text("UNION(num INTEGER, str VARCHAR)")),
            ("ENUM('a', 'b')", text("VARCHAR")),
            (
                "STRUCT(z DECIMAL(4,1), a STRUCT(b JSON)[])",
                dict(vec![("z", text("DECIMAL(4,1)")), ("a", HostValue::List(vec![dict(vec![("b", text("JSON"))])]))]),
            ),
        ] {
            assert_eq!(described_type(&DeclaredType::parse(name)), expected, "{name}");
        }
    }

    #[test]
    fn a_column_is_told_by_its_source() {
        let column = Column {
            source: "Id".into(),
            alias: "id".into(),
            declared: DeclaredType::parse("BIGINT"),
            sql_type: "BIGINT".into(),
            is_try: false,
            is_masked: false,
        };
        let expected = HostValue::Dict(vec![(text("name"), text("Id")), (text("type"), text("BIGINT"))]);
        assert_eq!(columns_argument(&[column]), HostValue::List(vec![expected]));
    }
}
