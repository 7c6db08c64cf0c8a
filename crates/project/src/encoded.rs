//! Finds a secret in a text, however it is encoded there: in a URL, in JSON and in JSON within JSON, in SQL, in HTML.

use std::ops::Range;

/// Bytes that encodings double, so that a run of them is as good as one.
const DOUBLED: [u8; 3] = *b"\\'\"";
/// What HTML writes for a byte.
const ENTITIES: [(&[u8], u8); 7] = [
    (b"&amp;", b'&'),
    (b"&quot;", b'"'),
    (b"&#39;", b'\''),
    (b"&#x27;", b'\''),
    (b"&apos;", b'\''),
    (b"&lt;", b'<'),
    (b"&gt;", b'>'),
];

/// The places of `secret` in `text`, from left to right.
pub(crate) fn places(text: &str, secret: &str) -> Vec<Range<usize>> {
    let text = text.as_bytes();
    let mut secret = secret.as_bytes().to_vec();
    secret.dedup_by(|next, byte| next == byte && DOUBLED.contains(byte));
    let (mut found, mut at) = (Vec::new(), 0);
    while at < text.len() {
        match end(text, at, &secret) {
            Some(end) => {
                found.push(at..end);
                at = end;
            }
            None => at += 1,
        }
    }
    found
}

/// `text` with `shown` in each place of `secret`; it is given what is there.
pub(crate) fn replaced(text: &str, secret: &str, shown: impl Fn(&str) -> String) -> Option<String> {
    let places = places(text, secret);
    let (mut out, mut at) = (String::new(), 0);
    for place in &places {
        // Both ends are whole characters: a secret is a text, and encodings are ASCII.
        out.push_str(&text[at..place.start]);
        out.push_str(&shown(&text[place.clone()]));
        at = place.end;
    }
    (!places.is_empty()).then(|| out + &text[at..])
}

/// Where the secret ends that begins at `at`.
fn end(text: &[u8], at: usize, secret: &[u8]) -> Option<usize> {
    secret.iter().try_fold(at, |at, &byte| Some(at + step(text.get(at..)?, byte)?))
}

/// How many bytes at the beginning of `rest` stand for `byte`.
fn step(rest: &[u8], byte: u8) -> Option<usize> {
    let first = *rest.first()?;
    let encoded = match first {
        b'%' => percent(rest, byte),
        b'\\' => escaped(rest, byte),
        b'&' => entity(rest, byte),
        b'+' if byte == b' ' => Some(1),
        _ => None,
    };
    let plain = || if DOUBLED.contains(&byte) { run(rest, byte) } else { 1 };
    // What begins an encoding may stand for itself.
    encoded.or_else(|| (first == byte).then(plain))
}

fn entity(rest: &[u8], byte: u8) -> Option<usize> {
    ENTITIES.iter().find(|(entity, of)| *of == byte && rest.starts_with(entity)).map(|(entity, _)| entity.len())
}

fn run(rest: &[u8], byte: u8) -> usize {
    rest.iter().take_while(|own| **own == byte).count()
}

/// `%2F`, in any case, and `%252F`.
fn percent(rest: &[u8], byte: u8) -> Option<usize> {
    let is_byte = |start: usize| rest.get(start..start + 2).and_then(hex) == Some(byte);
    let start = if rest.starts_with(b"%25") && is_byte(3) { 3 } else { 1 };
    is_byte(start).then_some(start + 2)
}

/// `\/`, `\u002f`, `\n`, with any number of backslashes.
fn escaped(rest: &[u8], byte: u8) -> Option<usize> {
    let slashes = run(rest, b'\\');
    let (code, rest) = (*rest.get(slashes)?, &rest[slashes + 1..]);
    let is_named = matches!((code, byte), (b'n', b'\n') | (b'r', b'\r') | (b't', b'\t'));
    if is_named || code == byte && !byte.is_ascii_alphanumeric() {
        let doubled = if DOUBLED.contains(&byte) { run(rest, byte) } else { 0 };
        return Some(slashes + 1 + doubled);
    }
    let is_code = code == b'u' && rest.starts_with(b"00") && hex(rest.get(2..4)?)? == byte;
    is_code.then_some(slashes + 5)
}

fn hex(digits: &[u8]) -> Option<u8> {
    u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::{places, replaced};

    const SECRET: &str = "1//rE f/Q+x=\"y'z\\w&<é";

    #[test]
    fn a_secret_is_found_however_it_is_encoded() {
        for encoded in [
            SECRET,
            "1%2F%2FrE%20f%2FQ%2Bx%3D%22y%27z%5Cw%26%3C%C3%A9",
            "1%2f%2frE+f%2fQ%2bx%3d%22y%27z%5cw%26%3c%c3%a9",
            "1//rE%20f/Q%2Bx=%22y'z%5Cw&<é",
            "1%252F%252FrE%2520f%252FQ%252Bx%253D%2522y%2527z%255Cw%2526%253C%25C3%25A9",
            r#"1//rE f/Q+x=\"y'z\\w&<é"#,
            r#"1\/\/rE f\/Q+x=\"y'z\\w&<é"#,
            r"1\u002f\u002frE f\u002FQ\u002Bx=\u0022y\u0027z\u005cw\u0026\u003Cé",
            r#"1//rE f/Q+x=\\\"y'z\\\\w&<é"#,
            r#"1\\/\\/rE f\\/Q+x=\\\"y'z\\\\w&<é"#,
            "1//rE f/Q+x=\"y''z\\w&<é",
            "1//rE f/Q+x=\"\"y'z\\w&<é",
            "1//rE f/Q+x=&quot;y&#39;z\\w&amp;&lt;é",
        ] {
            let text = format!("é{encoded}é");
            assert_eq!(replaced(&text, SECRET, |_| "*".into()).as_deref(), Some("é*é"), "{encoded}");
        }
        assert_eq!(places("a\\nb a\nb a\\\\nb", "a\nb"), [0..4, 5..8, 9..14]);
        assert_eq!(places("it''s it's it'", "it's"), [0..5, 6..10]);
        assert_eq!(places("100%25 100% 100%2525", "100%"), [0..6, 7..11, 12..20]);
    }

    #[test]
    fn what_is_none_stays() {
        for text in ["", "%", "%2", "\\", "\\u00", "1//rE f/Q+x=\"y'z\\w&<", "1%2G", "&am", "é"] {
            assert!(places(text, SECRET).is_empty() && replaced(text, SECRET, |_| String::new()).is_none(), "{text}");
        }
        let stars = |found: &str| "*".repeat(found.len());
        assert_eq!(replaced("aXb aYb aXb", "aXb", stars).unwrap(), "*** aYb ***");
    }
}
