//! From a text to a syntax tree, in the dialect of lib files (chapter 03 §3.2).

use std::ops::Range;
use std::sync::Arc;

use starlark::syntax::{AstModule, Dialect, DialectTypes};
use starlark_syntax::codemap::Span;
use types::Place;

use crate::LibError;
use crate::literal::Problem;
use crate::source::Source;

/// What the language can do: functions, lambdas, `load`, keyword-only parameters, f-strings; no types, and no `if`,
/// `for` or `while` outside of functions.
const DIALECT: Dialect = Dialect {
    enable_def: true,
    enable_lambda: true,
    enable_load: true,
    enable_keyword_only_arguments: true,
    enable_positional_only_arguments: false,
    enable_types: DialectTypes::Disable,
    enable_load_reexport: false,
    enable_top_level_stmt: false,
    enable_f_strings: true,
    ..Dialect::Standard
};

const HELP: &str = "correct what is shown";

/// Parses a lib file.
pub(crate) fn parse(source: &Source) -> Result<AstModule, LibError> {
    let name = source.path.display().to_string();
    if let Some(fault) = source.fault {
        let place = Place::word_at(&source.path, &source.text, fault.at);
        return Err(LibError::file(format!("{name}: {}", fault.message), fault.help, Some(place)));
    }
    AstModule::parse(&name, source.adapted.clone(), &DIALECT).map_err(|error| {
        let span = error.span().map(|span| span.span);
        if let Some(at) = span.and_then(|span| source.unclosed_before(span)) {
            let message = format!("{name}: `{}` is never closed", &source.text[at..=at]);
            let place = Place::new(&source.path, Arc::clone(&source.text), at..at + 1);
            return LibError::file(message, "close the bracket", Some(place));
        }
        let message = understandable(&error.without_diagnostic().to_string());
        let help = instead(&message).unwrap_or(HELP);
        LibError::file(format!("{name}: {message}"), help, span.map(|span| source.word_of(span)))
    })
}

/// The bytes of a span in the text that was parsed.
pub(crate) fn bytes(span: Span) -> Range<usize> {
    span.begin().get() as usize..span.end().get() as usize
}

/// Parses what is executed of a file that was read.
pub(crate) fn parse_executed(source: &Source) -> starlark::Result<AstModule> {
    AstModule::parse(&source.path.display().to_string(), source.executed().to_owned(), &DIALECT)
}

/// The parser's message in words that do not speak of parsers and dialects, and know `while`.
fn understandable(message: &str) -> String {
    let message = message.strip_prefix("Parse error: ").unwrap_or(message);
    let reserved = message.strip_prefix("cannot use reserved keyword ");
    if let Some(word) = reserved.filter(|word| *word != "`while`") {
        return format!("the language has no {word}");
    }
    if message == "cannot use reserved keyword `while`" {
        return "`while` must begin a line, and `:` end its condition".into();
    }
    [
        (" in this dialect", ""),
        ("outside `def`", "outside of a function"),
        ("outside of a `def` function", "outside of a function"),
        ("outside of a `for` loop", "outside of a loop"),
    ]
    .iter()
    .fold(message.to_owned(), |message, (theirs, ours)| message.replace(theirs, ours))
}

/// What to write in place of what Python has and the language has not.
fn instead(message: &str) -> Option<&'static str> {
    let helps = [
        ("`try`", "errors cannot be caught: look at `resp.ok`, or give a default, as in `json.decode(text, None)`"),
        ("`except`", "errors cannot be caught: look at `resp.ok`, or give a default, as in `json.decode(text, None)`"),
        ("`raise`", "end a function with `fail(\"why\")`"),
        ("`assert`", "end a function with `fail(\"why\")`"),
        ("`import`", "http, json, time and others are there; other files come with `load(\"lib/x.star\", \"name\")`"),
        ("`from`", "http, json, time and others are there; other files come with `load(\"lib/x.star\", \"name\")`"),
        ("`class`", "write functions, and dicts for data"),
        ("`is`", "compare with `==`"),
        ("`yield`", "return one page at a time: `next` says where the following one begins"),
        ("`global`", "no state is kept between calls, but what `next` carries"),
        ("`nonlocal`", "return the value, or keep it in a list"),
        ("`with`", "a response has been read as a whole: there is nothing to close"),
    ];
    let word = message.strip_prefix("the language has no ")?;
    helps.iter().find(|(known, _)| *known == word).map(|(_, help)| *help)
}

impl Source {
    /// The place of a span of the syntax tree.
    pub(crate) fn place_of(&self, span: Span) -> Place {
        self.place(bytes(span))
    }

    /// The place of a span of the tree that is executed.
    pub(crate) fn executed_place_of(&self, span: Span) -> Place {
        self.executed_place(bytes(span))
    }

    /// The bracket that is not closed, if the parser found nothing wrong before the end of the file.
    fn unclosed_before(&self, span: Span) -> Option<usize> {
        self.unclosed.filter(|_| bytes(span).start >= self.adapted.trim_end().len())
    }

    /// The place of what the parser found fault with: of the first word, if it goes over lines; of the blanks alone, if
    /// it is a line's end with the indentation behind it.
    fn word_of(&self, span: Span) -> Place {
        let place = self.place_of(span);
        let (found, start) = (&self.text[place.span()], place.span().start);
        match found.trim().is_empty() {
            false if found.trim_end().contains('\n') => Place::word_at(&self.path, &self.text, start),
            true if !found.ends_with('\n') => {
                let indent = found.rfind('\n').map_or(0, |line| line + 1);
                Place::new(&self.path, Arc::clone(&self.text), start + indent..place.span().end)
            }
            _ => place,
        }
    }

    /// The error for something that is wrong in the syntax tree.
    pub(crate) fn error(&self, problem: &Problem) -> LibError {
        let message = format!("{}: {}", self.path.display(), problem.message);
        LibError::breaking(problem.rule, message, HELP, Some(self.place_of(problem.span)))
    }
}
