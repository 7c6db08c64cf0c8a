//! OTLP in JSON: ids are hexadecimal, numbers of 64 bits are texts, enumerations are numbers.

use serde_json::{Map, Value as Json, json};

use super::{INTERNAL, SCOPE, STATUS_ERROR, STATUS_OK, Source, flags, nanoseconds};
use crate::{Outcome, Span, SpanEvent, Value};

pub(super) fn request(source: &Source, spans: &[Span]) -> Json {
    let resource: Vec<Json> =
        source.resource.iter().map(|(key, value)| json!({"key": key, "value": {"stringValue": value}})).collect();
    json!({"resourceSpans": [{
        "resource": {"attributes": resource},
        "scopeSpans": [{
            "scope": {"name": SCOPE, "version": source.version},
            "spans": spans.iter().map(span).collect::<Vec<_>>(),
        }],
    }]})
}

fn span(span: &Span) -> Json {
    let (code, message) = match &span.outcome {
        Outcome::Ok => (STATUS_OK, ""),
        Outcome::Error(message) => (STATUS_ERROR, message.as_str()),
    };
    let mut object = Map::new();
    let mut put = |key: &str, value: Json| object.insert(key.to_owned(), value);
    put("traceId", span.trace.to_string().into());
    put("spanId", span.id.to_string().into());
    if let Some(parent) = span.parent {
        put("parentSpanId", parent.to_string().into());
    }
    put("flags", flags(span).into());
    put("name", span.name.as_str().into());
    put("kind", INTERNAL.into());
    put("startTimeUnixNano", nanoseconds(span.started).to_string().into());
    put("endTimeUnixNano", nanoseconds(span.ended).to_string().into());
    put("attributes", attributes(&span.attributes));
    put("events", span.events.iter().map(event).collect());
    put("status", if message.is_empty() { json!({"code": code}) } else { json!({"code": code, "message": message}) });
    object.into()
}

fn event(event: &SpanEvent) -> Json {
    json!({
        "timeUnixNano": nanoseconds(event.at).to_string(),
        "name": event.name,
        "attributes": attributes(&event.attributes),
    })
}

fn attributes(pairs: &[(&'static str, Value)]) -> Json {
    let value = |value: &Value| match value {
        Value::Text(text) => json!({"stringValue": text}),
        Value::Integer(number) => json!({"intValue": number.to_string()}),
        Value::Bool(yes) => json!({"boolValue": yes}),
    };
    pairs.iter().map(|(key, own)| json!({"key": key, "value": value(own)})).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::{source, span};
    use super::request;

    #[test]
    fn a_span_has_the_form_of_otlp_json() {
        let expected = json!({"resourceSpans": [{
            "resource": {"attributes": [{"key": "service.name", "value": {"stringValue": "shop"}}]},
            "scopeSpans": [{
                "scope": {"name": "ondatrasql", "version": "0.1.0"},
                "spans": [{
                    "traceId": "4b4b4b4b4b4b4b4b4b4b4b4b4b4b4b4b",
                    "spanId": "0102030405060708",
                    "parentSpanId": "0909090909090909",
                    "flags": 769,
                    "name": "raw.a \"é\"",
                    "kind": 1,
                    "startTimeUnixNano": "1700000000000000001",
                    "endTimeUnixNano": "1700000000005000001",
                    "attributes": [
                        {"key": "ondatra.rows", "value": {"intValue": "-3"}},
                        {"key": "ok", "value": {"boolValue": true}},
                        {"key": "t", "value": {"stringValue": "x"}},
                    ],
                    "events": [{
                        "timeUnixNano": "1700000000000000001",
                        "name": "exception",
                        "attributes": [{"key": "exception.type", "value": {"stringValue": "E-1"}}],
                    }],
                    "status": {"code": 2, "message": "no"},
                }],
            }],
        }]});
        assert_eq!(request(&source(), &[span()]), expected);
    }
}
