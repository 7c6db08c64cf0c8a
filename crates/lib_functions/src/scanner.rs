//! The coarse tokens of Starlark: enough to know texts and comments from code, and where lines begin.

/// Columns between tab stops.
const TAB: usize = 8;

/// A piece of a text; all of them together are the text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Token {
    pub kind: TokenKind,
    pub start: usize,
    pub end: usize,
    /// How many brackets are open before it.
    pub depth: usize,
    /// Whether it is the first of a logical line, blanks aside.
    pub begins_line: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// Blanks at the beginning of a line, outside of brackets.
    Indent,
    /// One blank between words.
    Space,
    /// The end of a line, in whichever form.
    Newline,
    Comment,
    /// A text, or a part of an f-string between its expressions.
    Text,
    /// A name, a keyword or a number.
    Word,
    /// One character of anything else.
    Other,
}

pub(crate) struct Scanner<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    /// Whether nothing but blanks was seen of the logical line.
    is_fresh: bool,
    /// The f-strings in whose expressions the scanner is: their quotes, and the depth of the expression.
    open: Vec<(&'a str, usize)>,
    tokens: Vec<Token>,
}

impl<'a> Scanner<'a> {
    pub(crate) fn new(text: &'a str, start: usize) -> Self {
        Self { text, at: start, depth: 0, is_fresh: true, open: Vec::new(), tokens: Vec::new() }
    }

    pub(crate) fn tokens(mut self) -> Vec<Token> {
        self.indent();
        while let Some(c) = self.rest().chars().next() {
            match c {
                '\n' | '\r' => self.newline(),
                '#' => self.push(TokenKind::Comment, self.rest().find(['\n', '\r']).unwrap_or(self.rest().len())),
                '\t' | ' ' => self.push(TokenKind::Space, 1),
                '\'' | '"' => self.string(0, false),
                '(' | '[' | '{' => {
                    self.push(TokenKind::Other, 1);
                    self.depth += 1;
                }
                ')' | ']' | '}' => self.closing(c),
                '\\' if self.rest()[1..].starts_with(['\n', '\r']) => self.continuation(),
                c if c.is_alphanumeric() || c == '_' => self.word(),
                c => self.push(TokenKind::Other, c.len_utf8()),
            }
        }
        self.tokens
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn push(&mut self, kind: TokenKind, length: usize) {
        let is_blank = matches!(kind, TokenKind::Indent | TokenKind::Space | TokenKind::Newline | TokenKind::Comment);
        self.tokens.push(Token {
            kind,
            start: self.at,
            end: self.at + length,
            depth: self.depth,
            begins_line: self.is_fresh && !is_blank,
        });
        self.is_fresh &= is_blank;
        self.at += length;
    }

    fn newline(&mut self) {
        self.push(TokenKind::Newline, line_end(self.rest()));
        if self.depth == 0 {
            self.is_fresh = true;
            self.indent();
        }
    }

    fn indent(&mut self) {
        let length = self.rest().find(|c| c != ' ' && c != '\t').unwrap_or(self.rest().len());
        if length > 0 {
            self.push(TokenKind::Indent, length);
        }
    }

    /// A backslash at the end of a line: the next one goes on with it.
    fn continuation(&mut self) {
        self.push(TokenKind::Other, 1);
        self.depth += 1;
        self.push(TokenKind::Newline, line_end(self.rest()));
        self.depth -= 1;
    }

    /// A bracket, or the end of an expression in an f-string.
    fn closing(&mut self, bracket: char) {
        self.depth = self.depth.saturating_sub(1);
        match self.open.last() {
            Some(&(quote, depth)) if bracket == '}' && depth == self.depth => {
                self.open.pop();
                self.f_string(1, quote);
            }
            _ => self.push(TokenKind::Other, 1),
        }
    }

    /// A name, or a text with its prefix.
    fn word(&mut self) {
        let rest = self.rest();
        let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let word = &rest[..length];
        let is_prefix = matches!(word, "r" | "b" | "br" | "rb" | "f" | "fr");
        if is_prefix && rest[length..].starts_with(['\'', '"']) {
            self.string(length, word.starts_with('f'));
        } else {
            self.push(TokenKind::Word, length);
        }
    }

    /// A text whose quote stands behind so many bytes.
    fn string(&mut self, prefix: usize, is_f_string: bool) {
        let rest = &self.rest()[prefix..];
        let is_triple = rest.starts_with("'''") || rest.starts_with("\"\"\"");
        let quote = &rest[..if is_triple { 3 } else { 1 }];
        if is_f_string {
            self.f_string(prefix + quote.len(), quote);
        } else {
            let (length, _) = text_length(&rest[quote.len()..], quote, false);
            self.push(TokenKind::Text, prefix + quote.len() + length);
        }
    }

    /// The part of an f-string up to its end or to its next expression; `done` bytes of it were looked at.
    fn f_string(&mut self, done: usize, quote: &'a str) {
        let (length, is_expression) = text_length(&self.rest()[done..], quote, true);
        self.push(TokenKind::Text, done + length);
        if is_expression {
            self.open.push((quote, self.depth));
            self.depth += 1;
        }
    }
}

/// Columns of an indentation.
pub(crate) fn width(indent: &str) -> usize {
    indent.chars().fold(0, |width, c| if c == '\t' { (width / TAB + 1) * TAB } else { width + 1 })
}

/// Bytes of the line's end that stands here.
fn line_end(text: &str) -> usize {
    if text.starts_with("\r\n") { 2 } else { 1 }
}

/// Bytes of a text up to behind its closing quote, and whether they end with the bracket of an expression instead. A
/// text that is not closed ends with its line. A backslash keeps what is behind it in the text, in raw texts too.
fn text_length(text: &str, quote: &str, has_expressions: bool) -> (usize, bool) {
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        match c {
            '\\' if rest[1..].starts_with("\r\n") => at += 3,
            '\\' => at += 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
            _ if rest.starts_with(quote) => return (at + quote.len(), false),
            '\n' if quote.len() == 1 => return (at, false),
            '{' if has_expressions && rest.starts_with("{{") => at += 2,
            '{' if has_expressions => return (at + 1, true),
            c => at += c.len_utf8(),
        }
    }
    (text.len(), false)
}
