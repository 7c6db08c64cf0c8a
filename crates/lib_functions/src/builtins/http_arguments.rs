//! The keyword arguments of the module `http`.

use std::time::Duration;

use http_client::{Body, ClientTls, Credentials};
use starlark::collections::SmallMap;
use starlark::values::dict::DictRef;
use starlark::values::float::StarlarkFloat;
use starlark::values::{Heap, Value, ValueLike};

use super::json::{self, Style};
use super::{arguments, failure, files};
use crate::host_value::elements;
use crate::surroundings::Surroundings;

/// What is longer is as good as endless: a year, in seconds.
pub(super) const SECONDS_MAX: f64 = 86_400.0 * 365.0;

/// Keyword arguments that are taken one by one.
pub(super) struct Keywords<'v> {
    function: &'static str,
    values: SmallMap<String, Value<'v>>,
    heap: Heap<'v>,
}

/// A header of a call; without a value none of this name is sent.
pub(super) type CallHeader = (String, Option<String>);

/// How a call is authorized, instead of by the API's `auth`.
pub(super) enum CallAuth {
    Basic(Credentials),
    Digest(Credentials),
}

impl<'v> Keywords<'v> {
    pub(super) fn new(function: &'static str, values: SmallMap<String, Value<'v>>, heap: Heap<'v>) -> Self {
        Self { function, values, heap }
    }

