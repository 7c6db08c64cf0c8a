//! How far each piece of SQL text reaches, as the engine's scanner has it. Where the two differed, what is a text for one
//! would be code for the other; `crates/engine/tests/lexer.rs` compares them.

/// What parts pieces: the engine makes a blank of these spaces of Unicode, and of no others.
pub(crate) fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r' | '\u{b}' | '\u{c}') || is_wide_blank(c)
}

/// A blank that is none for the scanner itself: the engine replaces it before, but not at the end of a text, nor behind a `$`
/// in which it sees, rightly or not, the beginning of a dollar quote.
pub(crate) fn is_wide_blank(c: char) -> bool {
    matches!(c, '\u{a0}' | '\u{2000}'..='\u{200d}' | '\u{202f}' | '\u{205f}' | '\u{2060}' | '\u{3000}' | '\u{feff}')
}

/// What a name or a tag begins with. All that is not ASCII may: signs, emoji, and spaces that are no blanks.
pub(crate) fn is_name_start(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_' || (!c.is_ascii() && !is_blank(c))
}

fn is_tag_char(c: char) -> bool {
    is_name_start(c) || c.is_ascii_digit()
}

pub(crate) fn run_length(rest: &str, belongs: impl Fn(char) -> bool) -> usize {
    rest.find(|c| !belongs(c)).unwrap_or(rest.len())
}

/// The name that `rest` starts with. A `$` continues a name: `a$b$` opens no dollar quote.
pub(crate) fn name_length(rest: &str) -> usize {
    run_length(rest, |c| is_tag_char(c) || c == '$')
}

/// The number that `rest` starts with, if it does. What follows at once is a piece of its own: `1$$` opens a dollar quote,
/// `0x1f$$` is 0 with a name behind it.
pub(crate) fn number_length(rest: &str) -> Option<usize> {
    let whole = digits_length(rest);
    let fraction = match rest[whole..].strip_prefix('.') {
        // `1..2` holds no point of a number.
        Some(behind) if !behind.starts_with('.') => match digits_length(behind) {
            0 => usize::from(whole > 0),
            digits => 1 + digits,
        },
        _ => 0,
    };
    let len = whole + fraction;
    (len > 0).then(|| len + exponent_length(&rest[len..]))
}

fn exponent_length(rest: &str) -> usize {
    let Some(behind) = rest.strip_prefix(['e', 'E']) else { return 0 };
    let sign = usize::from(behind.starts_with(['+', '-']));
    match digits_length(&behind[sign..]) {
        0 => 0,
        digits => 1 + sign + digits,
    }
}

/// Digits, between which a `_` may stand.
fn digits_length(text: &str) -> usize {
    let digits = |text: &str| run_length(text, |c| c.is_ascii_digit());
    let mut len = digits(text);
    while len > 0 && text[len..].starts_with('_') {
        match digits(&text[len + 1..]) {
            0 => break,
            more => len += 1 + more,
        }
    }
    len
}

/// Length of the block comment that `rest` starts with, nested ones included; `None` if it is not closed.
pub(crate) fn block_comment_length(rest: &str) -> Option<usize> {
    let bytes = rest.as_bytes();
    let (mut depth, mut at) = (0, 0);
    while at + 1 < bytes.len() {
        match &bytes[at..at + 2] {
            b"/*" => (depth, at) = (depth + 1, at + 2),
            b"*/" => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

pub(crate) fn line_comment_length(rest: &str) -> usize {
    rest.find(['\n', '\r']).unwrap_or(rest.len())
}

/// The text or quoted name that `rest` starts with; the end, if nothing closes it.
pub(crate) fn quoted_length(rest: &str, quote: char) -> usize {
    closed_at(rest, 1, quote, false).unwrap_or(rest.len())
}

/// The `e'…'` that `rest` starts with. Behind a line break another pair of quotes goes on with it, and there too `\'` ends
/// nothing.
pub(crate) fn escaped_length(rest: &str) -> usize {
    let mut from = 2;
    loop {
        let Some(end) = closed_at(rest, from, '\'', true) else { return rest.len() };
        match continued(&rest[end..]) {
            Some(gap) => from = end + gap,
            None => return end,
        }
    }
}

/// The end of what was opened before `from`.
fn closed_at(rest: &str, from: usize, quote: char, backslash_escapes: bool) -> Option<usize> {
    let mut chars = rest[from..].char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if backslash_escapes && c == '\\' {
            chars.next();
        } else if c == quote && chars.next_if(|&(_, next)| next == quote).is_none() {
            return Some(from + at + 1);
        }
    }
    None
}

/// Blanks, line comments and a line break up to a quote, which is included.
fn continued(rest: &str) -> Option<usize> {
    let (mut at, mut has_break) = (0, false);
    loop {
        let behind = &rest[at..];
        match behind.chars().next()? {
            '\'' => return has_break.then_some(at + 1),
            '-' if behind.starts_with("--") => at += line_comment_length(behind),
            c if is_blank(c) => {
                has_break |= matches!(c, '\n' | '\r');
                at += c.len_utf8();
            }
            _ => return None,
        }
    }
}

/// The `$tag$…$tag$` that `rest` starts with, if it is one; it reaches to the end, if nothing closes it.
pub(crate) fn dollar_quoted_length(rest: &str) -> Option<usize> {
    let tag = &rest[..dollar_tag_length(rest)?];
    Some(rest[tag.len()..].find(tag).map_or(rest.len(), |end| tag.len() + end + tag.len()))
}

/// `$tag$`.
pub(crate) fn dollar_tag_length(rest: &str) -> Option<usize> {
    let inner = rest.strip_prefix('$')?;
    let name = run_length(inner, is_tag_char);
    let is_tag = inner[name..].starts_with('$') && !inner.starts_with(|c: char| c.is_ascii_digit());
    is_tag.then_some(name + 2)
}
