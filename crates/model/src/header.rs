//! Finds the directives in a model file's leading comments (chapter 01 §3.2), without reading their values.

use std::ops::Range;

use crate::lexer::{TokenKind, tokens};
use crate::scan::block_comment_length;

/// Every directive of the current version.
const DIRECTIVES: [&str; 15] = [
    "kind",
    "unique_key",
    "group_key",
    "incremental",
    "incremental_initial",
    "partitioned_by",
    "sorted_by",
    "fetch",
    "push",
    "constraint",
    "audit",
    "warning",
    "description",
    "column",
    "extension",
];

/// Directives of older versions; known, so that their own message is shown.
const REMOVED: [&str; 4] = ["sink", "script", "sink_detect_deletes", "sink_delete_threshold"];

/// `@name: value` in the header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Directive {
    pub name: String,
    pub value: String,
    /// Bytes of `@name`.
    pub name_span: Range<usize>,
    /// Bytes of the value in the file; of the whole comment where block comments were cut out of it.
    pub value_span: Range<usize>,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum HeaderProblem {
    Unknown { word: String, span: Range<usize>, suggestion: Option<&'static str> },
    AfterBody { word: String, span: Range<usize> },
    Unterminated { span: Range<usize> },
}

pub(crate) struct Header {
    pub directives: Vec<Directive>,
    pub problems: Vec<HeaderProblem>,
    /// Byte at which the SQL begins.
    pub body_start: usize,
}

pub(crate) fn read_header(source: &str) -> Header {
    let mut header = Header { directives: Vec::new(), problems: Vec::new(), body_start: 0 };
    let mut at = if source.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    loop {
        let rest = &source[at..];
        let blank = rest.len() - rest.trim_start().len();
        if blank > 0 {
            at += blank;
        } else if rest.starts_with("/*") {
            let Some(len) = block_comment_length(rest) else {
                header.problems.push(HeaderProblem::Unterminated { span: at..at + 2 });
                at = source.len();
                continue;
            };
            at += len;
        } else if let Some(prefix) = ["--", "//", "#"].into_iter().find(|prefix| rest.starts_with(prefix)) {
            let end = at + rest.find(['\n', '\r']).unwrap_or(rest.len());
            read_line(source, at + prefix.len()..end, &mut header);
            at = end;
        } else {
            break;
        }
    }
    header.body_start = at;
    find_misplaced(source, at, &mut header);
    header
}

/// Reads one comment line, `span` being what follows its prefix.
fn read_line(source: &str, span: Range<usize>, header: &mut Header) {
    let (text, cut) = without_block_comments(&source[span.clone()]);
    let trimmed = text.trim_start();
    let Some(after_at) = trimmed.strip_prefix('@') else { return };
    let name: &str = &after_at[..after_at.find(|c: char| !is_name_char(c)).unwrap_or(after_at.len())];
    if name.is_empty() {
        return;
    }
    let name_start = span.start + source[span.clone()].find('@').unwrap_or(0);
    let name_span = name_start..name_start + 1 + name.len();
    let rest = &after_at[name.len()..];
    let value = match (name, rest.strip_prefix(':')) {
        // A bare marker: whatever follows, even a colon, is its (wrong) value.
        ("fetch", _) => rest.trim(),
        ("push", Some(value)) => value.trim(),
        (_, Some(value)) if !value.trim().is_empty() => value.trim(),
        _ => return header.problems.push(unknown(name, name_span)),
    };
    if !is_known(name) {
        return header.problems.push(unknown(name, name_span));
    }
    let value_span = if cut { span } else { locate(source, span, value) };
    header.directives.push(Directive { name: name.to_owned(), value: value.to_owned(), name_span, value_span });
}

fn is_name_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn is_known(name: &str) -> bool {
    DIRECTIVES.contains(&name) || REMOVED.contains(&name)
}

/// `line` without its closed block comments, and whether any was cut. An unclosed `/*` inside a comment
/// line is text: a description may hold a glob like `data/*.csv`.
fn without_block_comments(line: &str) -> (String, bool) {
    let mut text = String::with_capacity(line.len());
    let (mut rest, mut cut) = (line, false);
    while let Some(open) = rest.find("/*") {
        let Some(len) = block_comment_length(&rest[open..]) else { break };
        text.push_str(&rest[..open]);
        rest = &rest[open + len..];
        cut = true;
    }
    text.push_str(rest);
    (text, cut)
}

/// Where `value`, the trimmed end of the line, stands.
fn locate(source: &str, line: Range<usize>, value: &str) -> Range<usize> {
    let end = line.start + source[line].trim_end().len();
    end - value.len()..end
}

fn unknown(name: &str, span: Range<usize>) -> HeaderProblem {
    let suggestion = DIRECTIVES
        .into_iter()
        .map(|known| (strsim::damerau_levenshtein(known, &name.to_lowercase()), known))
        .min()
        .filter(|&(distance, _)| distance <= 2)
        .map(|(_, known)| known);
    HeaderProblem::Unknown { word: name.to_owned(), span, suggestion }
}

/// Reports known directives in the line comments of the SQL body.
fn find_misplaced(source: &str, body_start: usize, header: &mut Header) {
    let body = &source[body_start..];
    if !body.contains('@') {
        return;
    }
    for token in tokens(body).into_iter().filter(|token| token.kind == TokenKind::LineComment) {
        let comment = &body[token.span.clone()];
        let text = comment[2..].trim_start();
        let Some(after_at) = text.strip_prefix('@') else { continue };
        let name = &after_at[..after_at.find(|c: char| !is_name_char(c)).unwrap_or(after_at.len())];
        let rest = &after_at[name.len()..];
        if is_known(name) && (rest.starts_with(':') || (name == "fetch" && rest.trim().is_empty())) {
            let start = body_start + token.span.start + (comment.len() - text.len());
            header
                .problems
                .push(HeaderProblem::AfterBody { word: name.to_owned(), span: start..start + 1 + name.len() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{HeaderProblem, read_header};

    fn directives(source: &str) -> Vec<(String, String)> {
        let header = read_header(source);
        assert_eq!(header.problems, [], "{source}");
        header.directives.into_iter().map(|d| (d.name, d.value)).collect()
    }

    fn pair(name: &str, value: &str) -> (String, String) {
        (name.to_owned(), value.to_owned())
    }

    #[test]
    fn blank_lines_bom_prefixes_and_block_comments_stay_in_the_header() {
        assert_eq!(directives("\u{feff}-- @kind: merge\nSELECT 1"), [pair("kind", "merge")]);
        assert_eq!(
            directives("// @kind: merge\n\n  # @unique_key: id\n/* a\n /* b */ c */\n--@fetch\nSELECT 1"),
            [pair("kind", "merge"), pair("unique_key", "id"), pair("fetch", "")]
        );
        assert_eq!(directives("/* @ftech */ -- @kind: merge\nSELECT 1"), [pair("kind", "merge")]);
        assert_eq!(directives("-- @kind: /* x */ merge /* y */\nSELECT 1"), [pair("kind", "merge")]);
        assert_eq!(directives("-- @description: data/*.csv\nSELECT 1"), [pair("description", "data/*.csv")]);
        assert_eq!(directives("-- mail @alice about it\nSELECT 1"), []);
    }

    #[test]
    fn the_value_is_everything_after_the_colon() {
        assert_eq!(directives("-- @kind: table -- note\r\nSELECT 1"), [pair("kind", "table -- note")]);
        assert_eq!(directives("-- @fetch: x\nSELECT 1"), [pair("fetch", ": x")]);
    }

    #[test]
    fn what_looks_like_a_directive_but_is_none_is_reported() {
        for (line, word) in [
            ("@Kind: x", "Kind"),
            ("@kind x", "kind"),
            ("@kind:", "kind"),
            ("@alice hi", "alice"),
            ("@kind : x", "kind"),
        ] {
            let problems = read_header(&format!("-- {line}\nSELECT 1")).problems;
            assert!(
                matches!(&problems[..], [HeaderProblem::Unknown { word: found, .. }] if found == word),
                "{line}: {problems:?}"
            );
        }
    }

    #[test]
    fn a_directive_after_the_first_sql_line_is_misplaced_unless_it_is_only_text() {
        let problems =
            read_header("SELECT 1\n-- @kind: merge\n, 'x\n-- @kind: y' /*\n-- @kind: z */ -- @todo: w").problems;
        assert_eq!(problems, [HeaderProblem::AfterBody { word: "kind".into(), span: 12..17 }]);
    }

    #[test]
    fn an_unclosed_block_comment_is_reported() {
        let problems = read_header("/* a\n-- @kind: merge\nSELECT 1").problems;
        assert_eq!(problems, [HeaderProblem::Unterminated { span: 0..2 }]);
    }
}
