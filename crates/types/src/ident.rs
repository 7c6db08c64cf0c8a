//! Names and texts in other forms: as SQL, as hex digits.

/// Whether `text` is a plain ASCII identifier: a letter or `_`, then letters, digits or `_`.
pub fn is_identifier(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// `name` as a quoted SQL identifier; always quoted, so keywords and mixed case are safe.
pub fn quote(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// `schema.name` as people write it; a part that holds a point is quoted, so that no two tables share a text.
pub fn dotted(schema: &str, name: &str) -> String {
    let part = |part: &str| if part.contains(['.', '"']) { quote(part) } else { part.to_owned() };
    format!("{}.{}", part(schema), part(name))
}

/// The two parts of a name that [`dotted`] has written; `None` for any other text.
pub fn undotted(name: &str) -> Option<(String, String)> {
    let (schema, rest) = part(name)?;
    let (name, rest) = part(rest.strip_prefix('.')?)?;
    rest.is_empty().then_some((schema, name))
}

/// The part at the beginning of a name, and what stands behind it.
fn part(text: &str) -> Option<(String, &str)> {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find(['.', '"']).unwrap_or(text.len());
        return (end > 0).then(|| (text[..end].to_owned(), &text[end..]));
    };
    let mut from = 0;
    loop {
        let end = from + quoted[from..].find('"')?;
        if !quoted[end + 1..].starts_with('"') {
            return Some((quoted[..end].replace("\"\"", "\""), &quoted[end + 1..]));
        }
        from = end + 2;
    }
}

/// `text` as a single-quoted SQL string literal.
pub fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// Two lower-case hex digits a byte.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// FNV-1a of 64 bits: the same on every machine and in every version. No secret depends on it.
pub fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |sum, &byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::{dotted, is_identifier, literal, quote, undotted};

    #[test]
    fn identifiers_are_ascii_words_that_do_not_start_with_a_digit() {
        assert!(is_identifier("_a1") && is_identifier("Order"));
        assert!(!is_identifier("") && !is_identifier("1a") && !is_identifier("é") && !is_identifier("a b"));
    }

    #[test]
    fn what_was_joined_by_a_point_comes_apart_again() {
        for (schema, name) in [("raw", "orders"), ("a.b", "c"), ("a", "b.\"c\""), ("\"", "\".\""), ("日本", "x y")] {
            assert_eq!(undotted(&dotted(schema, name)), Some((schema.to_owned(), name.to_owned())));
        }
        for other in ["", "a", "a.b.c", ".a", "a.", "\"a.b", "a\"b.c", "read_csv()"] {
            assert_eq!(undotted(other), None, "{other}");
        }
    }

    #[test]
    fn quoting_doubles_the_delimiter() {
        assert_eq!(quote("a\"b"), "\"a\"\"b\"");
        assert_eq!(literal("it's"), "'it''s'");
    }
}
