//! Fills the templates of `sql/`: `{name}` becomes a literal.

use types::literal;

/// Which SQL a database speaks, where the two differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    DuckDb,
    Postgres,
}

impl Dialect {
    /// The type of texts.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::DuckDb => "VARCHAR",
            Self::Postgres => "TEXT",
        }
    }

    /// The key of tables of staged rows: where there is none, one row is found as fast.
    pub(crate) fn staging_key(self) -> &'static str {
        match self {
            Self::DuckDb => "",
            Self::Postgres => ", PRIMARY KEY (claim_id, seq)",
        }
    }

    /// A table of whole numbers, separated by commas, in a column `name`.
    pub(crate) fn numbers(self, name: &str, list: &str) -> String {
        let list = match self {
            Self::DuckDb => format!("[{list}]"),
            Self::Postgres => format!("{{{list}}}"),
        };
        format!("(SELECT unnest(CAST({} AS BIGINT[])) AS {name}) AS numbers", literal(&list))
    }

    /// A table of the records of a JSON array.
    pub(crate) fn records(self, json: &str, columns: &[(&str, &str)]) -> String {
        match self {
            Self::DuckDb => {
                let fields: Vec<String> = columns.iter().map(|(name, kind)| format!("\"{name}\":\"{kind}\"")).collect();
                let shape = literal(&format!("[{{{}}}]", fields.join(",")));
                format!("(SELECT unnest(from_json({}, {shape}), recursive := true))", literal(json))
            }
            Self::Postgres => {
                let fields: Vec<String> = columns.iter().map(|(name, kind)| format!("{name} {kind}")).collect();
                format!("(SELECT * FROM json_to_recordset({}) AS r({}))", literal(json), fields.join(", "))
            }
        }
    }

    /// A table of texts: `text`, and `ord` from 1.
    pub(crate) fn texts(self, texts: &[String]) -> String {
        let json = literal(&serde_json::Value::from(texts).to_string());
        match self {
            Self::DuckDb => format!(
                "(SELECT unnest(list) AS text, generate_subscripts(list, 1) AS ord \
                 FROM (SELECT from_json({json}, '[\"VARCHAR\"]') AS list))"
            ),
            Self::Postgres => {
                format!("(SELECT * FROM json_array_elements_text({json}) WITH ORDINALITY AS r(text, ord))")
            }
        }
    }
}

/// A value of a template.
#[derive(Clone, Copy)]
pub(crate) enum Arg<'a> {
    /// A text.
    Text(&'a str),
    /// A text or NULL.
    Maybe(Option<&'a str>),
    /// A number.
    Number(i64),
    /// A piece of SQL of our own.
    Sql(&'a str),
}

impl Arg<'_> {
    fn sql(self) -> String {
        match self {
            Self::Text(text) | Self::Maybe(Some(text)) => literal(&without_nul(text)),
            Self::Number(number) => number.to_string(),
            Self::Maybe(None) => "CAST(NULL AS VARCHAR)".to_owned(),
            Self::Sql(sql) => sql.to_owned(),
        }
    }
}

/// No database here stores a NUL byte in a text.
pub(crate) fn without_nul(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

/// Fills `template`; what is put in is not looked at again. A name without a value is a mistake of ours.
pub(crate) fn fill(template: &str, args: &[(&str, Arg<'_>)]) -> String {
    let mut filled = String::with_capacity(template.len() * 2);
    let mut rest = template;
    while let Some(open) = rest.find('{') {
        let close = open + rest[open..].find('}').expect("a template closes its braces");
        let name = &rest[open + 1..close];
        let arg = args.iter().find(|(known, _)| *known == name);
        let (_, arg) = arg.unwrap_or_else(|| panic!("no value for {{{name}}}"));
        filled.push_str(&rest[..open]);
        filled.push_str(&arg.sql());
        rest = &rest[close + 1..];
    }
    filled.push_str(rest);
    filled
}

#[cfg(test)]
mod tests {
    use super::{Arg, Dialect, fill};

    #[test]
    fn values_are_literals_and_are_not_expanded_again() {
        let args = [("a", Arg::Text("it's {b}\0")), ("b", Arg::Number(-1)), ("c", Arg::Maybe(None))];
        assert_eq!(fill("x = {a}, {b}, {c}", &args), "x = 'it''s {b}\u{fffd}', -1, CAST(NULL AS VARCHAR)");
    }

    #[test]
    fn sources_of_rows_quote_their_json() {
        assert!(Dialect::DuckDb.texts(&["it's".to_owned()]).contains("'[\"it''s\"]'"));
        let records = Dialect::Postgres.records("[]", &[("seq", "BIGINT"), ("status", "TEXT")]);
        assert_eq!(records, "(SELECT * FROM json_to_recordset('[]') AS r(seq BIGINT, status TEXT))");
    }
}
