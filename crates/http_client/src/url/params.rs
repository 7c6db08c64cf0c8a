//! A base and a path become a URL, and pairs become its query.

/// A URL as a script gives it: an absolute `http` or `https` URL stays, anything else is a path below `base` that is
/// joined with exactly one slash (chapter 03 §3.3 *http*).
///
/// A path cannot leave `base`'s host: `//other` is a path, too.
pub fn join(base: Option<&str>, url: &str) -> Option<String> {
    if is_absolute(url) {
        return Some(url.to_owned());
    }
    base.map(|base| format!("{}/{}", base.trim_end_matches('/'), url.trim_start_matches('/')))
}

fn is_absolute(url: &str) -> bool {
    ["http://", "https://"]
        .iter()
        .any(|scheme| url.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme)))
}

/// Appends pairs to a URL's query, in order and form-encoded. Pairs of the same names that the URL has already are
/// dropped; all others stay byte for byte. A fragment is dropped, too: it is never sent.
pub(crate) fn with_params(url: &str, params: &[(String, String)]) -> String {
    if params.is_empty() {
        return url.to_owned();
    }
    let url = url.split('#').next().unwrap_or(url);
    let (base, query) = url.split_once('?').unwrap_or((url, ""));
    let own = query.split('&').filter(|pair| !pair.is_empty() || query.contains('&')).filter(|pair| {
        let name = form_urlencoded::parse(pair.as_bytes()).next().map(|(name, _)| name);
        !params.iter().any(|(replaced, _)| name.as_deref() == Some(replaced.as_str()))
    });
    let added = params.iter().map(|(name, value)| format!("{}={}", encoded(name), encoded(value)));
    let pairs: Vec<String> = own.map(str::to_owned).chain(added).collect();
    format!("{base}?{}", pairs.join("&"))
}

/// Pairs as the body of a form (`application/x-www-form-urlencoded`).
pub fn form(pairs: &[(String, String)]) -> String {
    let pairs: Vec<String> =
        pairs.iter().map(|(name, value)| format!("{}={}", encoded(name), encoded(value))).collect();
    pairs.join("&")
}

fn encoded(text: &str) -> String {
    form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_joined_with_one_slash() {
        for (base, path, url) in [
            (Some("https://a/v1"), "x", Some("https://a/v1/x")),
            (Some("https://a/v1/"), "/x", Some("https://a/v1/x")),
            (Some("https://a/v1//"), "//x//y", Some("https://a/v1/x//y")),
            (Some("https://a"), "//evil.com/x", Some("https://a/evil.com/x")),
            (Some("https://a"), "ftp://b", Some("https://a/ftp://b")),
            (Some("https://a"), "", Some("https://a/")),
            (Some("https://a"), "http://b/x", Some("http://b/x")),
            (Some("https://a"), "HTTPS://b/x", Some("HTTPS://b/x")),
            (None, "https://b/x", Some("https://b/x")),
            (None, "x", None),
        ] {
            assert_eq!(join(base, path).as_deref(), url, "{base:?} {path}");
        }
    }

    #[test]
    fn params_keep_the_query_and_replace_their_own_names() {
        for (url, params, expected) in [
            ("http://a", vec![("x", "1")], "http://a?x=1"),
            ("http://a/b?", vec![("x", "1")], "http://a/b?x=1"),
            ("http://a?q=%7e+'é&&z", vec![("x", "a b&c")], "http://a?q=%7e+'é&&z&x=a+b%26c"),
            ("http://a?x=0&y=1&x=2", vec![("x", "3")], "http://a?y=1&x=3"),
            ("http://a?%78=0&xx=1", vec![("x", "3")], "http://a?xx=1&x=3"),
            ("http://a?tag=0", vec![("tag", "1"), ("tag", "2")], "http://a?tag=1&tag=2"),
            ("http://a?b=1#frag", vec![("c", "ü")], "http://a?b=1&c=%C3%BC"),
            ("http://a?b=1#frag", vec![], "http://a?b=1#frag"),
            ("http://a?a[]=1", vec![("a[]", "2")], "http://a?a%5B%5D=2"),
        ] {
            let params: Vec<_> = params.into_iter().map(|(k, v)| (k.to_owned(), v.to_owned())).collect();
            assert_eq!(with_params(url, &params), expected, "{url} {params:?}");
        }
    }
}
