//! Reads `@column: name = description | tag | tag` (chapter 01 §4.6).

use std::ops::Range;

use types::is_identifier;

use crate::directive_values::check_column;

/// What `@column` says of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnDoc {
    /// The column.
    pub name: String,
    /// Its description; empty when only tags were given.
    pub description: String,
    /// Its tags in the order written.
    pub tags: Vec<String>,
    /// Bytes of the directive's value in the file.
    pub span: Range<usize>,
}

impl ColumnDoc {
    /// The macro that masks the column: its first masking tag.
    pub fn mask(&self) -> Option<&str> {
        self.tags.iter().map(String::as_str).find(|tag| is_masking_tag(tag))
    }
}

/// Whether a tag masks: `mask`, `hash` or `redact`, alone or followed by `_…`, in any case.
pub fn is_masking_tag(tag: &str) -> bool {
    let tag = tag.to_lowercase();
    ["mask", "hash", "redact"]
        .iter()
        .any(|word| tag.strip_prefix(word).is_some_and(|rest| rest.is_empty() || rest.starts_with('_')))
}

/// Parses the value of `@column`.
pub(crate) fn parse_column(value: &str, span: Range<usize>) -> Result<ColumnDoc, String> {
    let Some((name, rest)) = value.split_once('=') else {
        return Err(format!("invalid @column `{value}`: there is no `=`"));
    };
    let name = name.trim();
    check_column(name).map_err(|why| format!("invalid @column name `{name}`: {why}"))?;
    let segments: Vec<&str> = rest.split('|').map(str::trim).collect();
    let first_tag = 1 + segments[1..].iter().rposition(|segment| !is_tag(segment)).map_or(0, |at| at + 1);
    if let Some(bad) = segments[1..first_tag].iter().find(|segment| starts_like_mask(segment)) {
        return Err(format!("invalid @column tag `{bad}`: it looks like a masking tag but would not mask"));
    }
    Ok(ColumnDoc {
        name: name.to_owned(),
        description: segments[..first_tag].join(" | "),
        tags: segments[first_tag..].iter().map(|&tag| tag.to_owned()).collect(),
        span,
    })
}

fn is_tag(segment: &str) -> bool {
    is_identifier(segment) && !segment.starts_with('_')
}

/// A segment whose first word masks: in clear text by accident is the one outcome to rule out.
fn starts_like_mask(segment: &str) -> bool {
    let word_end = segment.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(segment.len());
    is_masking_tag(&segment[..word_end])
}

#[cfg(test)]
mod tests {
    use super::{is_masking_tag, parse_column};

    fn tags(value: &str) -> (String, Vec<String>) {
        let doc = parse_column(value, 0..0).unwrap_or_else(|error| panic!("{value}: {error}"));
        (doc.description, doc.tags)
    }

    #[test]
    fn tags_are_the_trailing_one_word_segments() {
        assert_eq!(tags("a = Revenue | Cost ratio"), ("Revenue | Cost ratio".into(), vec![]));
        assert_eq!(tags("a = Net | gross"), ("Net".into(), vec!["gross".into()]));
        assert_eq!(tags("a = SSN | PII | mask_ssn"), ("SSN".into(), vec!["PII".into(), "mask_ssn".into()]));
        assert_eq!(tags("email = mask_email"), ("mask_email".into(), vec![]));
        assert_eq!(tags("a = x = y"), ("x = y".into(), vec![]));
    }

    #[test]
    fn a_masking_tag_that_would_not_mask_is_refused() {
        for value in ["s = SSN | mask-ssn", "s = SSN | mask_ssn |", "s = SSN | mask_ssn | two words", "ssn", "a.b = x"]
        {
            assert!(parse_column(value, 0..0).is_err(), "{value}");
        }
    }

    #[test]
    fn masking_tags_are_known_by_their_first_word() {
        assert!(["mask", "MASK_x", "hash_pii", "redact"].into_iter().all(is_masking_tag));
        assert!(!["masking", "PII", "rehash"].into_iter().any(is_masking_tag));
    }
}
