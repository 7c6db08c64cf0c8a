//! What a function returned: how it is shown, and the error when it is none of what may be returned.

use starlark::values::{Heap, Value};

use crate::bounds::weigh;
use crate::explain::CallError;
use crate::running::Running;
use crate::wording::none_help;
use crate::{BatchMode, Lib, LibError, LibErrorKind};

impl Running<'_> {
    /// The error for a value that the function should not have returned.
    pub(crate) fn wrong(&self, function: &str, what: &str) -> CallError {
        let lib = self.lib();
        let help = if what.ends_with("not None") {
            none_help(self.no_json.get().as_deref())
        } else {
            help(lib, function).to_owned()
        };
        let place = lib.functions.get(function).map(|signature| Box::new(lib.program.main().place_of(signature.span)));
        CallError::Failed(LibError {
            kind: LibErrorKind::Failed,
            message: self.told(&format!("{}.{function}: {what}", lib.name)),
            help,
            place,
        })
    }
}

/// What a function has to return.
fn help(lib: &Lib, function: &str) -> &'static str {
    let is_job = || lib.api.push.as_ref().is_some_and(|push| push.batch_mode == BatchMode::Async);
    match function {
        "submit" => "return what check() needs to find the job, as data; None if there is nothing to fetch",
        "check" => "return None while the job runs, then what fetch_result() needs, as data",
        "push" if is_job() => "return what poll() needs to find the job, as a dict of data",
        "push" => "return {\"rowid:change_type\": \"ok\"} with an entry for every row, or fail() for all of them",
        "poll" => "return {\"done\": False} while the job runs, then {\"done\": True, \"per_row\": {…}} with every row",
        "finalize" => "return nothing, or fail()",
        _ => "return {\"rows\": [{…}], \"next\": cursor of the next page}",
    }
}

/// A value's type; a function that returns nothing returns None.
pub(crate) fn type_name(value: Value<'_>) -> &'static str {
    if value.is_none() { "None" } else { value.get_type() }
}

/// A value as text; its type, if it is too large to be shown.
pub(crate) fn shown<'v>(value: Value<'v>, heap: Heap<'v>) -> String {
    weigh(value, heap).map_or_else(|_| value.get_type().to_owned(), |_| value.to_str())
}
