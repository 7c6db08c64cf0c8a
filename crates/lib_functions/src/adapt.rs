//! Adapts a lib file's text to the parser, which knows no `while`, no tabs, no `\r\n` and no mark of the encoding.

use std::ops::Range;

use crate::bounds::{MAX_DIGITS, RESERVED};
use crate::nesting::too_deep;
use crate::scanner::{Scanner, Token, TokenKind, width};
use crate::source::{FOREVER, Fault, Piece};

/// The mark of the encoding.
const BOM: &str = "\u{feff}";
/// How far the body of a loop on one line is moved in: no line of the author's stands there by chance.
const INLINE_INDENT: usize = 997;

/// A text as the parser reads it.
pub(crate) struct Adapted {
    pub text: String,
    pub pieces: Vec<Piece>,
    pub fault: Option<Fault>,
    /// The last bracket that is never closed, in the author's text.
    pub unclosed: Option<usize>,
}

pub(crate) fn adapt(text: &str) -> Adapted {
    let start = if text.starts_with(BOM) { BOM.len() } else { 0 };
    let tokens = Scanner::new(text, start).tokens();
    let too_deep = too_deep(text, &tokens).map(|at| Fault {
        at,
        message: "the code nests too deep",
        help: "give parts of it names, or move them into functions",
    });
    let fault = too_deep.or_else(|| tokens.iter().find_map(|token| refused(text, token)));
    let unclosed = unclosed(text, &tokens);
    let out = Adapted { text: String::with_capacity(text.len() + 64), pieces: Vec::new(), fault, unclosed };
    let mut adapter = Adapter { text, tokens: &tokens, out };
    if adapter.out.fault.is_none() {
        adapter.run();
    }
    adapter.out
}

/// A word that no file may hold.
fn refused(text: &str, token: &Token) -> Option<Fault> {
    let word = Some(&text[token.start..token.end]).filter(|_| token.kind == TokenKind::Word)?;
    if RESERVED.contains(&word) {
        return Some(Fault { at: token.start, message: "the name is reserved", help: "use another name" });
    }
    let is_long = word.len() > MAX_DIGITS && word.starts_with(|c: char| c.is_ascii_digit());
    is_long.then_some(Fault { at: token.start, message: "the integer has too many digits", help: "keep data in files" })
}

fn unclosed(text: &str, tokens: &[Token]) -> Option<usize> {
    let mut open = Vec::new();
    for token in tokens.iter().filter(|token| token.kind == TokenKind::Other) {
        match &text[token.start..token.end] {
            "(" | "[" | "{" => open.push(token.start),
            ")" | "]" | "}" => drop(open.pop()),
            _ => {}
        }
    }
    open.pop()
}

/// Writes the adapted text.
struct Adapter<'a> {
    text: &'a str,
    tokens: &'a [Token],
    out: Adapted,
}

/// Where the body of a loop stands.
enum Body {
    /// On the same line.
    Inline,
    /// On lines of its own, so deep.
    Block(usize),
    Missing,
}

