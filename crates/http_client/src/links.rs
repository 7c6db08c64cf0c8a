//! Links in headers (RFC 8288): what `rel` leads to which URL.

use crate::HttpError;
use crate::url::{Target, resolve};

/// All relations with their absolute URLs, from all `Link` headers, in order. Of two with the same name the first one
/// counts.
///
/// Names of relations are in lower case, except for those that are URLs. A link that cannot be read is left out.
///
/// # Errors
/// `request_url`, which relative targets are resolved against, is not an absolute URL.
pub fn links(headers: &[(String, String)], request_url: &str) -> Result<Vec<(String, String)>, HttpError> {
    let base = Target::parse(request_url)?;
    let mut found: Vec<(String, String)> = Vec::new();
    for (_, value) in headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("link")) {
        for link in split_outside_quotes(value, ',') {
            let Some((target, relations)) = read(link) else { continue };
            for relation in relations {
                if !found.iter().any(|(known, _)| *known == relation) {
                    found.push((relation, resolve(&base, target)));
                }
            }
        }
    }
    Ok(found)
}

/// `<target>; rel="a b"` as its target and its relations. Nothing if it has no relation.
fn read(link: &str) -> Option<(&str, Vec<String>)> {
    let (target, params) = link.trim().strip_prefix('<')?.split_once('>')?;
    let relations = split_outside_quotes(params, ';').into_iter().find_map(|param| {
        let (name, value) = param.split_once('=')?;
        name.trim().eq_ignore_ascii_case("rel").then(|| unquoted(value.trim()))
    })?;
    Some((target, relations.split_ascii_whitespace().map(named).collect()))
}

fn named(relation: &str) -> String {
    if relation.contains(':') { relation.to_owned() } else { relation.to_ascii_lowercase() }
}

/// A quoted string without its quotes and escapes, or the text as it is.
pub(crate) fn unquoted(value: &str) -> String {
    let Some(inner) = value.strip_prefix('"') else { return value.to_owned() };
    let mut text = String::new();
    let mut letters = inner.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => break,
            '\\' => text.extend(letters.next()),
            letter => text.push(letter),
        }
    }
    text
}

/// Splits at `separator` where it stands neither in `<…>` nor in a quoted string.
pub(crate) fn split_outside_quotes(text: &str, separator: char) -> Vec<&str> {
    let (mut parts, mut start) = (Vec::new(), 0);
    let (mut quoted, mut escaped, mut in_target) = (false, false, false);
    for (at, letter) in text.char_indices() {
        match letter {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' if !in_target => quoted = !quoted,
            '<' if !quoted => in_target = true,
            '>' if !quoted => in_target = false,
            letter if letter == separator && !quoted && !in_target => {
                parts.push(&text[start..at]);
                start = at + letter.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(values: &[&str]) -> Vec<(String, String)> {
        let headers: Vec<_> = values.iter().map(|value| ("Link".to_owned(), (*value).to_owned())).collect();
        links(&headers, "https://api.test/v1/items?page=1").unwrap()
    }

    #[test]
    fn relations_lead_to_absolute_urls() {
        for (values, expected) in [
            (vec!["<a?x=1,2>; rel=next"], vec![("next", "https://api.test/v1/a?x=1,2")]),
            (vec!["<https://b/c>; rel=\"next\""], vec![("next", "https://b/c")]),
            (
                vec!["</2>;rel=\"next last\", <?page=0> ; title=\"a, <b>; rel=x\"; REL = Prev"],
                vec![
                    ("next", "https://api.test/2"),
                    ("last", "https://api.test/2"),
                    ("prev", "https://api.test/v1/items?page=0"),
                ],
            ),
            (
                vec!["<1>; rel=next", "<2>; rel=last"],
                vec![("next", "https://api.test/v1/1"), ("last", "https://api.test/v1/2")],
            ),
            (vec!["<1>; rel=next; rel=prev, <2>; rel=next"], vec![("next", "https://api.test/v1/1")]),
            (vec!["<//c/d>; rel=\"https://x/Rel\""], vec![("https://x/Rel", "https://c/d")]),
            (vec!["<a;b>; rel=next"], vec![("next", "https://api.test/v1/a;b")]),
            (vec!["<a>; title=\"q\\\", \"; rel=next"], vec![("next", "https://api.test/v1/a")]),
            (vec!["nonsense, <x, ; rel=, <y>; rel", "<z>"], vec![]),
            (vec!["<>; rel=self"], vec![("self", "https://api.test/v1/items?page=1")]),
            (vec![""], vec![]),
        ] {
            let expected: Vec<_> = expected.into_iter().map(|(a, b)| (a.to_owned(), b.to_owned())).collect();
            assert_eq!(found(&values), expected, "{values:?}");
        }
    }

    #[test]
    fn other_headers_are_no_links() {
        let headers = [("X-Link".to_owned(), "<a>; rel=next".to_owned())];
        assert_eq!(links(&headers, "http://a/").unwrap(), Vec::new());
        let headers = [("link".to_owned(), "<b>; rel=next".to_owned())];
        assert_eq!(links(&headers, "http://a/").unwrap().len(), 1);
    }
}
