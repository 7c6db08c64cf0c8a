//! A lib file's text as its author wrote it, and as the parser reads it.
//!
//! The parser knows no `while`, no tabs and no mark of the encoding. So the text is adapted before it is parsed, and
//! every place is led back to the author's text.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use types::Place;

use crate::scanner::{Scanner, Token, TokenKind};

/// The name that an endless loop runs over; `builtins::globals` defines it.
pub(crate) const FOREVER: &str = "__forever__";
/// Columns between tab stops.
const TAB: usize = 8;

/// A lib file.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    /// Relative to the project.
    pub path: PathBuf,
    /// As it was read.
    pub text: Arc<str>,
    /// As the parser reads it.
    pub adapted: String,
    /// Where pieces of the adapted text begin, in it and in the author's; in order.
    pieces: Vec<Piece>,
    /// Where a `while` stands outside of a function.
    pub stray_while: Option<usize>,
}

#[derive(Debug, Clone, Copy)]
struct Piece {
    adapted: usize,
    original: usize,
    /// Whether the piece is the author's; else all of it stands for one place.
    is_copy: bool,
}

impl Source {
    pub(crate) fn new(path: &Path, text: Arc<str>) -> Self {
        let mut adapter =
            Adapter { text: &text, out: String::with_capacity(text.len() + 64), pieces: Vec::new(), stray: None };
        adapter.run();
        let (adapted, pieces, stray_while) = (adapter.out, adapter.pieces, adapter.stray);
        Self { path: path.to_owned(), text, adapted, pieces, stray_while }
    }

    /// The place in the author's text of bytes of the adapted one.
    pub(crate) fn place(&self, begin: usize, end: usize) -> Place {
        let start = self.original(begin);
        let last = self.original(end.saturating_sub(1).max(begin));
        Place::new(&self.path, Arc::clone(&self.text), start..(last + 1).max(start))
    }

    fn original(&self, at: usize) -> usize {
        let index = self.pieces.partition_point(|piece| piece.adapted <= at);
        let Some(piece) = index.checked_sub(1).and_then(|index| self.pieces.get(index)) else { return 0 };
        if piece.is_copy { piece.original + (at - piece.adapted) } else { piece.original }
    }
}

/// Writes the adapted text.
struct Adapter<'a> {
    text: &'a str,
    out: String,
    pieces: Vec<Piece>,
    stray: Option<usize>,
}

impl Adapter<'_> {
    fn run(&mut self) {
        let start = if self.text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        let tokens = Scanner::new(self.text, start).tokens();
        let mut at = 0;
        while at < tokens.len() {
            at = match self.loop_at(&tokens, at) {
                Some(next) => next,
                None => {
                    self.token(&tokens[at]);
                    at + 1
                }
            };
        }
    }

    /// Writes a token.
    fn token(&mut self, token: &Token) {
        match token.kind {
            TokenKind::Indent => self.insert(token.start, &" ".repeat(width(&self.text[token.start..token.end]))),
            TokenKind::Space => self.insert(token.start, " "),
            TokenKind::Newline => self.insert(token.start, "\n"),
            _ => self.copy(token.start, token.end),
        }
    }

    /// Writes the head of a `while` loop that begins with the token at `at`, and gives the token after it:
    ///
    /// ```text
    /// while COND:            for __while__ in __forever__:
    ///     BODY          →        if not (COND): break
    ///                            BODY
    /// ```
    fn loop_at(&mut self, tokens: &[Token], at: usize) -> Option<usize> {
        let word = &tokens[at];
        if word.kind != TokenKind::Word || !word.begins_line || &self.text[word.start..word.end] != "while" {
            return None;
        }
        let colon = colon_after(self.text, tokens, at + 1)?;
        let indent = self.out.len() - self.out.rfind('\n').map_or(0, |line| line + 1);
        if indent == 0 {
            self.stray.get_or_insert(word.start);
        }
        let body = body_after(self.text, tokens, colon + 1);
        self.insert(word.start, &format!("for __while__ in {FOREVER}"));
        self.token(&tokens[colon]);
        let (depth, is_inline) = match body {
            Body::Inline => (indent + 4, true),
            Body::Block(depth) if depth > indent => (depth, false),
            // The parser says what is missing.
            _ => return Some(colon + 1),
        };
        self.insert(word.start, &format!("\n{}if not (", " ".repeat(depth)));
        tokens[at + 1..colon].iter().for_each(|token| self.token(token));
        self.insert(word.start, "): break");
        if is_inline {
            self.insert(word.start, &format!("\n{}", " ".repeat(depth)));
            let is_blank = |token: &&Token| matches!(&self.text[token.start..token.end], " " | "\t");
            return Some(colon + 1 + tokens[colon + 1..].iter().take_while(is_blank).count());
        }
        Some(colon + 1)
    }

    fn copy(&mut self, start: usize, end: usize) {
        let follows = self
            .pieces
            .last()
            .is_some_and(|piece| piece.is_copy && piece.original + (self.out.len() - piece.adapted) == start);
        if !follows {
            self.pieces.push(Piece { adapted: self.out.len(), original: start, is_copy: true });
        }
        self.out.push_str(&self.text[start..end]);
    }

    fn insert(&mut self, original: usize, text: &str) {
        self.pieces.push(Piece { adapted: self.out.len(), original, is_copy: false });
        self.out.push_str(text);
    }
}

