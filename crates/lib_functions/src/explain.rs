//! Turns the language's errors into those of the user's file.

use http_client::{HttpError, Stop};
use starlark::ErrorKind;
use types::Place;

use crate::host::Host;
use crate::{Lib, LibError, LibErrorKind};

/// Longest message.
const MESSAGE_CHARS: usize = 4_000;

/// How a call ended without a value.
#[derive(Debug)]
pub enum CallError {
    /// The script called `abort()`.
    Aborted,
    /// It failed.
    Failed(LibError),
}

impl CallError {
    /// The error; an abort where none can be.
    pub(crate) fn into_lib_error(self, lib: &str) -> LibError {
        match self {
            Self::Failed(error) => error,
            Self::Aborted => LibError {
                kind: LibErrorKind::Failed,
                message: format!("{lib}: abort() is called where nothing can be aborted"),
                help: "call it in fetch(), submit(), check() or fetch_result()".into(),
                place: None,
            },
        }
    }
}

/// What `abort()` raises.
#[derive(Debug, thiserror::Error)]
#[error("abort() was called")]
pub(crate) struct Abort;

/// What a wait raises when the run is stopped.
#[derive(Debug, thiserror::Error)]
#[error("the run was stopped")]
pub(crate) struct Stopped;

/// The user's error for one of the language.
pub(crate) fn explain(lib: &Lib, host: &Host, stop: &Stop, function: &str, error: &starlark::Error) -> CallError {
    if is::<Abort>(error.kind()) {
        return CallError::Aborted;
    }
    let run_stopped = host.stop().is_requested();
    let was_stopped = is::<Stopped>(error.kind()) || is_stopped_request(error.kind()) || stop.is_requested();
    let place = error.span().and_then(|span| {
        let source = lib.program.source(span.file.filename())?;
        Some(Box::new(source.executed_place_of(span.span)))
    });
    let name = format!("{}.{function}", lib.name);
    let (kind, message, help) = if run_stopped && was_stopped {
        (LibErrorKind::Stopped, format!("{name}: the run was stopped"), "run again".to_owned())
    } else if was_stopped {
        let limit = host.options().limits.time.as_secs();
        (LibErrorKind::Failed, format!("{name}: took longer than {limit} s"), "bound its loops and waits".to_owned())
    } else {
        let message = error.without_diagnostic().to_string();
        let message = message.strip_prefix("fail:").unwrap_or(&message).to_owned();
        let message = match place.as_deref().and_then(|place| callee(error.kind(), &message, place)) {
            Some(callee) => format!("{callee}: {message}"),
            None => message,
        };
        (LibErrorKind::Failed, format!("{name}: {}", message.trim_end()), help(error.kind(), &message))
    };
    CallError::Failed(LibError { kind, message: shortened(&host.options().redactor.redact(&message)), help, place })
}

/// Which function was called, if the error is about the arguments of that call: the language's own messages do not begin
/// with its name.
fn callee<'a>(kind: &ErrorKind, message: &str, place: &'a Place) -> Option<&'a str> {
    let is_about_call = matches!(kind, ErrorKind::Function(_))
        || matches!(kind, ErrorKind::Value(_)) && message.starts_with("Type of parameter ");
    let called = place.source().get(place.span())?.split_once('(')?.0.trim_end();
    let is_name = !called.is_empty() && called.chars().all(|c| c.is_alphanumeric() || "_.".contains(c));
    (is_about_call && is_name).then_some(called)
}

/// A message for people: without what would steer a terminal, and no longer than can be read.
fn shortened(message: &str) -> String {
    let shown = |c: char| if c.is_control() && c != '\n' && c != '\t' { '\u{fffd}' } else { c };
    match message.char_indices().nth(MESSAGE_CHARS) {
        Some((end, _)) => message[..end].chars().map(shown).chain(['…']).collect(),
        None => message.chars().map(shown).collect(),
    }
}

fn help(kind: &ErrorKind, message: &str) -> String {
    let help = match kind {
        ErrorKind::Fail(_) => "the function says so itself, by fail()",
        ErrorKind::StackOverflow(_) => "end the recursion, or write it as a loop",
        _ if message.contains("duration limit") => "the loops of a call are bounded: give them an end",
        _ if message.contains("Immutable") => {
            "what the top level made cannot be changed: no state is kept between calls"
        }
        _ if message.contains("max_response_bytes") => "raise \"max_response_bytes\" in API, or ask for less at a time",
        _ if message.contains("request failed after") => {
            "check that the service is there; \"timeout\", \"retry\" and \"backoff\" in API say how long to try"
        }
        _ if message.contains("NoneType") => {
            "a value is None: `resp.json` is None if the body is no JSON, look at `resp.text`"
        }
        _ if message.contains("memory limit") => "give back fewer rows a page, and keep less",
        _ => "correct the line that is shown",
    };
    help.to_owned()
}

fn is_stopped_request(kind: &ErrorKind) -> bool {
    cause(kind)
        .and_then(|cause| cause.downcast_ref::<HttpError>())
        .is_some_and(|error| matches!(error, HttpError::Stopped))
}

fn is<E: std::error::Error + Send + Sync + 'static>(kind: &ErrorKind) -> bool {
    cause(kind).and_then(|cause| cause.downcast_ref::<E>()).is_some()
}

fn cause(kind: &ErrorKind) -> Option<&(dyn std::error::Error + 'static)> {
    match kind {
        ErrorKind::Other(error) | ErrorKind::Native(error) | ErrorKind::Value(error) | ErrorKind::Function(error) => {
            Some(error.as_ref())
        }
        _ => None,
    }
}
