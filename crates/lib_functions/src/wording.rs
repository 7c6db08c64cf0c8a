//! The language's messages in words of those who write lib files, and what to do about them.

use starlark::ErrorKind;

/// The message without names of the implementation.
pub(crate) fn worded(message: &str) -> String {
    match message {
        "Immutable" => return "what the top level made cannot be changed by a function".to_owned(),
        "Starlark call stack overflow" => return "too many calls inside of each other".to_owned(),
        _ => {}
    }
    // What follows speaks of a place that is not shown.
    if let Some((limit, _)) = message.split_once(" bytes exceeded").filter(|(limit, _)| limit.starts_with("Heap ")) {
        return format!("{} bytes was exceeded", limit.replacen("Heap memory", "the memory", 1));
    }
    if let Some(steps) = message.strip_prefix("Execution duration limit of ").and_then(|rest| rest.split(' ').next()) {
        return format!("the limit of {steps} steps was exceeded");
    }
    if let Some(kind) = message.strip_prefix("Operation `(iter)` not supported on type ") {
        return format!("a value of type {kind} cannot be iterated");
    }
    [
        ("Object of type `namespace`", "the module"),
        ("Object of type `struct`", "`page`"),
        ("Object of type", "a value of type"),
        ("NoneType", "None"),
    ]
    .iter()
    .fold(message.to_owned(), |message, (theirs, ours)| message.replace(theirs, ours))
}

/// The message about the arguments of a call, without the function: it is named in front.
pub(crate) fn of_call(message: &str) -> &str {
    message.split_once(" for call to ").map_or(message, |(before, _)| before)
}

/// What to do about an error with this message of the language.
pub(crate) fn help(kind: &ErrorKind, message: &str, no_json: Option<&str>) -> String {
    match kind {
        ErrorKind::Fail(_) => "the file says so itself, by fail()".to_owned(),
        ErrorKind::StackOverflow(_) => "end the recursion, or write it as a loop".to_owned(),
        _ if message.contains("NoneType") => none_help(no_json),
        _ => help_by_message(message).to_owned(),
    }
}

/// What to do about a `None` that should be something: most often a body that is no JSON, of which it is told why.
pub(crate) fn none_help(no_json: Option<&str>) -> String {
    let why = no_json.map(|why| format!(" ({why})")).unwrap_or_default();
    format!("a value is None: `resp.json` is None if the body is no JSON{why}, look at `resp.text`")
}

fn help_by_message(message: &str) -> &'static str {
    let helps = [
        ("duration limit", "the loops of a call are bounded: give them an end"),
        ("Immutable", "copy it, as in `list(x)`; no state is kept between calls, but what `next` carries"),
        ("referenced before assignment", "a function does not rebind names of the top level: use a name of its own"),
        ("max_response_bytes", "raise \"max_response_bytes\" in API, or ask for less at a time"),
        (
            "request failed after",
            "check that the service is there; \"timeout\", \"retry\" and \"backoff\" in API say how long to try",
        ),
        ("memory limit", "give back fewer rows a page, and keep less"),
        ("Object of type `struct`", "`page` has `cursor` and `size`"),
        ("Operation `(iter)` not supported on type `string`", "a text's characters are `text.elems()`"),
    ];
    if message.starts_with("Key ") && message.ends_with("was not found") {
        return "`x.get(key)` gives None where a key may be missing";
    }
    if message.starts_with("Variable ") && message.contains("not found") {
        return "bind the name before it is used, or correct it";
    }
    let found = helps.iter().find(|(sign, _)| message.contains(sign));
    found.map_or("correct the line that is shown", |(_, help)| help)
}