    /// A value; `None` counts as left out.
    pub(super) fn take(&mut self, name: &str) -> Option<Value<'v>> {
        self.values.shift_remove(name).filter(|value| !value.is_none())
    }

    /// An error if there are others than those that were taken.
    pub(super) fn finish(self) -> starlark::Result<()> {
        match self.values.keys().next() {
            Some(name) => Err(failure(self.function, format_args!("there is no argument `{name}`"))),
            None => Ok(()),
        }
    }

    pub(super) fn text(&mut self, name: &str) -> starlark::Result<Option<&'v str>> {
        self.take(name).map(|value| arguments::text(self.function, name, value)).transpose()
    }

    /// Pairs of a dict for a query, a form or fields: lists repeat their key, `None` leaves it out.
    pub(super) fn pairs(&mut self, name: &str) -> starlark::Result<Option<Vec<(String, String)>>> {
        let Some(value) = self.take(name) else { return Ok(None) };
        let dict =
            DictRef::from_value(value).ok_or_else(|| arguments::wrong_type(self.function, name, "dict", value))?;
        let mut pairs = Vec::new();
        for (key, value) in dict.iter() {
            let key = key.unpack_str().ok_or_else(|| self.wrong(name, "a key is no str", key))?;
            match elements(value, self.heap) {
                Some(items) => {
                    for item in items {
                        pairs.extend(self.scalar(name, item)?.map(|text| (key.to_owned(), text)));
                    }
                }
                None => pairs.extend(self.scalar(name, value)?.map(|text| (key.to_owned(), text))),
            }
        }
        Ok(Some(pairs))
    }

    /// Headers of a call: `None` as a value takes a default away.
    pub(super) fn headers(&mut self) -> starlark::Result<Vec<CallHeader>> {
        let Some(value) = self.take("headers") else { return Ok(Vec::new()) };
        let dict =
            DictRef::from_value(value).ok_or_else(|| arguments::wrong_type(self.function, "headers", "dict", value))?;
        let pair = |(key, value): (Value<'v>, Value<'v>)| {
            let key = key.unpack_str().ok_or_else(|| self.wrong("headers", "a name is no str", key))?;
            Ok((key.to_owned(), self.scalar("headers", value)?))
        };
        dict.iter().map(pair).collect()
    }

    /// The body: `json`, `data` or `body`.
    pub(super) fn body(&mut self) -> starlark::Result<Body> {
        let (json, data, body) = (self.take("json"), self.pairs("data")?, self.take("body"));
        let bytes = |bytes: Vec<u8>, kind: &str| Body::Bytes(bytes.into(), kind.to_owned());
        match (json, data, body) {
            (None, None, None) => Ok(Body::None),
            (Some(json), None, None) => Ok(bytes(self.json(json)?, "application/json")),
            (None, Some(data), None) => {
                Ok(bytes(http_client::form(&data).into_bytes(), "application/x-www-form-urlencoded"))
            }
            (None, None, Some(body)) => {
                Ok(bytes(arguments::text_or_bytes(self.function, "body", body)?.to_vec(), "application/json"))
            }
            _ => Err(failure(self.function, "`json`, `data` and `body` are mutually exclusive")),
        }
    }

    fn json(&self, value: Value<'v>) -> starlark::Result<Vec<u8>> {
        if let Some(text) = value.unpack_str() {
            return Ok(text.as_bytes().to_vec());
        }
        let is_data = DictRef::from_value(value).is_some() || elements(value, self.heap).is_some();
        if !is_data {
            return Err(arguments::wrong_type(self.function, "json", "dict, list or str", value));
        }
        let text = json::to_text(value, self.heap, Style::Insertion).map_err(|error| failure(self.function, error))?;
        Ok(text.into_bytes())
    }

    /// Seconds that are not negative, or more than 0.
    pub(super) fn seconds(&mut self, name: &str, may_be_zero: bool) -> starlark::Result<Option<Duration>> {
        let Some(value) = self.take(name) else { return Ok(None) };
        let seconds = seconds(self.function, name, value)?;
        let duration = Duration::try_from_secs_f64(seconds.min(SECONDS_MAX)).ok();
        let duration = duration.filter(|duration| may_be_zero || !duration.is_zero());
        let least = if may_be_zero { "0 or more" } else { "more than 0" };
        duration.map(Some).ok_or_else(|| failure(self.function, format_args!("`{name}` must be {least}")))
    }

    pub(super) fn retry(&mut self) -> starlark::Result<Option<u32>> {
        let Some(value) = self.take("retry") else { return Ok(None) };
        let retry = value.unpack_i32().and_then(|retry| u32::try_from(retry).ok());
        retry.map(Some).ok_or_else(|| {
            failure(self.function, format_args!("`retry` must be a whole number, 0 or more, at most {}", i32::MAX))
        })
    }

    /// `(user, password)`, `(user, password, scheme)`.
    pub(super) fn auth(&mut self) -> starlark::Result<Option<CallAuth>> {
        let Some(value) = self.take("auth") else { return Ok(None) };
        let wrong =
            || failure(self.function, "`auth` must be (user, password) or (user, password, \"basic\" or \"digest\")");
        let parts = elements(value, self.heap).ok_or_else(wrong)?;
        let texts: Vec<&str> =
            parts.iter().map(|part| part.unpack_str().ok_or_else(wrong)).collect::<Result<_, _>>()?;
        let credentials = |user: &str, password: &str| match user {
            "" => Err(failure(self.function, "the user of `auth` is empty")),
            user => Ok(Credentials { user: user.to_owned(), password: password.to_owned() }),
        };
        match texts[..] {
            [user, password] | [user, password, "basic"] => Ok(Some(CallAuth::Basic(credentials(user, password)?))),
            [user, password, "digest"] => Ok(Some(CallAuth::Digest(credentials(user, password)?))),
            _ => Err(wrong()),
        }
    }

    /// `cert`, `key` and `ca`, read from their files.
    pub(super) fn tls(&mut self, surroundings: &Surroundings) -> starlark::Result<Option<ClientTls>> {
        let (cert, key, ca) = (self.text("cert")?, self.text("key")?, self.text("ca")?);
        let read = |path: &str| files::read(self.function, surroundings, path);
        match (cert, key) {
            (Some(cert), Some(key)) => {
                Ok(Some(ClientTls { cert: read(cert)?, key: read(key)?, ca: ca.map(read).transpose()? }))
            }
            (None, None) if ca.is_some() => Err(failure(self.function, "`ca` requires cert and key")),
            (None, None) => Ok(None),
            _ => Err(failure(self.function, "`cert` and `key` must be provided together")),
        }
    }

    /// The text of a value in a query, a form or a header; nothing for `None`.
    fn scalar(&self, name: &str, value: Value<'v>) -> starlark::Result<Option<String>> {
        if value.is_none() {
            return Ok(None);
        }
        if let Some(text) = value.unpack_str() {
            return Ok(Some(text.to_owned()));
        }
        if let Some(flag) = value.unpack_bool() {
            return Ok(Some(flag.to_string()));
        }
        if matches!(value.get_type(), "int" | "float") {
            return Ok(Some(value.to_str()));
        }
        Err(self.wrong(name, "a value is no str, int, float, bool, list or None", value))
    }

    fn wrong(&self, name: &str, what: &str, value: Value<'v>) -> starlark::Error {
        failure(self.function, format_args!("`{name}`: {what}, but {}", value.get_type()))
    }
}

/// A number of seconds, finite.
pub(super) fn seconds(function: &str, name: &str, value: Value<'_>) -> starlark::Result<f64> {
    let number = match value.downcast_ref::<StarlarkFloat>() {
        Some(float) => Some(float.0),
        None if value.get_type() == "int" => value.to_str().parse().ok(),
        None => None,
    };
    let number = number.ok_or_else(|| arguments::wrong_type(function, name, "int or float", value))?;
    if number.is_finite() {
        Ok(number)
    } else {
        Err(failure(function, format_args!("`{name}` must be a number of seconds, not {number}")))
    }
}
