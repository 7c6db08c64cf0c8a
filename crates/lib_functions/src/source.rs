//! A lib file's text as its author wrote it, and as the parser reads it.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use types::Place;

use crate::adapt::{Adapted, adapt};
use crate::bounds::Rewritten;

/// The name that an endless loop runs over; `builtins/mod.rs` defines it.
pub(crate) const FOREVER: &str = "__forever__";

/// A lib file.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    /// Relative to the project.
    pub path: PathBuf,
    /// As it was read.
    pub text: Arc<str>,
    /// As the parser reads it.
    pub adapted: String,
    pieces: Pieces,
    /// The adapted text as it is executed.
    executed: Option<Rewritten>,
    /// What the parser cannot say, or only in words that the author does not know.
    pub fault: Option<Fault>,
    /// The last bracket that is never closed, in the author's text.
    pub unclosed: Option<usize>,
}

/// Where the bytes of a text come from that was made of another.
#[derive(Debug, Clone)]
pub(crate) struct Pieces(Vec<Piece>);

/// A piece of an adapted text.
#[derive(Debug, Clone)]
pub(crate) struct Piece {
    /// Where it begins.
    pub adapted: usize,
    /// The bytes that it stands for.
    pub original: Range<usize>,
    /// Whether it is these bytes; else all of it stands for all of them.
    pub is_copy: bool,
}

/// What is wrong with a text before it is parsed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fault {
    /// Where, in the author's text.
    pub at: usize,
    pub message: &'static str,
    pub help: &'static str,
}

impl Pieces {
    /// Takes pieces in their order.
    pub(crate) fn new(pieces: Vec<Piece>) -> Self {
        Self(pieces)
    }

    /// The bytes that a range of the adapted text stands for.
    fn originals(&self, adapted: Range<usize>) -> Range<usize> {
        let start = self.original(adapted.start).start;
        let stop = if adapted.is_empty() { start } else { self.original(adapted.end - 1).end };
        start..stop.max(start)
    }

    /// The bytes that one byte stands for.
    fn original(&self, at: usize) -> Range<usize> {
        let index = self.0.partition_point(|piece| piece.adapted <= at);
        let Some(piece) = index.checked_sub(1).and_then(|index| self.0.get(index)) else { return 0..0 };
        if !piece.is_copy {
            return piece.original.clone();
        }
        let start = (piece.original.start + (at - piece.adapted)).min(piece.original.end);
        start..(start + 1).min(piece.original.end)
    }
}

impl Source {
    pub(crate) fn new(path: &Path, text: Arc<str>) -> Self {
        let Adapted { text: adapted, pieces, fault, unclosed } = adapt(&text);
        let pieces = Pieces::new(pieces);
        Self { path: path.to_owned(), text, adapted, pieces, executed: None, fault, unclosed }
    }

    /// With the text that is executed instead.
    pub(crate) fn executed_as(self, executed: Rewritten) -> Self {
        Self { executed: Some(executed), ..self }
    }

    /// The text that is executed.
    pub(crate) fn executed(&self) -> &str {
        self.executed.as_ref().map_or(&self.adapted, |executed| &executed.text)
    }

    /// The place in the author's text of bytes of the adapted one.
    pub(crate) fn place(&self, adapted: Range<usize>) -> Place {
        Place::new(&self.path, Arc::clone(&self.text), self.pieces.originals(adapted))
    }

    /// The place in the author's text of bytes of the one that is executed.
    pub(crate) fn executed_place(&self, executed: Range<usize>) -> Place {
        self.place(match &self.executed {
            Some(text) => text.pieces.originals(executed),
            None => executed,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::Source;

    #[test]
    fn places_lead_back_to_the_author() {
        let text = "\u{feff}def f():\r\n\twhile x < limit:\r\n\t\tx += wrong\r\n";
        let source = Source::new(Path::new("lib/x.star"), text.into());
        for word in ["limit", "wrong", "def"] {
            let at = source.adapted.find(word).unwrap();
            assert_eq!(&text[source.place(at..at + word.len()).span()], word);
        }
        let at = source.adapted.find("__forever__").unwrap();
        let place = source.place(at..at + 3);
        assert_eq!((place.line(), &text[place.span()]), (2, "while"));
        let end = source.adapted.len();
        assert_eq!(source.place(end..end).span(), text.len()..text.len());
    }
}
