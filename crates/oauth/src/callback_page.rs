//! The pages that a browser gets from the callback.

/// An error shows this many characters of what a provider says.
const SHOWN_CHARACTERS: usize = 500;

/// What a callback was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Called {
    /// The provider gave a code.
    Code(String),
    /// It said why it gave none.
    Denied(String),
    /// It said nothing.
    NoCode,
    /// It was pasted, and is neither a URL nor a code.
    Unreadable,
    /// Somebody else: the state is another one.
    WrongState,
}

/// What the query of a callback says, `state` being the one that was sent.
pub(crate) fn judge(query: &str, state: &str) -> Called {
    let value = |name: &str| {
        let mut pairs = form_urlencoded::parse(query.as_bytes());
        pairs.find(|(own, value)| own == name && !value.is_empty()).map(|(_, value)| value.into_owned())
    };
    // No parameter comes twice (RFC 6749 §3.1).
    let states = form_urlencoded::parse(query.as_bytes()).filter(|(name, _)| name == "state").count();
    if states != 1 || !value("state").is_some_and(|given| is_same(&given, state)) {
        return Called::WrongState;
    }
    match (value("error"), value("code")) {
        (Some(error), _) => Called::Denied(match value("error_description") {
            Some(description) => format!("{} ({})", shown(&description), shown(&error)),
            None => shown(&error),
        }),
        (None, Some(code)) => Called::Code(code),
        (None, None) => Called::NoCode,
    }
}

/// What is shown of a text that comes from outside.
fn shown(text: &str) -> String {
    let printable = |c: char| if c.is_control() { ' ' } else { c };
    text.chars().take(SHOWN_CHARACTERS).map(printable).collect()
}

/// Compares in a time that tells nothing of where the two differ.
fn is_same(given: &str, expected: &str) -> bool {
    let differing = given.bytes().zip(expected.bytes()).fold(0, |differing, (a, b)| differing | (a ^ b));
    given.len() == expected.len() && differing == 0
}

/// An answer of plain text, which no browser keeps.
pub(crate) fn page(status: u16, text: &str) -> String {
    let (reason, length) = (if status == 200 { "OK" } else { "Refused" }, text.len());
    format!(
        "HTTP/1.1 {status} {reason}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {length}\r\n\
         Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\nConnection: close\r\n\r\n{text}"
    )
}

#[cfg(test)]
mod tests {
    use super::{Called, judge};

    #[test]
    fn a_callback_counts_with_the_right_state_only() {
        let code = |text: &str| Called::Code(text.into());
        for (query, called) in [
            ("code=c0de&state=st4te", code("c0de")),
            ("state=st4te&iss=x&code=a%2Fb%3D+c", code("a/b= c")),
            ("code=c0de&state=st4te&state=other", Called::WrongState),
            ("code=c0de", Called::WrongState),
            ("code=c0de&state=", Called::WrongState),
            ("code=c0de&state=st4t", Called::WrongState),
            ("code=c0de&state=st4te1", Called::WrongState),
            ("code=c0de&state=St4te", Called::WrongState),
            ("error=access_denied&state=other", Called::WrongState),
            ("error=access_denied&state=st4te", Called::Denied("access_denied".into())),
            ("error=x&error_description=they+said+no&state=st4te&code=c", Called::Denied("they said no (x)".into())),
            ("error=a%1B%5B2J%0Ab&state=st4te", Called::Denied("a [2J b".into())),
            (&format!("error={}&state=st4te", "x".repeat(9_999)), Called::Denied("x".repeat(500))),
            ("state=st4te", Called::NoCode),
            ("state=st4te&code=", Called::NoCode),
            ("", Called::WrongState),
        ] {
            assert_eq!(judge(query, "st4te"), called, "{query}");
        }
    }
}
