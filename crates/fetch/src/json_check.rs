//! Whether a text holds a JSON object or array.

use std::borrow::Cow;

use serde::de::IgnoredAny;

/// The text, if it is a JSON object or array. Half of a surrogate pair, which services do send and DuckDB refuses,
/// becomes U+FFFD, as in `json.decode`.
pub(crate) fn object_or_array(text: &str) -> Option<Cow<'_, str>> {
    let json = text.trim_matches([' ', '\t', '\n', '\r']);
    // Most texts are neither, which is seen at once.
    if !json.starts_with(['{', '[']) || serde_json::from_str::<IgnoredAny>(json).is_err() {
        return None;
    }
    Some(if json.contains("\\u") { whole_surrogates(json) } else { Cow::Borrowed(json) })
}

/// A valid JSON text with halves of surrogate pairs replaced.
fn whole_surrogates(json: &str) -> Cow<'_, str> {
    let mut halves = Vec::new();
    let mut at = 0;
    while let Some(found) = json[at..].find('\\') {
        at += found;
        match (unit(json, at), unit(json, at + 6)) {
            (None, _) => at += 2,
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => at += 12,
            (Some(unit), _) => {
                if (0xd800..=0xdfff).contains(&unit) {
                    halves.push(at);
                }
                at += 6;
            }
        }
    }
    if halves.is_empty() {
        return Cow::Borrowed(json);
    }
    let mut whole = json.to_owned();
    for at in halves {
        whole.replace_range(at..at + 6, "\\ufffd");
    }
    Cow::Owned(whole)
}

/// The number in an escape of the form `\uXXXX`.
fn unit(json: &str, at: usize) -> Option<u32> {
    u32::from_str_radix(json.get(at..at + 6)?.strip_prefix("\\u")?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::object_or_array;

    #[test]
    fn objects_and_arrays_are_told_from_other_texts() {
        for (text, expected) in [
            ("{}", Some("{}")),
            (" [1, 2.50,\n1e400]\n", Some("[1, 2.50,\n1e400]")),
            (r#"{"b":1,"a":{"b":2},"b":3}"#, Some(r#"{"b":1,"a":{"b":2},"b":3}"#)),
            (r#"["\u0000\\ud800"]"#, Some(r#"["\u0000\\ud800"]"#)),
            (r#"["\ud83d\ude00"]"#, Some(r#"["\ud83d\ude00"]"#)),
            (r#"["\ud83d"]"#, Some(r#"["\ufffd"]"#)),
            (r#"["\ude00\ud83dx\u0041\\"]"#, Some(r#"["\ufffd\ufffdx\u0041\\"]"#)),
            ("[1", None),
            ("[1,]", None),
            ("[1] [2]", None),
            ("{'a':1}", None),
            ("[NaN]", None),
            ("12", None),
            ("\"abc\"", None),
            ("null", None),
            ("abc", None),
            ("", None),
            ("\u{a0}[]", None),
        ] {
            assert_eq!(object_or_array(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn depth_is_no_danger() {
        let deep = "[".repeat(1_000_000) + &"]".repeat(1_000_000);
        assert!(object_or_array(&deep).is_some());
    }
}
