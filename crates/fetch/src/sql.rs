//! The SQL that turns carriers into typed columns.

use query::DeclaredType;
use types::quote;

use crate::Column;

/// The projection that makes the columns, in order and named by their aliases. `carrier` gives for the number of a
/// column, from 0, the SQL of its carrier, a VARCHAR.
pub fn select_list(columns: &[Column], carrier: impl Fn(usize) -> String) -> String {
    let column = |(at, column): (usize, &Column)| {
        format!("{} AS {}", cast(column, column.is_try, &carrier(at)), quote(&column.alias))
    };
    columns.iter().enumerate().map(column).collect::<Vec<_>>().join(", ")
}

/// The typed value of a carrier.
pub(crate) fn cast(column: &Column, is_try: bool, carrier: &str) -> String {
    let Column { declared, sql_type, .. } = column;
    let texts = match texts_type(declared) {
        Some(texts) => format!("CAST(CAST({carrier} AS JSON) AS {texts})"),
        None => carrier.to_owned(),
    };
    match (is_try, has_map(declared)) {
        (false, _) => format!("CAST({texts} AS {sql_type})"),
        (true, false) => format!("TRY_CAST({texts} AS {sql_type})"),
        // A key that became NULL would make a map that is none.
        (true, true) => format!("TRY(CAST({texts} AS {sql_type}))"),
    }
}

/// A nested type with VARCHAR in all places, as which the engine reads the JSON of a carrier; `None` for a simple
/// type. The text that DuckDB itself writes nested values in cannot carry them: quotes and brackets in texts inside of
/// nested lists and maps do not survive it (1.5).
fn texts_type(declared: &DeclaredType) -> Option<String> {
    let inner = |declared: &DeclaredType| texts_type(declared).unwrap_or_else(|| "VARCHAR".into());
    match declared {
        DeclaredType::Scalar(_) | DeclaredType::Decimal { .. } | DeclaredType::Union(_) => None,
        DeclaredType::List(item) | DeclaredType::Array(item, _) => Some(format!("{}[]", inner(item))),
        DeclaredType::Struct(fields) => {
            let fields: Vec<String> =
                fields.iter().map(|(name, field)| format!("{} {}", quote(name), inner(field))).collect();
            Some(format!("STRUCT({})", fields.join(", ")))
        }
        DeclaredType::Map(_) => declared.map_types().map(|(_, value)| format!("MAP(VARCHAR, {})", inner(&value))),
    }
}

fn has_map(declared: &DeclaredType) -> bool {
    match declared {
        DeclaredType::Scalar(_) | DeclaredType::Decimal { .. } | DeclaredType::Union(_) => false,
        DeclaredType::List(item) | DeclaredType::Array(item, _) => has_map(item),
        DeclaredType::Struct(fields) => fields.iter().any(|(_, field)| has_map(field)),
        DeclaredType::Map(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(sql_type: &str, is_try: bool) -> String {
        let declared = DeclaredType::parse(sql_type);
        let column = Column {
            source: "s".into(),
            alias: "a \"b\"".into(),
            declared,
            sql_type: sql_type.into(),
            is_try,
            is_masked: false,
        };
        select_list(&[column], |at| format!("c[{}]", at + 1))
    }

    #[test]
    fn carriers_are_cast() {
        for (sql_type, is_try, expected) in [
            ("INTEGER", false, "CAST(c[1] AS INTEGER)"),
            ("INTEGER", true, "TRY_CAST(c[1] AS INTEGER)"),
            ("INTEGER[3]", false, "CAST(CAST(CAST(c[1] AS JSON) AS VARCHAR[]) AS INTEGER[3])"),
            (
                "STRUCT(\"x,\"\"\" DECIMAL(4,1), m MAP(DATE, JSON[]))[]",
                true,
                "TRY(CAST(CAST(CAST(c[1] AS JSON) AS STRUCT(\"x,\"\"\" VARCHAR, \"m\" MAP(VARCHAR, VARCHAR[]))[]) AS \
                 STRUCT(\"x,\"\"\" DECIMAL(4,1), m MAP(DATE, JSON[]))[]))",
            ),
        ] {
            assert_eq!(listed(sql_type, is_try), format!("{expected} AS \"a \"\"b\"\"\""), "{sql_type}");
        }
    }
}
