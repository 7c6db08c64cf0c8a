//! A place in one of the user's files, for error reports.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A span of bytes in a file of the user's, with the file's text as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    file: PathBuf,
    source: Arc<str>,
    span: Range<usize>,
}

impl Place {
    /// A place in `file` (relative to the project). A span beyond the text, or inside a character, is moved to fit.
    pub fn new(file: impl Into<PathBuf>, source: Arc<str>, span: Range<usize>) -> Self {
        let start = floor_char_boundary(&source, span.start);
        let end = floor_char_boundary(&source, span.end).max(start);
        Self { file: file.into(), source, span: start..end }
    }

    /// The word that begins at byte `start` of the file, at least one character.
    pub fn word_at(file: impl Into<PathBuf>, source: &Arc<str>, start: usize) -> Self {
        let start = floor_char_boundary(source, start);
        let rest = &source[start..];
        let word = rest.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '.').unwrap_or(rest.len());
        let first = rest.chars().next().map_or(0, char::len_utf8);
        Self::new(file, Arc::clone(source), start..start + word.max(first))
    }

    /// The file, relative to the project.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// The whole text of the file.
    pub fn source(&self) -> &Arc<str> {
        &self.source
    }

    /// The bytes meant.
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// The line of the span's first byte, from 1.
    pub fn line(&self) -> usize {
        self.source[..self.span.start].matches('\n').count() + 1
    }

    /// The column of the span's first character, in characters, from 1.
    pub fn column(&self) -> usize {
        let line_start = self.source[..self.span.start].rfind('\n').map_or(0, |at| at + 1);
        self.source[line_start..self.span.start].chars().count() + 1
    }
}

fn floor_char_boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::Place;

    #[test]
    fn lines_and_columns_count_characters_from_one() {
        let place = Place::new("a.sql", "é\nxé y".into(), 7..8);
        assert_eq!((place.line(), place.column()), (2, 4));
    }

    #[test]
    fn a_word_is_found_whatever_the_characters_around_it_are() {
        assert_eq!(Place::word_at("a", &"é wörd, x".into(), 3).span(), 3..8);
        assert_eq!(Place::word_at("a", &"'é'".into(), 2).span(), 1..3, "inside a character");
        assert_eq!(Place::word_at("a", &"x".into(), 9).span(), 1..1);
    }

    #[test]
    fn a_span_outside_the_text_or_inside_a_character_is_moved_to_fit() {
        assert_eq!(Place::new("a", "é".into(), 1..9).span(), 0..2);
    }
}
