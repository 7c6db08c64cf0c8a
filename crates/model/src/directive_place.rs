//! Where in a model file a directive names a column: for errors that only a result shows.

use std::ops::Range;

use types::Place;

use crate::header::read_header;
use crate::parse::Model;

impl Model {
    /// Where the directive `name`, with or without its `@`, names `column`: the word, else the directive's value. `None`
    /// without such a directive.
    pub fn directive_place(&self, name: &str, column: &str) -> Option<Place> {
        let name = name.trim_start_matches('@');
        let header = read_header(&self.source);
        // Of several the last one counts, but for those that add up.
        let spans: Vec<&Range<usize>> =
            header.directives.iter().rev().filter(|found| found.name == name).map(|found| &found.value_span).collect();
        let word = spans.iter().find_map(|span| word_in(&self.source, span, column));
        word.or_else(|| spans.first().map(|&span| span.clone())).map(|span| self.place(span))
    }
}

/// The identifier `word` within a span, in any case.
fn word_in(source: &str, span: &Range<usize>, word: &str) -> Option<Range<usize>> {
    let text = &source[span.clone()];
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let mut rest = 0;
    while let Some(start) = text[rest..].find(is_part).map(|at| rest + at) {
        let end = text[start..].find(|c| !is_part(c)).map_or(text.len(), |at| start + at);
        if text[start..end].eq_ignore_ascii_case(word) {
            return Some(span.start + start..span.start + end);
        }
        rest = end;
    }
    None
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use types::Target;

    use crate::parse_model;

    #[test]
    fn a_column_is_found_in_the_directive_that_names_it() {
        let source = "-- @kind: tracked\n-- @group_key: a_b, B\n-- @partitioned_by: bucket(8, d), year(c)\n\
                      -- @partitioned_by: b\n-- @sorted_by: /* by */ d\nSELECT 1 AS d";
        let target = Target { schema: "raw".into(), name: "x".into() };
        let model = parse_model(Path::new("models/raw/x.sql"), source.into(), target).unwrap();
        let found = |name: &str, column: &str| {
            let place = model.directive_place(name, column)?;
            Some((place.line(), place.source()[place.span()].to_owned()))
        };
        let at = |line: usize, word: &str| Some((line, word.to_owned()));
        assert_eq!(found("@group_key", "b"), at(2, "B"));
        assert_eq!(found("@group_key", "a_B"), at(2, "a_b"));
        assert_eq!(found("@partitioned_by", "d"), at(3, "d"));
        assert_eq!(found("@partitioned_by", "C"), at(3, "c"));
        assert_eq!(found("partitioned_by", "b"), at(4, "b"));
        assert_eq!(found("@partitioned_by", "nowhere"), at(4, "b"));
        assert_eq!(found("@sorted_by", "d").map(|(line, _)| line), Some(5));
        assert_eq!(found("@unique_key", "d"), None);
    }
}
