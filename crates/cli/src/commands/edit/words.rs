//! A command line in one text, like that of `EDITOR`, split as a shell would.

/// The words of a command line: blanks part them, quotes and backslashes keep what they hold together. Nothing is
/// expanded. `None` if a quote is not closed, or a backslash stands at the end.
pub(crate) fn words(text: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    // A word may be empty, if it was quoted.
    let mut word: Option<String> = None;
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match c {
            _ if c.is_whitespace() => words.extend(word.take()),
            '\\' => word.get_or_insert_default().push(rest.next()?),
            '\'' => loop {
                match rest.next()? {
                    '\'' => break word.get_or_insert_default().push_str(""),
                    inner => word.get_or_insert_default().push(inner),
                }
            },
            '"' => quoted(&mut rest, word.get_or_insert_default())?,
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Some(words)
}

/// Adds what stands up to the closing double quote.
fn quoted(rest: &mut std::str::Chars<'_>, word: &mut String) -> Option<()> {
    loop {
        match rest.next()? {
            '"' => return Some(()),
            // Within double quotes a backslash is one, except before these.
            '\\' => match rest.next()? {
                c @ ('"' | '\\' | '$' | '`') => word.push(c),
                c => word.extend(['\\', c]),
            },
            c => word.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn words_are_those_of_a_shell() {
        for (text, expected) in [
            ("vim", &["vim"][..]),
            ("  code   --wait\t-n ", &["code", "--wait", "-n"]),
            ("'/opt/my editor/bin' -c 'set nu'", &["/opt/my editor/bin", "-c", "set nu"]),
            (r#""a \"b\" \x" c\ d e"f"g"#, &[r#"a "b" \x"#, "c d", "efg"]),
            ("ed ''", &["ed", ""]),
            ("   ", &[]),
        ] {
            assert_eq!(words(text).unwrap(), expected, "{text}");
        }
        for text in ["'open", "\"open", "ed \\", "\"x\\"] {
            assert_eq!(words(text), None, "{text}");
        }
    }
}
