//! Lists of pairs in variables: `key=value,key2=value2`, percent-encoded (the form of W3C Baggage).

/// Reads the pairs of a list, and how many of its members are none.
pub(crate) fn pairs(text: &str) -> (Vec<(String, String)>, usize) {
    let mut found = Vec::new();
    let mut bad = 0;
    for member in text.split(',').map(str::trim).filter(|member| !member.is_empty()) {
        match pair(member) {
            Some(pair) => found.push(pair),
            None => bad += 1,
        }
    }
    (found, bad)
}

fn pair(member: &str) -> Option<(String, String)> {
    let (key, value) = member.split_once('=')?;
    let (key, value) = (decoded(key.trim())?, decoded(value.trim())?);
    (!key.is_empty()).then_some((key, value))
}

/// `%41` as what it stands for; `None` if that is no text. A `%` that begins nothing stays.
fn decoded(text: &str) -> Option<String> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, behind)) = rest.split_first() {
        let code = behind.get(..2).filter(|code| first == b'%' && code.iter().all(u8::is_ascii_hexdigit));
        let byte = code.and_then(|code| u8::from_str_radix(std::str::from_utf8(code).ok()?, 16).ok());
        out.push(byte.unwrap_or(first));
        rest = if byte.is_some() { &behind[2..] } else { behind };
    }
    String::from_utf8(out).ok()
}

#[cfg(test)]
mod tests {
    use super::pairs;

    #[test]
    fn pairs_are_parted_and_decoded() {
        let text = "authorization=Basic%20YTpi, x-a = b=c ,team=d%C3%A9%2Cx,half=100%,empty=,,";
        let (found, bad) = pairs(text);
        let found: Vec<(&str, &str)> = found.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        let expected =
            [("authorization", "Basic YTpi"), ("x-a", "b=c"), ("team", "dé,x"), ("half", "100%"), ("empty", "")];
        assert_eq!((found.as_slice(), bad), (&expected[..], 0));
        assert_eq!(pairs("a,=b,c=%ff,d=e").1, 3);
    }
}
