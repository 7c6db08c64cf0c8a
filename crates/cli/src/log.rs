//! What is said beside results: lines for people, or one JSON object a line for programs (`--log-format`).

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use jiff::Timestamp;
use serde_json::{Map, Value, json};
use types::Place;

/// The form of what goes to standard error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LogFormat {
    Text,
    Json,
}

impl LogFormat {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        match text {
            "text" => Some(Self::Text),
            "json" => Some(Self::Json),
            _ => None,
        }
    }
}

/// How much a line matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    Info,
    Warn,
    Error,
}

impl Level {
    const fn word(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warn => "warn",
            Self::Error => "error",
        }
    }
}

/// What is known of what a line is about.
pub(crate) type Fields = Map<String, Value>;

/// Fields by their names, without those that are null.
pub(crate) fn fields<const N: usize>(pairs: [(&str, Value); N]) -> Fields {
    let known = pairs.into_iter().filter(|(_, value)| !value.is_null());
    known.map(|(key, value)| (key.to_owned(), value)).collect()
}

/// `file`, `line` and `column` of a place.
pub(crate) fn place_fields(place: &Place) -> Fields {
    fields([
        ("file", place.file().display().to_string().into()),
        ("line", place.line().into()),
        ("column", place.column().into()),
    ])
}

/// Where lines go that are no results. Clones write to the same; any thread may.
#[derive(Clone, Default)]
pub(crate) struct Log {
    is_json: Arc<AtomicBool>,
    run: Arc<OnceLock<Fields>>,
}

impl Log {
    pub(crate) fn set_format(&self, format: LogFormat) {
        self.is_json.store(format == LogFormat::Json, Ordering::Relaxed);
    }

    pub(crate) fn is_json(&self) -> bool {
        self.is_json.load(Ordering::Relaxed)
    }

    /// From now on every object names the run.
    pub(crate) fn set_run(&self, run_id: &str) {
        self.set(fields([("run_id", run_id.into())]));
    }

    /// The same; every object says that it is not of the real lake, too.
    pub(crate) fn set_sandbox(&self, run_id: &str) {
        self.set(fields([("run_id", run_id.into()), ("sandbox", true.into())]));
    }

    fn set(&self, of_run: Fields) {
        // A process runs once.
        let _ = self.run.set(of_run);
    }

    /// Writes text as it is.
    pub(crate) fn text(text: &str) {
        // One call a line: those of several threads do not mix. Nobody is left to be told if it fails.
        let _ = io::stderr().write_all(format!("{text}\n").as_bytes());
    }

    /// Writes an object.
    pub(crate) fn object(&self, level: Level, message: &str, fields: Fields) {
        Self::text(&self.line(Timestamp::now(), level, message, fields));
    }

    /// Writes a line that a lib function prints, or that a run says of lib functions: those begin with `warning: `.
    pub(crate) fn printed(&self, line: &str) {
        if !self.is_json() {
            return Self::text(line);
        }
        match line.strip_prefix("warning: ") {
            Some(warning) => self.object(Level::Warn, warning, Fields::new()),
            None => self.object(Level::Info, line, Fields::new()),
        }
    }

    fn line(&self, now: Timestamp, level: Level, message: &str, fields: Fields) -> String {
        let mut object = Fields::new();
        object.insert("timestamp".into(), json!(now.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()));
        object.insert("level".into(), json!(level.word()));
        object.insert("message".into(), json!(message.trim()));
        object.extend(self.run.get().cloned().unwrap_or_default());
        object.extend(fields);
        Value::Object(object).to_string()
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use serde_json::{Value, json};

    use super::{Level, Log, fields};

    #[test]
    fn an_object_names_time_level_message_run_and_what_is_known() {
        let log = Log::default();
        let now: Timestamp = "2026-01-02T03:04:05.067891Z".parse().unwrap();
        let known = || fields([("rows", json!(3)), ("code", Value::Null)]);
        assert_eq!(
            log.line(now, Level::Info, "\nDone: \"a\"\nb ", known()),
            r#"{"timestamp":"2026-01-02T03:04:05.067Z","level":"info","message":"Done: \"a\"\nb","rows":3}"#
        );
        log.clone().set_run("r-1");
        assert_eq!(
            log.line(now, Level::Error, "x", known()),
            r#"{"timestamp":"2026-01-02T03:04:05.067Z","level":"error","message":"x","run_id":"r-1","rows":3}"#
        );
    }
}
