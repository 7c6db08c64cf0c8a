//! Texts with `{holes}`: the SQL that a check runs and its message, each written once and rendered as the SQL
//! expression that builds it, or as documentation.

use types::literal;

/// A piece of a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Piece<'a> {
    /// Text as it is.
    Text(&'a str),
    /// `{name}` or `{name:format}`.
    Hole { name: &'a str, format: &'a str },
}

/// The pieces of a template. Templates are constants of this room, in which every brace belongs to a hole: where
/// SQL needs one of its own, the template says so in another way.
pub(crate) fn pieces(template: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = template;
    while let Some((text, opened)) = rest.split_once('{') {
        let (hole, after) = opened.split_once('}').unwrap_or((opened, ""));
        let (name, format) = hole.split_once(':').unwrap_or((hole, ""));
        pieces.extend((!text.is_empty()).then_some(Piece::Text(text)));
        pieces.push(Piece::Hole { name, format });
        rest = after;
    }
    pieces.extend((!rest.is_empty()).then_some(Piece::Text(rest)));
    pieces
}

/// The SQL expression that builds the text; `hole` gives that of a hole.
pub(crate) fn expression(template: &str, hole: impl Fn(&str, &str) -> String) -> String {
    let piece = |piece| match piece {
        Piece::Text(text) => literal(text),
        Piece::Hole { name, format } => hole(name, format),
    };
    pieces(template).into_iter().map(piece).collect::<Vec<_>>().join(" || ")
}

/// The text for people: what `is_named` as its name, other holes as dots.
pub(crate) fn prose(template: &str, is_named: impl Fn(&str) -> bool) -> String {
    let piece = |piece| match piece {
        Piece::Text(text) => text,
        Piece::Hole { name, .. } if is_named(name) => name,
        Piece::Hole { .. } => "…",
    };
    pieces(template).into_iter().map(piece).collect()
}

#[cfg(test)]
mod tests {
    use super::{expression, prose};

    #[test]
    fn a_template_becomes_an_expression_or_prose() {
        let template = "it's {col} at {share:percent}%";
        let rendered = expression(template, |name, format| format!("f({name}{format})"));
        assert_eq!(rendered, "'it''s ' || f(col) || ' at ' || f(sharepercent) || '%'");
        assert_eq!(prose(template, |name| name == "col"), "it's col at …%");
        assert_eq!(expression("{t}", |name, _| name.to_owned()), "t");
    }
}
