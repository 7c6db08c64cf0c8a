//! Replaces `${NAME}` in configuration SQL (chapter 01 §2.3) and remembers where every piece came from.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use model::{TokenKind, tokens};
use types::Place;

use crate::{Environment, ProjectError};

/// An expanded text that can be traced back to its file.
#[derive(Clone)]
pub struct Expanded {
    /// The text to run. It may hold secrets: never show it, show the source instead.
    pub text: String,
    /// For every copied piece and every value: where it begins in `text` and in the source.
    origins: Vec<Origin>,
}

#[derive(Clone)]
struct Origin {
    text_start: usize,
    source: Range<usize>,
    copied: bool,
}

impl Expanded {
    /// Expands `source`, the text of `file`.
    pub fn new(file: &Path, source: &Arc<str>, environment: &Environment) -> Result<Self, ProjectError> {
        let mut expanded = Self { text: String::with_capacity(source.len()), origins: Vec::new() };
        for piece in pieces(source) {
            if piece.kind == PieceKind::Comment {
                expanded.copy(source, piece.span);
                continue;
            }
            let mut at = piece.span.start;
            while let Some((place, name)) = next_variable(source, at..piece.span.end) {
                expanded.copy(source, at..place.start);
                environment.check(name)?;
                let Some(value) = environment.get(name) else {
                    let place = Box::new(Place::new(file, Arc::clone(source), place));
                    return Err(ProjectError::UndefinedVariable { name: name.to_owned(), place });
                };
                let value = match piece.kind {
                    PieceKind::Literal => value.replace('\'', "''"),
                    PieceKind::EscapeLiteral => value.replace('\\', "\\\\").replace('\'', "''"),
                    PieceKind::Comment | PieceKind::Other => value.to_owned(),
                };
                expanded.insert(&value, place.clone());
                at = place.end;
            }
            expanded.copy(source, at..piece.span.end);
        }
        Ok(expanded)
    }

    /// The same text with `word` replaced by `value`, still leading back to the file.
    #[must_use]
    pub fn replace(&self, word: &str, value: &str) -> Self {
        let mut replaced = Self { text: String::with_capacity(self.text.len()), origins: Vec::new() };
        let mut at = 0;
        while let Some(found) = self.text[at..].find(word).map(|found| at + found) {
            replaced.copy_range(self, at..found);
            replaced.insert(value, self.source_span(found).start..self.source_span(found + word.len() - 1).end);
            at = found + word.len();
        }
        replaced.copy_range(self, at..self.text.len());
        replaced
    }

    /// Copies a range of another expanded text with its origins.
    fn copy_range(&mut self, other: &Self, range: Range<usize>) {
        let mut at = range.start;
        while at < range.end {
            let next = other.origins.partition_point(|origin| origin.text_start <= at);
            let end = other.origins.get(next).map_or(other.text.len(), |origin| origin.text_start).min(range.end);
            let copied = other.origins[next - 1].copied;
            let source = other.source_span(at);
            self.origins.push(Origin {
                text_start: self.text.len(),
                source: source.start..source.end.max(source.start + if copied { end - at } else { 0 }),
                copied,
            });
            self.text.push_str(&other.text[at..end]);
            at = end;
        }
    }

    fn copy(&mut self, source: &str, span: Range<usize>) {
        if span.is_empty() {
            return;
        }
        self.origins.push(Origin { text_start: self.text.len(), source: span.clone(), copied: true });
        self.text.push_str(&source[span]);
    }

    fn insert(&mut self, value: &str, source: Range<usize>) {
        if value.is_empty() {
            return;
        }
        self.origins.push(Origin { text_start: self.text.len(), source, copied: false });
        self.text.push_str(value);
    }