impl Adapter<'_> {
    fn run(&mut self) {
        let mut at = 0;
        while let Some(token) = self.tokens.get(at) {
            at = self.loop_at(at).unwrap_or_else(|| {
                self.token(token);
                at + 1
            });
        }
        self.insert(self.text.len()..self.text.len(), "");
    }

    fn word(&self, token: &Token) -> &str {
        &self.text[token.start..token.end]
    }

    /// Writes a token.
    fn token(&mut self, token: &Token) {
        match token.kind {
            TokenKind::Indent => self.replace(token, &" ".repeat(width(self.word(token)))),
            TokenKind::Space => self.replace(token, " "),
            TokenKind::Newline => self.replace(token, "\n"),
            TokenKind::Text => self.lines(token),
            TokenKind::Comment | TokenKind::Word | TokenKind::Other => self.copy(token.start, token.end),
        }
    }

    /// Writes a text, which may go over lines.
    fn lines(&mut self, token: &Token) {
        let mut start = token.start;
        while let Some(length) = self.text[start..token.end].find("\r\n") {
            self.copy(start, start + length);
            start += length + 2;
            self.insert(start - 2..start, "\n");
        }
        self.copy(start, token.end);
    }

    /// Writes the head of a `while` loop that begins with the token at `at`, and gives the token after it:
    ///
    /// ```text
    /// while COND:            for __while__ in __forever__:
    ///     BODY          →        if COND: pass
    ///                            else: break
    ///                            BODY
    /// ```
    fn loop_at(&mut self, at: usize) -> Option<usize> {
        let word = self.tokens[at];
        if word.kind != TokenKind::Word || !word.begins_line || self.word(&word) != "while" {
            return None;
        }
        let colon = self.colon_after(at + 1)?;
        let indent = self.out.text.len() - self.out.text.rfind('\n').map_or(0, |line| line + 1);
        if indent == 0 {
            self.out.fault.get_or_insert(Fault {
                at: word.start,
                message: "`while` stands outside of a function",
                help: "put the loop into a function",
            });
        }
        let word = word.start..word.end;
        self.insert(word.clone(), &format!("for __while__ in {FOREVER}:"));
        match self.body_after(colon + 1) {
            Body::Block(depth) if depth > indent => self.way_out(word, at + 1..colon + 1, depth),
            Body::Inline => {
                let depth = indent + INLINE_INDENT;
                self.way_out(word.clone(), at + 1..colon + 1, depth);
                self.insert(word, &format!("\n{}", " ".repeat(depth)));
                return Some(colon + 1 + self.tokens[colon + 1..].iter().take_while(|token| is_space(token)).count());
            }
            // The parser says what is missing.
            Body::Block(_) | Body::Missing => {}
        }
        Some(colon + 1)
    }

    /// Writes the statement that leaves the loop; the condition's colon goes with it.
    fn way_out(&mut self, word: Range<usize>, condition: Range<usize>, depth: usize) {
        let indent = " ".repeat(depth);
        self.insert(word.clone(), &format!("\n{indent}if"));
        self.tokens[condition].iter().for_each(|token| self.token(token));
        self.insert(word, &format!(" pass\n{indent}else: break"));
    }

    /// The colon that ends a condition.
    fn colon_after(&self, from: usize) -> Option<usize> {
        let mut lambdas = 0;
        for (at, token) in self.tokens.iter().enumerate().skip(from).filter(|(_, token)| token.depth == 0) {
            match (token.kind, self.word(token)) {
                (TokenKind::Newline, _) => return None,
                (TokenKind::Word, "lambda") => lambdas += 1,
                (TokenKind::Other, ":") if lambdas == 0 => return Some(at),
                (TokenKind::Other, ":") => lambdas -= 1,
                _ => {}
            }
        }
        None
    }

    fn body_after(&self, from: usize) -> Body {
        let mut indent = None;
        for token in &self.tokens[from..] {
            match token.kind {
                TokenKind::Newline => indent = Some(0),
                TokenKind::Indent => indent = Some(width(self.word(token))),
                TokenKind::Space | TokenKind::Comment => {}
                TokenKind::Text | TokenKind::Word | TokenKind::Other => {
                    return indent.map_or(Body::Inline, Body::Block);
                }
            }
        }
        Body::Missing
    }

    /// Writes a token in another form.
    fn replace(&mut self, token: &Token, text: &str) {
        if self.word(token) == text {
            self.copy(token.start, token.end);
        } else {
            self.insert(token.start..token.end, text);
        }
    }

    fn copy(&mut self, start: usize, end: usize) {
        let adapted = self.out.text.len();
        match self.out.pieces.last_mut().filter(|piece| piece.is_copy && piece.original.end == start) {
            Some(piece) => piece.original.end = end,
            None => self.out.pieces.push(Piece { adapted, original: start..end, is_copy: true }),
        }
        self.out.text.push_str(&self.text[start..end]);
    }

    fn insert(&mut self, original: Range<usize>, text: &str) {
        self.out.pieces.push(Piece { adapted: self.out.text.len(), original, is_copy: false });
        self.out.text.push_str(text);
    }
}

fn is_space(token: &Token) -> bool {
    token.kind == TokenKind::Space
}

#[cfg(test)]
mod tests {
    use starlark::environment::{Globals, Module};
    use starlark::eval::Evaluator;
    use starlark::values::list::AllocList;

    use super::{FOREVER, adapt};

    #[test]
    fn loops_become_endless_ones_with_a_way_out() {
        for (text, adapted) in [
            (
                "def f():\n    while x < 3:\n        x += 1\n    return x\n",
                "def f():\n    for __while__ in __forever__:\n        if x < 3: pass\n        else: break\n        \
                 x += 1\n    return x\n",
            ),
            (
                "def f():\n  while a: b(); c()\n",
                "def f():\n  for __while__ in __forever__:\n{}if a: pass\n{}else: break\n{}b(); c()\n",
            ),
            // Nested, with a condition over several lines, a comment and an empty line before the body.
            (
                "def f():\n  while (a and\n    b):  # why\n\n    while not c:\n      d()\n",
                "def f():\n  for __while__ in __forever__:\n    if (a and\n    b): pass\n    else: break  # why\n\n    \
                 for __while__ in __forever__:\n      if not c: pass\n      else: break\n      d()\n",
            ),
        ] {
            assert_eq!(adapt(text).text, adapted.replace("{}", &" ".repeat(999)));
        }
    }

