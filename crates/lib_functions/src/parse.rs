//! From a text to a syntax tree, in the dialect of lib files (chapter 03 §3.2).

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

/// Parses a lib file.
pub(crate) fn parse(source: &Source) -> Result<AstModule, LibError> {
    let name = source.path.display().to_string();
    if let Some(fault) = source.fault {
        let place = Place::word_at(&source.path, &source.text, fault.at);
        return Err(LibError::file(format!("{name}: {}", fault.message), fault.help, Some(place)));
    }
    AstModule::parse(&name, source.adapted.clone(), &DIALECT).map_err(|error| {
        let place = error.span().map(|span| source.word_of(span.span));
        let message = understandable(&error.without_diagnostic().to_string());
        LibError::file(format!("{name}: {message}"), "correct the line that is shown", place)
    })
}

/// The parser's message in words that do not speak of parsers and dialects.
fn understandable(message: &str) -> String {
    let message = message.strip_prefix("Parse error: ").unwrap_or(message);
    match message {
        "cannot use reserved keyword `while`" => "`while` must begin a line, and `:` end its condition".into(),
        _ => message.replace(" in this dialect", "").replace("outside `def`", "outside of a function"),
    }
}

impl Source {
    /// The place of a span of the syntax tree.
    pub(crate) fn place_of(&self, span: Span) -> Place {
        self.place(span.begin().get() as usize, span.end().get() as usize)
    }

    /// The place of a span, or of its first word if it goes over lines.
    fn word_of(&self, span: Span) -> Place {
        let place = self.place_of(span);
        match self.text[place.span()].trim_end().contains('\n') {
            true => Place::word_at(&self.path, &self.text, place.span().start),
            false => place,
        }
    }

    /// The error for something that is wrong in the syntax tree.
    pub(crate) fn error(&self, problem: &Problem) -> LibError {
        let message = format!("{}: {}", self.path.display(), problem.message);
        LibError::file(message, "correct the line that is shown", Some(self.place_of(problem.span)))
    }
}
