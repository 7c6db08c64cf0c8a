//! Where in a statement's text something stands. A tree knows where expressions begin; where it says nothing
//! of a clause, its first word is looked for, so that an error can point at it.

use model::{Code, TokenKind, location};
use serde_json::Value;

use crate::nodes::{child, class, visit};

/// The byte at which an expression begins: an operator's own place is that of its sign.
pub(crate) fn start(node: &Value) -> Option<usize> {
    let mut first = None;
    visit(node, &mut |node| {
        first = [first, location(node)].into_iter().flatten().min();
        // The star of a `FROM t` without a SELECT stands at 0, wherever that is.
        let is_subquery = class(node) == "SUBQUERY";
        if let Some(operand) = child(node, "child").filter(|_| is_subquery) {
            first = [first, start(operand)].into_iter().flatten().min();
        }
        !is_subquery
    });
    first
}

/// The words of a statement.
pub(crate) struct Words<'a>(Code<'a>);

impl<'a> Words<'a> {
    pub(crate) fn new(sql: &'a str) -> Self {
        Self(Code::new(sql))
    }

    /// The last of `words` in front of the byte `before`; the first at all without one.
    pub(crate) fn clause(&self, words: &[&str], before: Option<usize>) -> Option<usize> {
        let mut found = (0..self.0.len()).filter(|&at| self.is_word(at, words)).map(|at| self.0.start(at));
        match before {
            Some(before) => found.take_while(|&at| at < before).last().or(Some(before)),
            None => found.next(),
        }
    }

    /// The function's name at `offset` as the user wrote it; trees hold it in lower case.
    pub(crate) fn function_name(&self, offset: Option<usize>, name: &str) -> String {
        let first = offset.and_then(|offset| (0..self.0.len()).find(|&at| self.0.start(at) == offset));
        // Behind a catalog and a schema, each with its point.
        let mut parts = first.into_iter().flat_map(|first| [first, first + 2, first + 4]).map(|at| self.0.value(at));
        parts.find(|part| part.eq_ignore_ascii_case(name)).unwrap_or_else(|| name.to_owned())
    }

    /// `WINDOW name AS (`: a tree keeps nothing of a window that no expression uses.
    pub(crate) fn window(&self) -> Option<usize> {
        let code = &self.0;
        let is_clause = |at: usize| {
            self.is_word(at, &["window"])
                && matches!(code.kind(at + 1), Some(TokenKind::Word | TokenKind::QuotedName))
                && code.is(at + 2, &["as"])
                && code.is(at + 3, &["("])
        };
        (0..code.len()).find(|&at| is_clause(at)).map(|at| code.start(at))
    }

    /// The star of `name(*)`, the call at `offset`: a tree keeps nothing of it.
    pub(crate) fn star_argument(&self, offset: Option<usize>) -> Option<usize> {
        let code = &self.0;
        let name = (0..code.len()).find(|&at| Some(code.start(at)) == offset)?;
        let open = (name..code.len()).find(|&at| code.is(at, &["("]))?;
        (code.is(open + 1, &["*"]) && code.is(open + 2, &[")"])).then(|| code.start(open + 1))
    }

    fn is_word(&self, at: usize, words: &[&str]) -> bool {
        self.0.kind(at) == Some(TokenKind::Word) && self.0.is(at, words)
    }
}
