//! Turns the language's errors into those of the user's file.

use starlark::ErrorKind;
use types::{Place, printable};

use crate::builtins::Failure;
use crate::host::Host;
use crate::surroundings::Surroundings;
use crate::wording::{help, of_call, worded};
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

/// What `abort()` raises.
#[derive(Debug, thiserror::Error)]
#[error("abort() was called")]
pub(crate) struct Abort;

/// What a wait raises when the run is stopped.
#[derive(Debug, thiserror::Error)]
#[error("the run was stopped")]
pub(crate) struct Stopped;

impl From<Stopped> for starlark::Error {
    fn from(stopped: Stopped) -> Self {
        Self::new_other(stopped)
    }
}

/// The user's error for one of the language, in a function of the lib.
pub(crate) fn explain(
    lib: &Lib,
    host: &Host,
    around: &Surroundings,
    function: &str,
    error: &starlark::Error,
) -> CallError {
    if is::<Abort>(error.kind()) {
        return CallError::Aborted;
    }
    let mut failed = failed(lib, host, around, &format!("{}.{function}", lib.name), error);
    // Limits are noticed between two operations, where the language knows no place.
    let of_function = || lib.functions.get(function).map(|it| Box::new(lib.program.main().place_of(it.span)));
    failed.place = failed.place.or_else(of_function);
    CallError::Failed(failed)
}

/// The user's error for one of the language, outside of functions: nothing can be aborted there.
pub(crate) fn explain_top_level(
    lib: &Lib,
    host: &Host,
    around: &Surroundings,
    file: &str,
    error: &starlark::Error,
) -> LibError {
    if is::<Abort>(error.kind()) {
        return LibError {
            kind: LibErrorKind::Failed,
            message: format!("{file}: abort() is called outside of a function"),
            help: "call it in fetch(), submit(), check() or fetch_result()".into(),
            place: place(lib, error),
        };
    }
    failed(lib, host, around, file, error)
}

/// Where in the lib's files.
fn place(lib: &Lib, error: &starlark::Error) -> Option<Box<Place>> {
    let span = error.span()?;
    let source = lib.program.source(span.file.filename())?;
    Some(Box::new(source.executed_place_of(span.span)))
}

/// `name` is what failed, as it begins the message.
fn failed(lib: &Lib, host: &Host, around: &Surroundings, name: &str, error: &starlark::Error) -> LibError {
    let run_stopped = host.stop().is_requested();
    let was_stopped = is::<Stopped>(error.kind()) || around.stop.is_requested();
    let place = place(lib, error);
    if run_stopped && was_stopped {
        return LibError { place, ..LibError::stopped(name) };
    }
    let (message, help) = if was_stopped {
        let limit = host.options().limits.time.as_secs();
        (format!("took longer than {limit} s"), "bound its loops and waits".to_owned())
    } else {
        let message = error.without_diagnostic().to_string();
        let message = message.strip_prefix("fail:").unwrap_or(&message);
        let own = find::<Failure>(error.kind()).and_then(|failure| failure.help.clone());
        let help = own.unwrap_or_else(|| help(error.kind(), message, around.no_json.get().as_deref()));
        (told(error.kind(), message, place.as_deref()), help)
    };
    let message = shortened(&host.redact(&format!("{name}: {message}")));
    LibError { kind: LibErrorKind::Failed, message, help, place }
}

/// The message for people; what `fail` says stays as it is.
fn told(kind: &ErrorKind, message: &str, place: Option<&Place>) -> String {
    if matches!(kind, ErrorKind::Fail(_)) {
        return message.trim_end().to_owned();
    }
    match place.and_then(|place| callee(kind, message, place)) {
        Some(callee) => format!("{callee}: {}", worded(of_call(message).trim_end())),
        None => worded(message.trim_end()),
    }
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
pub(crate) fn shortened(message: &str) -> String {
    match message.char_indices().nth(MESSAGE_CHARS) {
        Some((end, _)) => format!("{}…", printable(&message[..end])),
        None => printable(message),
    }
}

/// Whether it is this error of ours.
fn is<E: std::error::Error + Send + Sync + 'static>(kind: &ErrorKind) -> bool {
    find::<E>(kind).is_some()
}

/// This error of ours, if it is one.
fn find<E: std::error::Error + Send + Sync + 'static>(kind: &ErrorKind) -> Option<&E> {
    match kind {
        ErrorKind::Other(error) | ErrorKind::Native(error) | ErrorKind::Value(error) | ErrorKind::Function(error) => {
            error.downcast_ref::<E>()
        }
        _ => None,
    }
}
