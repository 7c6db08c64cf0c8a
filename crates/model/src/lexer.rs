//! Splits SQL text into comments, literals, names and the rest. It knows where a semicolon or a comment
//! sign is only text; it never judges grammar (that is the engine's syntax tree).

use std::ops::Range;

use crate::scan::{
    block_comment_length, dollar_quoted_length, dollar_tag_length, escaped_length, is_blank, is_name_start,
    line_comment_length, name_length, number_length, quoted_length, run_length,
};

/// What a piece of SQL text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenKind {
    /// Blanks and line breaks.
    Space,
    /// `-- …` up to the line's end.
    LineComment,
    /// `/* … */`, nested ones included.
    BlockComment,
    /// `'…'` or `e'…'` or `$tag$…$tag$`.
    Text,
    /// `"…"`.
    QuotedName,
    /// An unquoted name, keyword or number.
    Word,
    /// `;` outside everything else.
    Semicolon,
    /// Any other character.
    Symbol,
}

/// One piece of SQL text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// Its bytes in the text.
    pub span: Range<usize>,
}

impl Token {
    /// Whether the piece is neither blank nor comment.
    pub fn is_code(&self) -> bool {
        !matches!(self.kind, TokenKind::Space | TokenKind::LineComment | TokenKind::BlockComment)
    }
}

/// All pieces of `sql`, without gaps. An unclosed literal or comment reaches to the end.
pub fn tokens(sql: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < sql.len() {
        let (kind, len) = next_token(&sql[at..]);
        tokens.push(Token { kind, span: at..at + len });
        at += len;
    }
    tokens
}

fn next_token(rest: &str) -> (TokenKind, usize) {
    let Some(first) = rest.chars().next() else { return (TokenKind::Symbol, 0) };
    match first {
        c if is_blank(c) => (TokenKind::Space, run_length(rest, is_blank)),
        '-' if rest.starts_with("--") => (TokenKind::LineComment, line_comment_length(rest)),
        '/' if rest.starts_with("/*") => (TokenKind::BlockComment, block_comment_length(rest).unwrap_or(rest.len())),
        '\'' => (TokenKind::Text, quoted_length(rest, '\'')),
        'e' | 'E' if rest[1..].starts_with('\'') => (TokenKind::Text, escaped_length(rest)),
        '"' => (TokenKind::QuotedName, quoted_length(rest, '"')),
        '$' => dollar_quoted_length(rest).map_or((TokenKind::Symbol, 1), |len| (TokenKind::Text, len)),
        ';' => (TokenKind::Semicolon, 1),
        // In `1..2` neither point is one of a number.
        '.' if rest.starts_with("..") => (TokenKind::Symbol, 2),
        c if is_name_start(c) => (TokenKind::Word, name_length(rest)),
        c => number_length(rest).map_or((TokenKind::Symbol, c.len_utf8()), |len| (TokenKind::Word, len)),
    }
}

/// The byte at which a text, quoted name or comment begins that `sql` does not close.
pub fn unclosed(sql: &str) -> Option<usize> {
    let token = tokens(sql).pop()?;
    let text = &sql[token.span.clone()];
    // An open literal swallows whatever comes behind it, a closed one does not.
    let opens = match token.kind {
        TokenKind::BlockComment => block_comment_length(text).is_none(),
        TokenKind::Text | TokenKind::QuotedName => tokens(&format!("{text} ")).len() == 1,
        _ => false,
    };
    opens.then_some(token.span.start)
}

/// The statements of `sql`: the byte ranges between semicolons that hold any code, trimmed of blanks and
/// comments at both ends.
pub fn split_statements(sql: &str) -> Vec<Range<usize>> {
    tokens(sql).split(|token| token.kind == TokenKind::Semicolon).filter_map(trim_to_code).collect()
}

fn trim_to_code(tokens: &[Token]) -> Option<Range<usize>> {
    let first = tokens.iter().find(|token| token.is_code())?;
    let last = tokens.iter().rfind(|token| token.is_code())?;
    Some(first.span.start..last.span.end)
}

/// The words, quoted names and texts of `sql` in lower case, unquoted.
pub fn code_words(sql: &str) -> Vec<String> {
    let code = Code::new(sql);
    let names =
        (0..code.len()).filter(|&at| !matches!(code.kind(at), Some(TokenKind::Symbol | TokenKind::Semicolon) | None));
    names.map(|at| code.value(at).to_lowercase()).collect()
}

/// [`code_words`], and those inside the texts: what `sql` may refer to, also through `query('…')`.
pub fn reachable_words(sql: &str) -> Vec<String> {
    let code = Code::new(sql);
    let texts = (0..code.len()).filter(|&at| code.kind(at) == Some(TokenKind::Text));
    // Every text is shorter than the one around it, so this ends.
    let inner = texts.flat_map(|at| reachable_words(&code.value(at)));
    code_words(sql).into_iter().chain(inner.collect::<Vec<_>>()).collect()
}

/// The pieces of a text that are neither blank nor comment, by their position.
pub struct Code<'a> {
    sql: &'a str,
    tokens: Vec<Token>,
}

