//! Values of the lake as scripts get them (chapter 04 §6.2).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use engine::Value;
use lib_functions::HostValue;

use crate::json::to_json;

/// Makes rows of values, and counts what scripts cannot have.
#[derive(Debug, Default)]
pub(crate) struct Converter {
    /// NaN and infinite values that became `None`.
    pub not_finite: u64,
}

impl Converter {
    /// A value: integers stay exact, decimals and moments are ISO text, bytes are base64, a float that is no number is
    /// `None`.
    pub(crate) fn value(&mut self, value: Value) -> HostValue {
        match value {
            Value::Null => HostValue::None,
            Value::Bool(value) => HostValue::Bool(value),
            Value::Int(value) => HostValue::Int(value.into()),
            Value::UHuge(value) => HostValue::Int(value.into()),
            // Its shortest decimal form, not that of the double next to it.
            Value::Float(value) => self.float(value.to_string().parse().unwrap_or(f64::NAN)),
            Value::Double(value) => self.float(value),
            Value::Decimal(text) | Value::Text(text) | Value::Json(text) => HostValue::Text(text),
            Value::Blob(bytes) => HostValue::Text(STANDARD.encode(bytes)),
            Value::List(values) => HostValue::List(values.into_iter().map(|value| self.value(value)).collect()),
            Value::Struct(fields) => {
                let field = |(name, value)| (HostValue::Text(name), self.value(value));
                HostValue::Dict(fields.into_iter().map(field).collect())
            }
            Value::Map(pairs) => {
                let pair = |(key, value): (Value, Value)| (self.key(key), self.value(value));
                HostValue::Dict(pairs.into_iter().map(pair).collect())
            }
        }
    }

    /// A map's key: what is no text is its JSON text, since a row is to be sent as JSON.
    fn key(&mut self, key: Value) -> HostValue {
        match self.value(key) {
            key @ HostValue::Text(_) => key,
            key => to_json(&key).map_or(HostValue::None, HostValue::Text),
        }
    }

    fn float(&mut self, value: f64) -> HostValue {
        if value.is_finite() {
            return HostValue::Float(value);
        }
        self.not_finite += 1;
        HostValue::None
    }
}

#[cfg(test)]
mod tests {
    use super::Converter;
    use engine::Value;
    use lib_functions::HostValue;

    fn converted(value: Value) -> HostValue {
        Converter::default().value(value)
    }

    #[test]
    fn values_become_those_of_scripts_without_loss() {
        let text = |text: &str| HostValue::Text(text.to_owned());
        assert_eq!(converted(Value::Int(i128::MIN)), HostValue::Int(i128::MIN.into()));
        assert_eq!(converted(Value::UHuge(u128::MAX)), HostValue::Int(u128::MAX.into()));
        assert_eq!(converted(Value::Float(0.1)), HostValue::Float(0.1));
        assert_eq!(converted(Value::Decimal("12345678901234567890.10".into())), text("12345678901234567890.10"));
        assert_eq!(converted(Value::Blob(vec![0, 255])), text("AP8="));
        assert_eq!(converted(Value::Json("{\"a\": 1}".into())), text("{\"a\": 1}"));
        let pairs = vec![(Value::Int(1), Value::Null), (Value::Text("a".into()), Value::Bool(true))];
        let dict = vec![(text("1"), HostValue::None), (text("a"), HostValue::Bool(true))];
        assert_eq!(converted(Value::Map(pairs)), HostValue::Dict(dict));
        let fields = vec![("b".to_owned(), Value::List(vec![Value::Double(1.5)]))];
        let dict = vec![(text("b"), HostValue::List(vec![HostValue::Float(1.5)]))];
        assert_eq!(converted(Value::Struct(fields)), HostValue::Dict(dict));
    }

    #[test]
    fn what_is_no_number_is_none_and_counted() {
        let mut converter = Converter::default();
        let values = [f64::NAN, f64::INFINITY, 1.0].map(Value::Double);
        let values = [&values[..], &[Value::Float(f32::NEG_INFINITY)]].concat();
        let expected = [HostValue::None, HostValue::None, HostValue::Float(1.0), HostValue::None];
        assert_eq!(converter.value(Value::List(values)), HostValue::List(expected.to_vec()));
        assert_eq!(converter.not_finite, 3);
    }
}
