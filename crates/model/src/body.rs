//! Finds the one SQL statement of a model file.

use std::ops::Range;

use types::Rule;

use crate::lexer::{split_statements, unclosed};

/// The bytes of the statement within `source`, which begins at `body_start`; final semicolons and the
/// comments around it are left out.
pub(crate) fn find_statement(source: &str, body_start: usize) -> Result<Range<usize>, (Rule, String, Range<usize>)> {
    if let Some(at) = unclosed(&source[body_start..]) {
        let start = body_start + at;
        return Err((Rule::Syntax, "the text or comment that begins here is not closed".into(), start..start + 1));
    }
    let statements = split_statements(&source[body_start..]);
    let in_file = |range: &Range<usize>| body_start + range.start..body_start + range.end;
    match &statements[..] {
        [one] => Ok(in_file(one)),
        [] => Err((Rule::NoBody, "no SQL body".into(), 0..0)),
        [_, second, ..] => {
            let message = format!("{} SQL statements, a model is exactly one", statements.len());
            Err((Rule::MultiStatement, message, in_file(second)))
        }
    }
}