    /// What the last line of a text gives when the text is executed.
    fn executed(text: &str) -> String {
        let source = crate::source::Source::new(std::path::Path::new("lib/x.star"), text.into());
        let tree = crate::parse::parse(&source).unwrap();
        Module::with_temp_heap(|module| {
            module.set(FOREVER, module.heap().alloc(AllocList(0..1000)));
            let mut evaluator = Evaluator::new(&module);
            evaluator.eval_module(tree, &Globals::standard()).unwrap().to_repr()
        })
    }

    #[test]
    fn adapted_loops_do_what_they_say() {
        for (body, result) in [
            ("x = 0\nwhile x < 3:\n  x += 1\nreturn x", "3"),
            ("x = 0\nwhile x < 3: x += 1\nreturn x", "3"),
            ("x = []\nwhile len(x) < 2: x.append(1); x.append(2)\nreturn x", "[1, 2]"),
            ("x = 5\nwhile x < 3:\n  x += 1\nreturn x", "5"),
            ("x = 0\nwhile True:\n  x += 1\n  if x < 5:\n    continue\n  break\nreturn x", "5"),
            (
                "x = []\ni = 0\nwhile i < 3:\n  j = 0\n  while True:\n    j += 1\n    if j > i: break\n    x.append((i, j))\n  \
                 i += 1\nreturn x",
                "[(1, 1), (2, 1), (2, 2)]",
            ),
            (
                "x = []\nfor i in range(3):\n  while i:\n    i -= 1\n    for k in range(9):\n      if k: break\n      \
                 x.append(i)\nreturn x",
                "[0, 1, 0]",
            ),
            ("while True:\n  while True:\n    return 7", "7"),
            ("x = [1, 2, 3]\nwhile x and x.pop() != 2: pass\nreturn x", "[1]"),
            ("x = 0\nif x:\n  pass\nelse:\n  while (lambda y: y < 4)(x): x += 1\nreturn x", "4"),
            ("x = 0\nwhile False or not x == 4 if True else False:\n  x += 2\nreturn x", "4"),
            ("def g(n):\n  while n > 9: n //= 10\n  return n\nreturn [g(n) for n in [1, 234, 56]]", "[1, 2, 5]"),
            ("return 'while x: y'", "\"while x: y\""),
        ] {
            let lines = format!("def f():\n  {}\nf()\n", body.replace('\n', "\n  "));
            for lines in [lines.clone(), lines.replace('\n', "\r\n"), lines.replace("  ", "\t")] {
                assert_eq!(executed(&lines), result, "{lines}");
            }
        }
    }

    #[test]
    fn what_only_looks_like_a_loop_stays() {
        for text in [
            "s = \"while x:\"\n",
            "s = '''\nwhile x:\n  y\n'''\n",
            "s = f\"\"\"\n{a[\"\"\"\nwhile x:\n\"\"\"]}\nwhile x:\n\"\"\"\n",
            "s = f\"{\nwhile x:\n}\"\n",
            "s = 'a\\\nwhile x:\\\n'\n",
            "# while x:\n",
            "def f():\n    a.while_x = 1\n    whiles = 2\n    x = a; while y: z\n",
            "s = r'\\'\n",
            "d = {\n  'a': 1,\n}\n",
        ] {
            assert_eq!(adapt(text).text, text);
        }
    }

    #[test]
    fn tabs_line_ends_and_the_mark_of_the_encoding_are_adapted() {
        assert_eq!(
            adapt("\u{feff}def f():\r\n\tif\tx:\r\n\t  return\t'\t'\r\n   \ty('''\r\n''', f\"{\t1}\t\")").text,
            "def f():\n        if x:\n          return '\t'\n        y('''\n''', f\"{ 1}\t\")"
        );
    }

    #[test]
    fn a_loop_without_a_body_is_left_to_the_parser() {
        let text = "def f():\n    while x:\n    return 1\n";
        assert_eq!(adapt(text).text, "def f():\n    for __while__ in __forever__:\n    return 1\n");
    }
}
