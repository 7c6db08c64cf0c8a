//! Finds broken quotes in CSV texts. The reader takes what comes, and a quote that is never closed would swallow the
//! rest of the rows.

/// Fails when a quoted field is not closed, or goes on after its closing quote.
pub(super) fn check(text: &str, delimiter: u8) -> Result<(), String> {
    let bytes = text.as_bytes();
    let mut line = 1;
    let mut at = 0;
    let mut at_start = true;
    while let Some(&byte) = bytes.get(at) {
        if at_start && byte == b'"' {
            at = after_quoted(bytes, at + 1, delimiter, &mut line)?;
            at_start = false;
            continue;
        }
        line += usize::from(byte == b'\n');
        at_start = byte == delimiter || matches!(byte, b'\n' | b'\r');
        at += 1;
    }
    Ok(())
}

/// Where a quoted field ends that begins at `at`.
fn after_quoted(bytes: &[u8], mut at: usize, delimiter: u8, line: &mut usize) -> Result<usize, String> {
    let first_line = *line;
    loop {
        match (bytes.get(at), bytes.get(at + 1)) {
            (None, _) => return Err(format!("the quote in line {first_line} is not closed")),
            (Some(b'"'), Some(b'"')) => at += 2,
            (Some(b'"'), None | Some(b'\n' | b'\r')) => return Ok(at + 1),
            (Some(b'"'), Some(next)) if *next == delimiter => return Ok(at + 1),
            (Some(b'"'), Some(_)) => return Err(format!("text after a closing quote in line {line}")),
            (Some(byte), _) => {
                *line += usize::from(*byte == b'\n');
                at += 1;
            }
        }
    }
}
