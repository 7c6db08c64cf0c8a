//! Texts of others, as they are shown to people.

/// A text without what would steer a terminal or turn its lines around: control characters but line breaks and tabs,
/// and the controls of writing direction.
pub fn printable(text: &str) -> String {
    let steers = |c: char| c.is_control() && c != '\n' && c != '\t' || is_bidi_control(c);
    text.chars().map(|c| if steers(c) { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

fn is_bidi_control(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{061c}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::printable;

    #[test]
    fn what_steers_a_terminal_is_replaced_and_all_else_stays() {
        assert_eq!(
            printable("a\u{1b}[31m\0\r\u{202e}\u{2066}\u{85}"),
            "a\u{fffd}[31m\u{fffd}\u{fffd}\u{fffd}\u{fffd}\u{fffd}"
        );
        let text = "line\n\ttab é \u{1f600} שלום";
        assert_eq!(printable(text), text);
    }
}
