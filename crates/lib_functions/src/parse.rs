//! From a text to a syntax tree, in the dialect of lib files (chapter 03 §3.2).

use starlark::syntax::{AstModule, Dialect, DialectTypes};
use starlark_syntax::codemap::Span;

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
    if let Some(at) = source.stray_while {
        let place = types::Place::word_at(&source.path, &source.text, at);
        return Err(LibError::file(
            format!("{}: `while` stands outside of a function", source.path.display()),
            "put the loop into a function",
            Some(place),
        ));
    }
    let name = source.path.display().to_string();
    AstModule::parse(&name, source.adapted.clone(), &DIALECT).map_err(|error| {
        let place =
            error.span().map(|span| source.place(span.span.begin().get() as usize, span.span.end().get() as usize));
        LibError::file(format!("{name}: {}", error.without_diagnostic()), "correct the line that is shown", place)
    })
}

impl Source {
    /// The place of a span of the syntax tree.
    pub(crate) fn place_of(&self, span: Span) -> types::Place {
        self.place(span.begin().get() as usize, span.end().get() as usize)
    }

    /// The error for something that is wrong in the syntax tree.
    pub(crate) fn error(&self, problem: &Problem) -> LibError {
        let message = format!("{}: {}", self.path.display(), problem.message);
        LibError::file(message, "correct the line that is shown", Some(self.place_of(problem.span)))
    }
}
