//! Bounds how deep a file nests: parser and interpreter recurse, and a thread's stack is finite.

use crate::scanner::{Token, TokenKind, width};

/// Most that may be open at a place, in operators: some 80 brackets, 100 blocks or 800 `+`. A unit is up to 2 KiB of
/// stack in a debug build, and a thread has 2 MiB if nobody asks for more.
const MAX: usize = 800;
/// What a bracket or a block counts, beside its operator.
const LEVEL: usize = 8;
/// What an `elif` counts, which is within the `else` of the one before.
const BRANCH: usize = 4;

/// Where a text nests too deep: brackets in brackets, blocks in blocks, or an expression of too many operators.
pub(crate) fn too_deep(text: &str, tokens: &[Token]) -> Option<usize> {
    let mut nesting = Nesting::default();
    let is_too_deep = |token: &&Token| nesting.add(token, &text[token.start..token.end]) > MAX;
    tokens.iter().find(is_too_deep).map(|token| token.start)
}

/// What is open at a place.
#[derive(Default)]
struct Nesting {
    /// Operators of the expressions that are open, outermost first: one for each bracket.
    operators: Vec<usize>,
    /// Columns of the blocks that are open, each with the weight of the `elif`s that followed each other.
    blocks: Vec<(usize, usize)>,
    column: usize,
    /// The sum of both.
    weight: usize,
}

impl Nesting {
    /// Adds a token and gives the weight of all that is open.
    fn add(&mut self, token: &Token, word: &str) -> usize {
        match token.kind {
            TokenKind::Newline if token.depth == 0 => self.column = 0,
            TokenKind::Indent => self.column = width(word),
            TokenKind::Space | TokenKind::Newline | TokenKind::Comment => {}
            TokenKind::Text | TokenKind::Word | TokenKind::Other => self.code(token, word),
        }
        self.weight
    }

    fn code(&mut self, token: &Token, word: &str) {
        if token.begins_line {
            self.line(word);
        }
        let level = token.depth + 1;
        while self.operators.len() > level {
            self.weight -= self.operators.pop().unwrap_or_default();
        }
        while self.operators.len() < level {
            self.operators.push(LEVEL);
            self.weight += LEVEL;
        }
        let innermost = &mut self.operators[level - 1];
        if word == "," {
            self.weight -= *innermost - LEVEL;
            *innermost = LEVEL;
        } else {
            let weight = operator_weight(token.kind, word);
            self.weight += weight;
            *innermost += weight;
        }
    }

    /// A logical line begins with this word.
    fn line(&mut self, word: &str) {
        self.operators.clear();
        self.blocks.retain(|(column, _)| *column <= self.column);
        if self.blocks.last().is_none_or(|(column, _)| *column < self.column) {
            self.blocks.push((self.column, LEVEL));
        }
        match (word, self.blocks.last_mut()) {
            ("elif", Some((_, branches))) => *branches += BRANCH,
            ("else", _) | (_, None) => {}
            (_, Some((_, branches))) => *branches = LEVEL,
        }
        self.weight = self.blocks.iter().map(|(_, branches)| branches).sum();
    }
}

fn operator_weight(kind: TokenKind, word: &str) -> usize {
    match word {
        "not" => 2,
        "and" | "or" | "in" | "if" | "else" | "for" | "lambda" => 1,
        _ => usize::from(kind == TokenKind::Other),
    }
}

#[cfg(test)]
mod tests {
    use super::too_deep;
    use crate::scanner::Scanner;

    fn is_too_deep(text: &str) -> bool {
        too_deep(text, &Scanner::new(text, 0).tokens()).is_some()
    }

    #[test]
    fn what_recurses_is_bounded() {
        let blocks =
            |levels: usize| -> String { (0..levels).map(|level| format!("{}if x:\n", " ".repeat(level))).collect() };
        for (most, text) in [
            (85, &(|n| format!("{}{}", "[".repeat(n), "]".repeat(n))) as &dyn Fn(usize) -> String),
            (85, &|n| "f(".repeat(n)),
            (95, &|n| "f\"{".repeat(n)),
            (95, &blocks),
            (780, &|n| format!("{}1", "1 + ".repeat(n))),
            (780, &|n| format!("{}1", "- ".repeat(n))),
            (390, &|n| format!("{}1", "not ".repeat(n))),
            (390, &|n| format!("{}1", "lambda: ".repeat(n))),
            (390, &|n| format!("{}1", "1 if x else ".repeat(n))),
            (190, &|n| format!("if x:\n  y\n{}", "elif x:\n  y\n".repeat(n))),
            (780, &|n| format!("f{}", ".x".repeat(n))),
            (380, &|n| format!("f{}", "[0]".repeat(n))),
        ] {
            assert!(!is_too_deep(&text(most)), "{}", &text(3));
            assert!(is_too_deep(&text(most * 3)), "{}", &text(3));
        }
    }

    #[test]
    fn what_is_only_long_is_not_deep() {
        for text in [
            "x = [1 + 2, 3]\n",
            "f(a, b)\n",
            "def f():\n  if x:\n    y\n  elif z:\n    y\n",
            "{'a': [1, 2], 'b': -1}, ",
        ] {
            assert!(!is_too_deep(&text.repeat(5000)), "{text}");
        }
    }
}
