//! Where expressions stand with the brackets around them, which spans of the syntax tree leave out.

use std::ops::Range;

use starlark_syntax::codemap::Span;

use crate::parse::bytes;
use crate::scanner::{Scanner, Token, TokenKind};

/// The words and signs of a text, without blanks and comments.
pub(super) struct Regions<'a> {
    text: &'a str,
    tokens: Vec<Token>,
}

impl<'a> Regions<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        let mut tokens = Scanner::new(text, 0).tokens();
        let is_code = |token: &Token| match token.kind {
            TokenKind::Text | TokenKind::Word => true,
            TokenKind::Other => &text[token.start..token.end] != "\\",
            _ => false,
        };
        tokens.retain(is_code);
        Self { text, tokens }
    }

    /// An expression with the brackets that its span cuts through.
    pub(super) fn of_span(&self, span: Span) -> Range<usize> {
        self.balanced(bytes(span))
    }

    /// The two operands of an operator, each with the brackets around it, and the operator between them.
    pub(super) fn of_operands(&self, left: Span, right: Span) -> (Range<usize>, Range<usize>, Range<usize>) {
        let operator = self.between(bytes(left).end, bytes(right).start);
        let left = self.balanced(bytes(left).start..operator.start);
        let right = self.balanced(operator.end..bytes(right).end);
        (left, operator, right)
    }

    /// The value that an attribute is taken of, the dot with the name, and the bracket that opens right behind it.
    pub(super) fn of_attribute(&self, receiver: Span, name: Span) -> (Range<usize>, Range<usize>, Option<usize>) {
        let name = bytes(name);
        let at = self.tokens.partition_point(|token| token.start < name.start);
        let dot = at.checked_sub(1).map_or(name.start, |before| self.tokens[before].start);
        let next = self.tokens.get(at + 1).filter(|token| self.word(token) == "(");
        (self.balanced(bytes(receiver).start..dot), dot..name.end, next.map(|token| token.end))
    }

    fn word(&self, token: &Token) -> &str {
        &self.text[token.start..token.end]
    }

    /// What is no bracket between two operands.
    fn between(&self, start: usize, end: usize) -> Range<usize> {
        let from = self.tokens.partition_point(|token| token.start < start);
        let operator = self.tokens[from..].iter().take_while(|token| token.start < end);
        let mut operator = operator.filter(|token| !matches!(self.word(token), "(" | ")"));
        let first = operator.next().map_or(start..start, |token| token.start..token.end);
        first.start..operator.last().map_or(first.end, |token| token.end)
    }

    /// A range, extended to both sides until every bracket in it has its other half.
    fn balanced(&self, range: Range<usize>) -> Range<usize> {
        let first = self.tokens.partition_point(|token| token.start < range.start);
        let end = self.tokens.partition_point(|token| token.start < range.end);
        let (mut open, mut unopened) = (0_usize, 0);
        for token in self.tokens[first..end].iter().filter(|token| token.kind == TokenKind::Other) {
            match self.word(token) {
                "(" | "[" | "{" => open += 1,
                ")" | "]" | "}" if open == 0 => unopened += 1,
                ")" | "]" | "}" => open -= 1,
                _ => {}
            }
        }
        let start = first.checked_sub(unopened).filter(|_| unopened > 0).map(|at| self.tokens[at].start);
        let stop = (end + open).checked_sub(1).filter(|_| open > 0).and_then(|at| self.tokens.get(at));
        start.unwrap_or(range.start)..stop.map_or(range.end, |token| token.end)
    }
}
