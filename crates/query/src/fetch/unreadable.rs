//! What the engine has no tree for though it accepts it: found in the text, so that an error can point at it.

use model::{Code, TokenKind};
use types::Rule;

use crate::SqlFinding;

/// The finding for a query of which the engine gives no tree, and says `why`.
pub fn unreadable(sql: &str, why: &str) -> SqlFinding {
    let code = Code::new(sql);
    let at = |found: fn(&Code<'_>, &str, usize) -> bool| (0..code.len()).find(|&at| found(&code, sql, at));
    let finding =
        |at: usize, message: &str, help: &str| SqlFinding::new(Rule::FetchOther, Some(code.start(at)), message, help);
    if let Some(number) = at(is_too_large) {
        return finding(number, "this number is larger than any DOUBLE", "write it as a text, in single quotes");
    }
    if let Some(word) = at(is_enum) {
        let help = "declare VARCHAR in its place: the lake cannot store ENUM";
        return finding(word, "ENUM is not allowed inside another type", help);
    }
    let message = format!("the SQL of this @fetch model cannot be read: {why}");
    SqlFinding::new(Rule::FetchOther, Some(0), message, "write `SELECT <col>::TYPE AS alias FROM api('x')`")
}

fn is_enum(code: &Code<'_>, _: &str, at: usize) -> bool {
    code.kind(at) == Some(TokenKind::Word) && code.is(at, &["enum"]) && code.is(at + 1, &["("])
}

fn is_too_large(code: &Code<'_>, sql: &str, at: usize) -> bool {
    let is_number = code.kind(at) == Some(TokenKind::Word) && code.text(at).starts_with(|c: char| c.is_ascii_digit());
    is_number && number(&sql[code.start(at)..]).replace('_', "").parse::<f64>().is_ok_and(f64::is_infinite)
}

/// The number that a text begins with: its point and the sign of its exponent are pieces of their own.
fn number(text: &str) -> &str {
    let digits = |from: usize| {
        let rest = text.get(from..).unwrap_or_default();
        from + rest.find(|c: char| !c.is_ascii_digit() && c != '_').unwrap_or(rest.len())
    };
    let mut end = digits(0);
    if text[end..].starts_with('.') {
        end = digits(end + 1);
    }
    if text[end..].starts_with(['e', 'E']) {
        end = digits(if text[end + 1..].starts_with(['+', '-']) { end + 2 } else { end + 1 });
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::unreadable;

    #[test]
    fn what_has_no_tree_is_found_in_the_text() {
        for (sql, word) in [
            ("SELECT a::INT AS a FROM api(1e400)", "1e400"),
            ("SELECT a::INT AS a FROM api('1e400', -1.5E+4_00)", "1.5E"),
            ("SELECT a::INT AS a, b::STRUCT(e ENUM('x')) AS b FROM api()", "ENUM"),
            ("SELECT a::DECIMAL(4, 1) AS \"1e400\" FROM api(1e-400, 1e300, 1.e5, 12)", "SELECT"),
        ] {
            let finding = unreadable(sql, "why");
            let offset = finding.offset.unwrap();
            assert!(sql[offset..].starts_with(word), "{sql}: {finding}");
        }
    }
}
