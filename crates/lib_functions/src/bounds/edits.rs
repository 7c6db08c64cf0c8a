//! Edits of a text, and where its bytes come from.

use std::cmp::Reverse;
use std::ops::Range;

use crate::source::{Piece, Pieces};

/// A text with the places that its bytes stand for.
#[derive(Debug, Clone)]
pub(crate) struct Rewritten {
    pub text: String,
    pub pieces: Pieces,
}

/// Edits of a text, in any order of places. What is wrapped first is outside, if two wrap the same range.
#[derive(Default)]
pub(super) struct Edits(Vec<Edit>);

struct Edit {
    range: Range<usize>,
    text: String,
    /// Among edits that begin at the same byte: what closes, inner before outer; what opens, outer before inner; what
    /// replaces.
    order: (u8, Reverse<usize>, isize),
}

impl Edits {
    /// Puts a text before and one behind a range.
    pub(super) fn wrap(&mut self, range: Range<usize>, open: impl Into<String>, close: impl Into<String>) {
        let count = isize::try_from(self.0.len()).unwrap_or(isize::MAX);
        let opens = (1, Reverse(range.end), count);
        let closes = (0, Reverse(range.start), -count);
        self.0.push(Edit { range: range.start..range.start, text: open.into(), order: opens });
        self.0.push(Edit { range: range.end..range.end, text: close.into(), order: closes });
    }

    pub(super) fn replace(&mut self, range: Range<usize>, text: impl Into<String>) {
        self.0.push(Edit { range, text: text.into(), order: (2, Reverse(0), 0) });
    }

    /// A range of the text, in which all edits are.
    pub(super) fn apply(mut self, text: &str, whole: Range<usize>) -> Rewritten {
        self.0.sort_by_key(|edit| (edit.range.start, edit.order));
        let mut out = String::with_capacity(whole.len() + 16 * self.0.len());
        let mut pieces = Vec::with_capacity(2 * self.0.len() + 1);
        let mut at = whole.start;
        for Edit { range, text: new, .. } in self.0 {
            pieces.push(Piece { adapted: out.len(), original: at..range.start, is_copy: true });
            out.push_str(&text[at..range.start]);
            at = range.end;
            pieces.push(Piece { adapted: out.len(), original: range, is_copy: false });
            out.push_str(&new);
        }
        pieces.push(Piece { adapted: out.len(), original: at..whole.end, is_copy: true });
        out.push_str(&text[at..whole.end]);
        // A piece of no bytes would hide the one that begins at the same byte.
        let ends: Vec<usize> = pieces.iter().skip(1).map(|piece| piece.adapted).chain([out.len()]).collect();
        let pieces = pieces.into_iter().zip(ends).filter(|(piece, end)| piece.adapted < *end).map(|(piece, _)| piece);
        Rewritten { pieces: Pieces::new(pieces.collect()), text: out }
    }
}
