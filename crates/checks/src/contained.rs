//! Whether a text stays what it is when it stands in SQL: an argument is written into a query between brackets,
//! and must not end them.

use model::{Code, TokenKind, tokens, unclosed};

/// Whether the text, between two brackets, is what these hold and no more: its own brackets come in pairs, its
/// literals end, and it has no comment and no semicolon.
pub(crate) fn is_contained(text: &str) -> bool {
    // Texts of the engine end at NUL.
    if unclosed(text).is_some() || text.contains('\0') {
        return false;
    }
    let mut open = Vec::new();
    for token in tokens(text) {
        let piece = &text[token.span];
        let is_in_order = match (token.kind, piece) {
            (TokenKind::LineComment | TokenKind::BlockComment | TokenKind::Semicolon, _) => false,
            // By what stands before it in the whole statement, the engine may take one for a part of a name.
            (TokenKind::Space, _) if !piece.is_ascii() => false,
            (TokenKind::Symbol, "(" | "[" | "{") => {
                open.push(piece);
                true
            }
            (TokenKind::Symbol, ")") => open.pop() == Some("("),
            (TokenKind::Symbol, "]") => open.pop() == Some("["),
            (TokenKind::Symbol, "}") => open.pop() == Some("{"),
            _ => true,
        };
        if !is_in_order {
            return false;
        }
    }
    open.is_empty()
}

/// Whether the text is one table behind FROM: a name, or a query in brackets.
pub(crate) fn is_table(text: &str) -> bool {
    let query = text.strip_prefix('(').and_then(|text| text.strip_suffix(')'));
    is_name(text) || query.is_some_and(is_contained)
}

/// Whether the text is a name of one to three parts.
fn is_name(text: &str) -> bool {
    let code = Code::new(text);
    let is_part = |at: usize| matches!(code.kind(at), Some(TokenKind::Word | TokenKind::QuotedName));
    let in_order = (0..code.len()).all(|at| if at % 2 == 0 { is_part(at) } else { code.text(at) == "." });
    is_contained(text) && in_order && matches!(code.len(), 1 | 3 | 5)
}

#[cfg(test)]
mod tests {
    use super::{is_contained, is_table};

    #[test]
    fn only_what_ends_its_own_brackets_and_texts_is_contained() {
        for text in [
            "a",
            "a + (b * 2)",
            "\"a ) \"\"b\"",
            "')'",
            "f(a, [1, 2][1])",
            "{'a': 1}",
            "$$)$$",
            "",
            "(SELECT 1)",
            "e'\\')'",
            "count(*) FILTER (WHERE a)",
            "\"--\"",
            "'/*'",
        ] {
            assert!(is_contained(text), "{text}");
        }
        for text in [
            "a)",
            "a) IS NULL OR (1=1",
            "(",
            "(]",
            "[)",
            "a; DROP TABLE t",
            "a -- ",
            "a /* b */",
            "/*",
            "'",
            "\"",
            "$$",
            "a'",
            "e'\\'",
            "a\0b",
            "1e'\\'' ) OR ('",
            "€$$) OR (€$$",
            "1$$ + (2",
            "e'a'\n'\\'' ) OR ('",
            "a\u{a0}+ b",
        ] {
            assert!(!is_contained(text), "{text}");
        }
    }

    #[test]
    fn a_table_is_a_name_of_one_to_three_parts_or_a_query_in_brackets() {
        for text in ["t", "raw.t", "lake.raw.t", "\"my lake\".\"a.b\".t", "raw . t", "(SELECT 1)", "(FROM f(')'))"] {
            assert!(is_table(text), "{text}");
        }
        for text in [
            "",
            "raw.",
            ".t",
            "a.b.c.d",
            "a b",
            "(a) JOIN (b)",
            "(SELECT 1) AS x",
            "(SELECT 1 --)",
            "(",
            "t, u",
            "f()",
            "'t'",
            "t WHERE true",
            "t --",
        ] {
            assert!(!is_table(text), "{text}");
        }
    }
}