impl<'a> Code<'a> {
    /// The code of `sql`.
    pub fn new(sql: &'a str) -> Self {
        Self { sql, tokens: tokens(sql).into_iter().filter(Token::is_code).collect() }
    }

    /// Number of pieces.
    pub fn len(&self) -> usize {
        self.tokens.len()
    }

    /// Whether there is no piece.
    pub fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }

    /// What the piece is; `None` behind the end.
    pub fn kind(&self, at: usize) -> Option<TokenKind> {
        self.tokens.get(at).map(|token| token.kind)
    }

    /// The piece as written; empty behind the end.
    pub fn text(&self, at: usize) -> &'a str {
        self.tokens.get(at).map_or("", |token| &self.sql[token.span.clone()])
    }

    /// The byte at which the piece begins; the text's end behind it.
    pub fn start(&self, at: usize) -> usize {
        self.tokens.get(at).map_or(self.sql.len(), |token| token.span.start)
    }

    /// Whether the piece is one of `words`, in any case.
    pub fn is(&self, at: usize, words: &[&str]) -> bool {
        words.iter().any(|word| self.text(at).eq_ignore_ascii_case(word))
    }

    /// What the piece means: a name or text without its quotes, anything else as written.
    pub fn value(&self, at: usize) -> String {
        let text = self.text(at);
        let inner = |text: &str, mark: char| {
            let opened = text.strip_prefix(mark).unwrap_or(text);
            opened.strip_suffix(mark).unwrap_or(opened).replace(&format!("{mark}{mark}"), &mark.to_string())
        };
        match self.kind(at) {
            Some(TokenKind::QuotedName) => inner(text, '"'),
            Some(TokenKind::Text) if text.starts_with('$') => {
                let tag = dollar_tag_length(text).unwrap_or(0);
                let end = text.len().saturating_sub(tag).max(tag);
                text.get(tag..end).unwrap_or_default().to_owned()
            }
            Some(TokenKind::Text) => inner(text.trim_start_matches(['e', 'E']), '\''),
            _ => text.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{TokenKind, code_words, reachable_words, split_statements, tokens, unclosed};

    fn statements(sql: &str) -> Vec<&str> {
        split_statements(sql).into_iter().map(|range| &sql[range]).collect()
    }

    #[test]
    fn semicolons_in_texts_names_comments_and_dollar_quotes_do_not_split() {
        assert_eq!(statements("SELECT 1; -- done"), ["SELECT 1"]);
        assert_eq!(statements("SELECT $$a;b$$"), ["SELECT $$a;b$$"]);
        assert_eq!(statements("SELECT $x$a;$$b$x$;;"), ["SELECT $x$a;$$b$x$"]);
        assert_eq!(
            statements("SELECT ';', \"a;\"\"b\", 'it''s;' /* ; /* ; */ ; */ -- ;\n, e'\\';'; x"),
            ["SELECT ';', \"a;\"\"b\", 'it''s;' /* ; /* ; */ ; */ -- ;\n, e'\\';'", "x"]
        );
        assert_eq!(statements(" -- nothing\n ; /* at all */ "), Vec::<&str>::new());
    }

    #[test]
    fn what_is_not_closed_is_found() {
        for (sql, at) in [
            ("SELECT 1 /* x", 9),
            ("SELECT 'x", 7),
            ("SELECT 'x''", 7),
            ("SELECT \"x", 7),
            ("/* /* */", 0),
            ("SELECT $t$x", 7),
        ] {
            assert_eq!(unclosed(sql), Some(at), "{sql}");
        }
        for sql in ["SELECT 'x'", "SELECT ''", "SELECT e'\\''", "SELECT \"x\"\"\"", "/* */", "", "SELECT $$x$$"] {
            assert_eq!(unclosed(sql), None, "{sql}");
        }
    }

    #[test]
    fn a_dollar_continues_a_name() {
        assert_eq!(statements("SELECT 1 AS a$b$; SELECT 2 AS c$b$"), ["SELECT 1 AS a$b$", "SELECT 2 AS c$b$"]);
    }

    #[test]
    fn words_are_found_in_texts_of_every_form() {
        assert_eq!(code_words("ATTACH '/data/as/x.db' AS \"C\"\"rm\""), ["attach", "/data/as/x.db", "as", "c\"rm"]);
        for sql in [
            "getvariable('lim')",
            "getvariable($$lim$$)",
            "getvariable(e'lim')",
            "query('SELECT ''a'', lim(1)')",
            "\"LIM\"",
        ] {
            assert!(reachable_words(sql).contains(&"lim".to_owned()), "{sql}: {:?}", reachable_words(sql));
        }
        assert_eq!(statements("SELECT 1 -- c\r, 2"), ["SELECT 1 -- c\r, 2"], "a lone CR ends a comment");
    }

    #[test]
    fn tokens_cover_the_text_without_gaps() {
        let sql = "SELECT é, 'x' -- c\n/* d */ FROM \"t\" WHERE $1 > $";
        let tokens = tokens(sql);
        assert!(tokens.windows(2).all(|pair| pair[0].span.end == pair[1].span.start));
        assert_eq!(tokens.last().map(|token| token.span.end), Some(sql.len()));
        assert_eq!(tokens[2].kind, TokenKind::Word);
    }
}