    /// The source's bytes for byte `at` of the expanded text: one byte of what was copied, or the whole
    /// `${NAME}` that stands for a value.
    pub fn source_span(&self, at: usize) -> Range<usize> {
        let before = &self.origins[..self.origins.partition_point(|origin| origin.text_start <= at)];
        match before.last() {
            None => 0..0,
            Some(origin) if origin.copied => {
                let start = (origin.source.start + at - origin.text_start).min(origin.source.end);
                start..start + 1
            }
            Some(origin) => origin.source.clone(),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum PieceKind {
    Comment,
    /// `'…'`: values are escaped to stay inside it.
    Literal,
    /// `e'…'`, where a backslash escapes as well.
    EscapeLiteral,
    Other,
}

struct Piece {
    kind: PieceKind,
    span: Range<usize>,
}

/// Comments, literals, and what is between them in one piece each: outside of literals `${NAME}` is
/// several tokens.
fn pieces(source: &str) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    for token in tokens(source) {
        let kind = match token.kind {
            TokenKind::LineComment | TokenKind::BlockComment => PieceKind::Comment,
            TokenKind::Text if source[token.span.clone()].starts_with('\'') => PieceKind::Literal,
            TokenKind::Text if source[token.span.clone()].starts_with(['e', 'E']) => PieceKind::EscapeLiteral,
            _ => PieceKind::Other,
        };
        match pieces.last_mut() {
            Some(last) if kind == PieceKind::Other && last.kind == kind => last.span.end = token.span.end,
            _ => pieces.push(Piece { kind, span: token.span }),
        }
    }
    pieces
}

/// The names of all variables in `source`, those in comments too.
pub(crate) fn variable_names(source: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut at = 0;
    while let Some((place, name)) = next_variable(source, at..source.len()) {
        names.push(name.to_owned());
        at = place.end;
    }
    names
}

/// The first `${NAME}` within `span`.
fn next_variable(source: &str, span: Range<usize>) -> Option<(Range<usize>, &str)> {
    let mut at = span.start;
    while let Some(found) = source[at..span.end].find("${") {
        let start = at + found;
        let rest = &source[start + 2..span.end];
        let name = &rest[..rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len())];
        if !name.is_empty() && rest[name.len()..].starts_with('}') {
            return Some((start..start + 2 + name.len() + 1, name));
        }
        at = start + 2;
    }
    None
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::Expanded;
    use crate::Environment;

    fn expand(source: &str) -> Result<Expanded, crate::ProjectError> {
        let empty = tempfile::tempdir().unwrap();
        let variables = [("PW", "it's"), ("EMPTY", ""), ("N", "5"), ("BACK", "a\\")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()));
        let environment = Environment::load(empty.path(), variables).unwrap();
        Expanded::new(Path::new("config/catalog.sql"), &source.into(), &environment)
    }

    #[test]
    fn values_fit_where_they_stand_and_other_dollars_stay() {
        assert_eq!(
            expand("ATTACH 'p=${PW}' AS l; SET x = ${N}${EMPTY};").unwrap().text,
            "ATTACH 'p=it''s' AS l; SET x = 5;"
        );
        for same in ["'$$a$$'", "'$1'", "'x$'", "-- ${NOT_SET}", "/* ${NOT_SET} */", "'${a b}'", "'${}'", "SELECT $1"] {
            assert_eq!(expand(same).unwrap().text, same);
        }
        assert_eq!(expand("SELECT ${N}").unwrap().text, "SELECT 5");
        assert_eq!(expand("e'${PW}' e'${BACK}' '${BACK}'").unwrap().text, "e'it''s' e'a\\\\' 'a\\'");
    }

    #[test]
    fn a_word_replaced_later_leads_back_to_the_source_too() {
        let source = "a '${PW}' {{catalog}}.x {{catalog}} z";
        let replaced = expand(source).unwrap().replace("{{catalog}}", "lk");
        assert_eq!(replaced.text, "a 'it''s' lk.x lk z");
        assert_eq!(replaced.source_span(4), 3..8);
        assert_eq!(&source[replaced.source_span(11)], "{{catalog}}");
        assert_eq!(&source[replaced.source_span(13)], "x");
        assert_eq!(&source[replaced.source_span(18)], "z");
    }

    #[test]
    fn an_undefined_variable_is_named_with_its_place() {
        let error = expand("-- x\nATTACH '${NOPE}'").err().expect("an error");
        assert_eq!(
            error.to_string(),
            "load catalog.sql: ${NOPE} is not defined, neither in the environment nor in .env"
        );
        assert_eq!(types::Diagnose::place(&error).map(types::Place::line), Some(2));
    }

    #[test]
    fn a_file_that_cannot_be_read_is_named_with_its_variable() {
        let empty = tempfile::tempdir().unwrap();
        let variables = [("PW".to_owned(), "file:run/pw".to_owned())];
        let environment = Environment::load(empty.path(), variables).unwrap();
        let expand = || Expanded::new(Path::new("config/catalog.sql"), &"'${PW}'".into(), &environment);
        let error = expand().err().expect("an error").to_string();
        assert!(
            error.starts_with("PW stands for the content of run/pw, which cannot be read: No such file"),
            "{error}"
        );
        std::fs::create_dir(empty.path().join("run")).unwrap();
        std::fs::write(empty.path().join("run/pw"), "it's\n").unwrap();
        let environment = Environment::load(empty.path(), [("PW".to_owned(), "file:run/pw".to_owned())]).unwrap();
        let expanded = Expanded::new(Path::new("config/catalog.sql"), &"'${PW}'".into(), &environment).unwrap();
        assert_eq!(expanded.text, "'it''s'");
    }

    #[test]
    fn offsets_lead_back_to_the_source() {
        let source = "a '${PW}' b";
        let expanded = expand(source).unwrap();
        assert_eq!(expanded.text, "a 'it''s' b");
        assert_eq!(expanded.source_span(0), 0..1);
        assert_eq!(expanded.source_span(5), 3..8, "inside the value: the variable");
        assert_eq!(expanded.source_span(10), 10..11);
    }
}
