//! OTLP in protobuf. The messages are few and their numbers never change, so they are written by hand
//! (`opentelemetry/proto/trace/v1/trace.proto`, `common.proto`, `resource.proto`).

use super::{INTERNAL, SCOPE, STATUS_ERROR, STATUS_OK, Source, flags, nanoseconds};
use crate::{Outcome, Span, SpanEvent, Value};

pub(super) fn request(source: &Source, spans: &[Span]) -> Vec<u8> {
    let mut resource = Message::default();
    for (key, value) in &source.resource {
        resource.message(1, &attribute(key, &Value::Text(value.clone())));
    }
    let mut scope = Message::default();
    scope.text(1, SCOPE);
    scope.text(2, &source.version);
    let mut of_scope = Message::default();
    of_scope.message(1, &scope);
    for one in spans {
        of_scope.message(2, &span(one));
    }
    let mut of_resource = Message::default();
    of_resource.message(1, &resource);
    of_resource.message(2, &of_scope);
    let mut request = Message::default();
    request.message(1, &of_resource);
    request.0
}

fn span(span: &Span) -> Message {
    let mut message = Message::default();
    message.bytes(1, &span.trace.0);
    message.bytes(2, &span.id.0);
    if let Some(parent) = span.parent {
        message.bytes(4, &parent.0);
    }
    message.text(5, &span.name);
    message.number(6, INTERNAL);
    message.fixed64(7, nanoseconds(span.started));
    message.fixed64(8, nanoseconds(span.ended));
    for (key, value) in &span.attributes {
        message.message(9, &attribute(key, value));
    }
    for one in &span.events {
        message.message(11, &event(one));
    }
    message.message(15, &status(&span.outcome));
    message.fixed32(16, flags(span));
    message
}

fn event(event: &SpanEvent) -> Message {
    let mut message = Message::default();
    message.fixed64(1, nanoseconds(event.at));
    message.text(2, event.name);
    for (key, value) in &event.attributes {
        message.message(3, &attribute(key, value));
    }
    message
}

fn status(outcome: &Outcome) -> Message {
    let mut message = Message::default();
    match outcome {
        Outcome::Ok => message.number(3, STATUS_OK),
        Outcome::Error(text) => {
            message.text(2, text);
            message.number(3, STATUS_ERROR);
        }
    }
    message
}

/// A `KeyValue` with its `AnyValue`.
fn attribute(key: &str, value: &Value) -> Message {
    let mut any = Message::default();
    // One of several: it is written even where it is the default.
    match value {
        Value::Text(text) => any.delimited(1, text.as_bytes()),
        Value::Bool(yes) => any.varint_field(2, u64::from(*yes)),
        Value::Integer(number) => any.varint_field(3, number.cast_unsigned()),
    }
    let mut message = Message::default();
    message.text(1, key);
    message.message(2, &any);
    message
}

/// A message in the making. Fields that hold their default are left out, as the format has it.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            // The lowest seven bits, and that more come.
            self.0.push((value & 0x7f) as u8 | 0x80);
            value >>= 7;
        }
        self.0.push((value & 0x7f) as u8);
    }

    fn varint_field(&mut self, field: u64, value: u64) {
        self.varint(field << 3);
        self.varint(value);
    }

    fn delimited(&mut self, field: u64, bytes: &[u8]) {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    fn number(&mut self, field: u64, value: u64) {
        if value != 0 {
            self.varint_field(field, value);
        }
    }

    fn bytes(&mut self, field: u64, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.delimited(field, bytes);
        }
    }

    fn text(&mut self, field: u64, text: &str) {
        self.bytes(field, text.as_bytes());
    }

    fn message(&mut self, field: u64, message: &Self) {
        self.delimited(field, &message.0);
    }

    fn fixed64(&mut self, field: u64, value: u64) {
        self.varint(field << 3 | 1);
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    fn fixed32(&mut self, field: u64, value: u32) {
        self.varint(field << 3 | 5);
        self.0.extend_from_slice(&value.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{source, span};
    use super::{Message, request};

    /// Written by another implementation from the same span: Python's `opentelemetry-proto`.
    const EXPECTED: &str = "\
        0ae9010a180a160a0c736572766963652e6e616d6512060a0473686f7012cc010a130a0a6f6e646174726173716c1205\
        302e312e3012b4010a104b4b4b4b4b4b4b4b4b4b4b4b4b4b4b4b12080102030405060708220809090909090909092a0a\
        7261772e612022c3a92230013901002a36fe9c971741414b7636fe9c97174a1b0a0c6f6e64617472612e726f7773120b\
        18fdffffffffffffffff014a080a026f6b120210014a080a017412030a01785a2d0901002a36fe9c9717120965786365\
        7074696f6e1a170a0e657863657074696f6e2e7479706512050a03452d317a0612026e6f1802850101030000";

    #[test]
    fn a_span_is_what_another_implementation_writes() {
        let bytes = request(&source(), &[span()]);
        assert_eq!(bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>(), EXPECTED);
    }

    #[test]
    fn numbers_take_the_bytes_that_they_need() {
        for (value, bytes) in [(0, &[0][..]), (127, &[127]), (128, &[0x80, 1]), (300, &[0xac, 2])] {
            let mut message = Message::default();
            message.varint(value);
            assert_eq!(message.0, bytes, "{value}");
        }
        let mut message = Message::default();
        message.varint(u64::MAX);
        assert_eq!(message.0.len(), 10);
    }
}
