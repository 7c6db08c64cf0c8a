//! The coarse tokens of Starlark: enough to know texts and comments from code, and where lines begin.

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
    /// One tab between words; other blanks are `Other`.
    Space,
    /// The end of a line, in whichever form.
    Newline,
    Comment,
    Text,
    /// A name, a keyword or a number.
    Word,
    Other,
}

pub(crate) struct Scanner<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    /// Whether nothing but blanks was seen of the logical line.
    is_fresh: bool,
    tokens: Vec<Token>,
}

impl<'a> Scanner<'a> {
    pub(crate) fn new(text: &'a str, start: usize) -> Self {
        Self { text, at: start, depth: 0, is_fresh: true, tokens: Vec::new() }
    }

    pub(crate) fn tokens(mut self) -> Vec<Token> {
        self.indent();
        while let Some(c) = self.rest().chars().next() {
            match c {
                '\n' | '\r' => self.newline(),
                '#' => self.push(TokenKind::Comment, self.rest().find(['\n', '\r']).unwrap_or(self.rest().len())),
                '\t' => self.push(TokenKind::Space, 1),
                '\'' | '"' => self.push(TokenKind::Text, text_length(self.rest())),
                '(' | '[' | '{' => {
                    self.push(TokenKind::Other, 1);
                    self.depth += 1;
                }
                ')' | ']' | '}' => {
                    self.depth = self.depth.saturating_sub(1);
                    self.push(TokenKind::Other, 1);
                }
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
        let is_blank = matches!(kind, TokenKind::Indent | TokenKind::Space | TokenKind::Newline | TokenKind::Comment)
            || self.rest().starts_with(' ');
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
        let length = if self.rest().starts_with("\r\n") { 2 } else { 1 };
        self.push(TokenKind::Newline, length);
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
        let length = if self.rest().starts_with("\r\n") { 2 } else { 1 };
        let depth = std::mem::replace(&mut self.depth, 1);
        self.push(TokenKind::Newline, length);
        self.depth = depth;
    }

    /// A name, or the prefix of a text.
    fn word(&mut self) {
        let rest = self.rest();
        let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let word = &rest[..length];
        let is_prefix =
            length <= 2 && word.chars().all(|c| "rRbBfF".contains(c)) && rest[length..].starts_with(['\'', '"']);
        if is_prefix {
            self.push(TokenKind::Text, length + text_length(&rest[length..]));
        } else {
            self.push(TokenKind::Word, length);
        }
    }
}

/// Bytes of the text that begins here with its quote; one that is not closed ends with its line. A backslash keeps
/// the quote behind it in the text, in raw texts too.
fn text_length(text: &str) -> usize {
    let quote = &text[..1];
    let triple = quote.repeat(3);
    let is_triple = text.starts_with(&triple);
    let mut at = if is_triple { 3 } else { 1 };
    while at < text.len() {
        let rest = &text[at..];
        if rest.starts_with('\\') {
            at += 1 + rest[1..].chars().next().map_or(0, char::len_utf8);
        } else if is_triple && rest.starts_with(&triple) {
            return at + 3;
        } else if !is_triple && rest.starts_with(quote) {
            return at + 1;
        } else if !is_triple && rest.starts_with('\n') {
            return at;
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    text.len()
}
