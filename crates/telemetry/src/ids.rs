//! Ids of traces and spans, and how one process hands them to another (W3C Trace Context).

use std::fmt;

/// The id of a trace; never all zeros.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct TraceId(pub(crate) [u8; 16]);

/// The id of a span; never all zeros.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct SpanId(pub(crate) [u8; 8]);

impl TraceId {
    /// A new one.
    pub fn random() -> Self {
        Self(random())
    }
}

impl SpanId {
    /// A new one.
    pub fn random() -> Self {
        Self(random())
    }
}

/// Without randomness the ids of a process are all the same, which is better than none.
fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    let drawn = getrandom::fill(&mut bytes);
    if drawn.is_err() || bytes == [0; N] {
        bytes[N - 1] = 1;
    }
    bytes
}

impl fmt::Display for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Display for SpanId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Debug for SpanId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The span of another process that caused this one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceContext {
    /// Its trace.
    pub trace: TraceId,
    /// It.
    pub span: SpanId,
    /// Whether it is recorded.
    pub is_sampled: bool,
}

impl TraceContext {
    /// Reads `traceparent`: `00-<32 digits>-<16 digits>-<2 digits>`, hexadecimal in lower case. Versions after 00 may
    /// go on behind that. `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.trim().splitn(5, '-');
        let version: [u8; 1] = digits(parts.next()?)?;
        let (trace, span): ([u8; 16], [u8; 8]) = (digits(parts.next()?)?, digits(parts.next()?)?);
        let flags: [u8; 1] = digits(parts.next()?)?;
        let goes_on = parts.next().is_some();
        let is_known = version[0] != 0xff && !(version[0] == 0 && goes_on);
        (is_known && trace != [0; 16] && span != [0; 8]).then_some(Self {
            trace: TraceId(trace),
            span: SpanId(span),
            is_sampled: flags[0] & 1 == 1,
        })
    }
}

fn digits<const N: usize>(text: &str) -> Option<[u8; N]> {
    let is_lower = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    if text.len() != 2 * N || !is_lower {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, at) in bytes.iter_mut().zip((0..).step_by(2)) {
        *byte = u8::from_str_radix(&text[at..at + 2], 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::{SpanId, TraceContext, TraceId};

    const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
    const SPAN: &str = "00f067aa0ba902b7";

    #[test]
    fn the_parent_of_a_process_is_read() {
        let read = TraceContext::parse(&format!("00-{TRACE}-{SPAN}-01")).unwrap();
        assert_eq!((read.trace.to_string(), read.span.to_string(), read.is_sampled), (TRACE.into(), SPAN.into(), true));
        assert!(!TraceContext::parse(&format!("00-{TRACE}-{SPAN}-02")).unwrap().is_sampled);
        assert!(TraceContext::parse(&format!("cc-{TRACE}-{SPAN}-03-more-of-it")).unwrap().is_sampled);
    }

    #[test]
    fn what_is_no_parent_is_none() {
        let zero_trace = format!("00-{}-{SPAN}-01", "0".repeat(32));
        let zero_span = format!("00-{TRACE}-{}-01", "0".repeat(16));
        for bad in [
            "",
            "00",
            &format!("00-{TRACE}-{SPAN}"),
            &format!("ff-{TRACE}-{SPAN}-01"),
            &format!("00-{TRACE}-{SPAN}-01-x"),
            &format!("00-{}-{SPAN}-01", TRACE.to_uppercase()),
            &format!("00-{TRACE}é-{SPAN}-01"),
            &zero_trace,
            &zero_span,
        ] {
            assert_eq!(TraceContext::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn ids_differ() {
        assert_ne!(TraceId::random(), TraceId::random());
        assert_ne!(SpanId::random(), SpanId::random());
        assert_eq!((TraceId::random().to_string().len(), SpanId::random().to_string().len()), (32, 16));
    }
}
