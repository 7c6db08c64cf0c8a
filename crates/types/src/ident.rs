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
    use super::{is_identifier, literal, quote};

    #[test]
    fn identifiers_are_ascii_words_that_do_not_start_with_a_digit() {
        assert!(is_identifier("_a1") && is_identifier("Order"));
        assert!(!is_identifier("") && !is_identifier("1a") && !is_identifier("é") && !is_identifier("a b"));
    }

    #[test]
    fn quoting_doubles_the_delimiter() {
        assert_eq!(quote("a\"b"), "\"a\"\"b\"");
        assert_eq!(literal("it's"), "'it''s'");
    }
}
