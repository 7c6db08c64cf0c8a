//! Spans as the body of an export request of OTLP 1: `ExportTraceServiceRequest`, in JSON or in protobuf.

mod json;
mod protobuf;

use std::time::{SystemTime, UNIX_EPOCH};

use crate::{Encoding, Span};

/// The name that these spans have as the work of a library.
const SCOPE: &str = "ondatrasql";

/// Kind of a span: the work of the process itself.
const INTERNAL: u64 = 1;
/// Codes of a span's status.
const STATUS_OK: u64 = 1;
const STATUS_ERROR: u64 = 2;

/// The resource of spans, and the version of what made them.
pub(crate) struct Source {
    pub resource: Vec<(String, String)>,
    pub version: String,
}

/// The body of a request, with its content type.
pub(crate) fn encode(encoding: Encoding, source: &Source, spans: &[Span]) -> (Vec<u8>, &'static str) {
    match encoding {
        Encoding::Protobuf => (protobuf::request(source, spans), "application/x-protobuf"),
        Encoding::Json => (json::request(source, spans).to_string().into_bytes(), "application/json"),
    }
}

/// Nanoseconds since 1970.
fn nanoseconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| u64::try_from(since.as_nanos()).unwrap_or(u64::MAX))
}

/// Whether the span is recorded, and whether its parent is one of another process.
fn flags(span: &Span) -> u32 {
    let remote = u32::from(span.is_parent_remote) << 9;
    // Sampled; and it is known where the parent is.
    0x101 | remote
}

#[cfg(test)]
pub(crate) mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::Source;
    use crate::{Outcome, Span, SpanEvent, SpanId, TraceId, Value};

    pub fn source() -> Source {
        Source { resource: vec![("service.name".into(), "shop".into())], version: "0.1.0".into() }
    }

    /// A span that has everything.
    pub fn span() -> Span {
        let started = UNIX_EPOCH + Duration::from_nanos(1_700_000_000_000_000_001);
        Span {
            trace: TraceId([0x4b; 16]),
            id: SpanId([1, 2, 3, 4, 5, 6, 7, 8]),
            parent: Some(SpanId([9; 8])),
            is_parent_remote: true,
            name: "raw.a \"é\"".into(),
            started,
            ended: started + Duration::from_millis(5),
            attributes: vec![("ondatra.rows", Value::Integer(-3)), ("ok", Value::Bool(true)), ("t", "x".into())],
            events: vec![SpanEvent {
                at: started,
                name: "exception",
                attributes: vec![("exception.type", "E-1".into())],
            }],
            outcome: Outcome::Error("no".into()),
        }
    }
}