/// Columns of an indentation.
fn width(indent: &str) -> usize {
    indent.chars().fold(0, |width, c| if c == '\t' { (width / TAB + 1) * TAB } else { width + 1 })
}

/// The colon that ends a condition.
fn colon_after(text: &str, tokens: &[Token], from: usize) -> Option<usize> {
    let mut lambdas = 0;
    for (at, token) in tokens.iter().enumerate().skip(from) {
        match (token.kind, &text[token.start..token.end]) {
            (TokenKind::Newline, _) if token.depth == 0 => return None,
            (TokenKind::Word, "lambda") if token.depth == 0 => lambdas += 1,
            (TokenKind::Other, ":") if token.depth == 0 && lambdas == 0 => return Some(at),
            (TokenKind::Other, ":") if token.depth == 0 => lambdas -= 1,
            _ => {}
        }
    }
    None
}

enum Body {
    /// On the same line.
    Inline,
    /// On lines of their own, so deep.
    Block(usize),
    Missing,
}

fn body_after(text: &str, tokens: &[Token], from: usize) -> Body {
    let mut indent = None;
    for token in &tokens[from.min(tokens.len())..] {
        match token.kind {
            TokenKind::Newline => indent = Some(0),
            TokenKind::Indent => indent = Some(width(&text[token.start..token.end])),
            TokenKind::Space | TokenKind::Comment => {}
            TokenKind::Other if text[token.start..].starts_with(' ') => {}
            _ => return indent.map_or(Body::Inline, Body::Block),
        }
    }
    Body::Missing
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::Source;

    fn adapted(text: &str) -> String {
        Source::new(Path::new("lib/x.star"), text.into()).adapted
    }

    #[test]
    fn loops_become_endless_ones_with_a_way_out() {
        assert_eq!(
            adapted("def f():\n    while x < 3:\n        x += 1\n    return x\n"),
            "def f():\n    for __while__ in __forever__:\n        if not ( x < 3): break\n        x += 1\n    return x\n"
        );
        assert_eq!(
            adapted("def f():\n  while a: b(); c()\n"),
            "def f():\n  for __while__ in __forever__:\n      if not ( a): break\n      b(); c()\n"
        );
        // Nested, with a condition over several lines, a comment and an empty line before the body.
        assert_eq!(
            adapted("def f():\n  while (a and\n    b):  # why\n\n    while not c:\n      d()\n"),
            "def f():\n  for __while__ in __forever__:\n    if not ( (a and\n    b)): break  # why\n\n    \
             for __while__ in __forever__:\n      if not ( not c): break\n      d()\n"
        );
    }

    #[test]
    fn what_only_looks_like_a_loop_stays() {
        for text in [
            "s = \"while x:\"\n",
            "s = '''\nwhile x:\n  y\n'''\n",
            "# while x:\n",
            "def f():\n    a.while_x = 1\n    whiles = 2\n",
            "s = r'\\'\n",
            "d = {\n  'a': 1,\n}\n",
        ] {
            assert_eq!(adapted(text), text);
        }
    }

    #[test]
    fn tabs_line_ends_and_the_mark_of_the_encoding_are_adapted() {
        assert_eq!(
            adapted("\u{feff}def f():\r\n\tif\tx:\r\n\t  return\t'\t'\r\n"),
            "def f():\n        if x:\n          return '\t'\n"
        );
    }

    #[test]
    fn places_lead_back_to_the_author() {
        let text = "\u{feff}def f():\r\n\twhile x < limit:\r\n\t\tx += wrong\r\n";
        let source = Source::new(Path::new("lib/x.star"), text.into());
        for word in ["limit", "wrong", "def"] {
            let at = source.adapted.find(word).unwrap();
            let place = source.place(at, at + word.len());
            assert_eq!(&text[place.span()], word);
        }
        let place = source.place(source.adapted.find("__forever__").unwrap(), 0);
        assert_eq!((place.line(), &text[place.span()]), (2, "w"));
    }

    #[test]
    fn a_loop_without_a_body_is_left_to_the_parser() {
        assert_eq!(
            adapted("def f():\n    while x:\n    return 1\n"),
            "def f():\n    for __while__ in __forever__:\n    return 1\n"
        );
        assert!(Source::new(Path::new("a"), "while x:\n  y()\n".into()).stray_while.is_some());
    }
}
