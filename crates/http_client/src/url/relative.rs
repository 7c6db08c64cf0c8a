//! References that servers give, made absolute (RFC 3986 §5.2).

use super::Target;

/// The absolute URL that `reference` stands for in an answer to `base`. It is not checked.
pub(crate) fn resolve(base: &Target, reference: &str) -> String {
    let reference = reference.trim_matches(|letter: char| letter.is_ascii_whitespace());
    let reference = reference.split('#').next().unwrap_or(reference);
    if has_scheme(reference) {
        return reference.to_owned();
    }
    let origin = base.origin.to_string();
    if let Some(place) = reference.strip_prefix("//") {
        let scheme = if base.origin.secure { "https" } else { "http" };
        return format!("{scheme}://{place}");
    }
    let own_path = base.path.split('?').next().unwrap_or("/");
    if reference.is_empty() {
        return format!("{origin}{}", base.path);
    }
    if reference.starts_with('?') {
        return format!("{origin}{own_path}{reference}");
    }
    let (path, query) = reference.split_at(reference.find('?').unwrap_or(reference.len()));
    let merged = if path.starts_with('/') {
        path.to_owned()
    } else {
        format!("{}{path}", &own_path[..=own_path.rfind('/').unwrap_or(0)])
    };
    format!("{origin}{}{query}", without_dots(&merged))
}

/// Whether a reference begins with a scheme: a letter, then letters, digits and `+-.`, then a colon.
fn has_scheme(reference: &str) -> bool {
    let Some((scheme, _)) = reference.split_once(':') else { return false };
    scheme.starts_with(|letter: char| letter.is_ascii_alphabetic())
        && scheme.chars().all(|letter| letter.is_ascii_alphanumeric() || "+-.".contains(letter))
}

/// A path without `.` and `..` (RFC 3986 §5.2.4).
fn without_dots(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let parts: Vec<&str> = path.split('/').skip(1).collect();
    for (at, part) in parts.iter().enumerate() {
        let last = at + 1 == parts.len();
        match *part {
            "." | ".." => {
                if *part == ".." {
                    kept.pop();
                }
                if last {
                    kept.push("");
                }
            }
            part => kept.push(part),
        }
    }
    format!("/{}", kept.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of RFC 3986 §5.4, with a scheme that can be asked for.
    #[test]
    fn references_are_resolved_as_the_standard_says() {
        let base = Target::parse("http://a/b/c/d;p?q").unwrap();
        for (reference, url) in [
            ("g:h", "g:h"),
            ("g", "http://a/b/c/g"),
            ("./g", "http://a/b/c/g"),
            ("g/", "http://a/b/c/g/"),
            ("/g", "http://a/g"),
            ("//g", "http://g"),
            ("?y", "http://a/b/c/d;p?y"),
            ("g?y", "http://a/b/c/g?y"),
            ("#s", "http://a/b/c/d;p?q"),
            ("g#s", "http://a/b/c/g"),
            ("g?y#s", "http://a/b/c/g?y"),
            (";x", "http://a/b/c/;x"),
            ("g;x=1/../y", "http://a/b/c/y"),
            ("", "http://a/b/c/d;p?q"),
            (".", "http://a/b/c/"),
            ("./", "http://a/b/c/"),
            ("..", "http://a/b/"),
            ("../", "http://a/b/"),
            ("../g", "http://a/b/g"),
            ("../..", "http://a/"),
            ("../../g", "http://a/g"),
            ("../../../g", "http://a/g"),
            ("/./g", "http://a/g"),
            ("/../g", "http://a/g"),
            ("g.", "http://a/b/c/g."),
            ("..g", "http://a/b/c/..g"),
            ("./g/.", "http://a/b/c/g/"),
            ("g?y/../x", "http://a/b/c/g?y/../x"),
            (" /g ", "http://a/g"),
            ("https://b/x?y", "https://b/x?y"),
            ("/a?u=http://c", "http://a/a?u=http://c"),
            ("a/b:c", "http://a/b/c/a/b:c"),
        ] {
            assert_eq!(resolve(&base, reference), url, "{reference}");
        }
    }

    #[test]
    fn the_scheme_and_the_port_of_the_base_stay() {
        let base = Target::parse("https://u:p@a:8443/b?c").unwrap();
        assert_eq!(resolve(&base, "d"), "https://a:8443/d");
        assert_eq!(resolve(&base, "//e"), "https://e");
        let root = Target::parse("http://a").unwrap();
        assert_eq!(resolve(&root, "x"), "http://a/x");
    }
}
