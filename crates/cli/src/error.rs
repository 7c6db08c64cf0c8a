//! The one funnel for errors: text, place, help, exit code (chapter 05 §1.3, §1.4).

use std::fmt;
use std::process::ExitCode;
use std::sync::Arc;

use miette::{
    GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteError, MietteSpanContents, SourceSpan, ThemeCharacters,
    ThemeStyles,
};
use project::ProjectError;
use runtime::RunError;
use state::StateError;
use types::{Code, Diagnose};

use crate::excerpt::Excerpt;
use crate::log::{Fields, Level, Log, fields, place_fields};
use crate::ui::Ui;

/// Why a command ends with something other than its result.
#[derive(Debug)]
pub(crate) enum CliError {
    /// Help was asked for in a way that only the argument parser noticed.
    Help(String),
    /// The command line is wrong: exit 2.
    Usage { message: String, help: String },
    /// Something failed: exit 1.
    Failed(Box<dyn Diagnose>),
    /// Failures were reported already; this closes them: exit 1.
    Summary(String),
    /// The reader of standard output is gone: nothing more to say.
    ClosedPipe,
}

impl CliError {
    pub(crate) fn usage(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::Usage { message: message.into(), help: help.into() }
    }

    /// Prints the error and gives the exit code.
    pub(crate) fn report(&self, ui: &Ui) -> ExitCode {
        match self {
            Self::Help(text) => {
                return match ui.result(text) {
                    Ok(()) => ExitCode::SUCCESS,
                    Err(error) => error.report(ui),
                };
            }
            Self::ClosedPipe => return ExitCode::SUCCESS,
            Self::Summary(message) => ui.say(Level::Error, &format!("error: {message}"), message, Fields::new()),
            Self::Usage { message, help } => {
                let text = format!("error: {message} [{}]\nhelp: {help}", Code::Usage);
                let known = [("code", Code::Usage.as_str().into()), ("help", help.as_str().into())];
                ui.say(Level::Error, &text, message, fields(known));
                return ExitCode::from(2);
            }
            Self::Failed(error) => tell("", error.as_ref(), Fields::new(), ui),
        }
        ExitCode::FAILURE
    }
}

impl From<ProjectError> for CliError {
    fn from(error: ProjectError) -> Self {
        Self::Failed(Box::new(error))
    }
}

impl From<StateError> for CliError {
    fn from(error: StateError) -> Self {
        Self::Failed(Box::new(error))
    }
}

impl From<RunError> for CliError {
    fn from(error: RunError) -> Self {
        Self::Failed(Box::new(error))
    }
}

/// Standard output cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("write standard output: {0}")]
pub(crate) struct OutputError(String);

impl Diagnose for OutputError {
    fn code(&self) -> Code {
        Code::Output
    }

    fn help(&self) -> String {
        "check the disk or the program that reads the output".into()
    }
}

impl From<std::io::Error> for CliError {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::BrokenPipe => Self::ClosedPipe,
            _ => Self::Failed(Box::new(OutputError(error.to_string()))),
        }
    }
}

/// Says an error on stderr; `context` goes before the message, `known` is what else an object of the log is to tell.
pub(crate) fn tell(context: &str, error: &dyn Diagnose, mut known: Fields, ui: &Ui) {
    if !ui.logs_json() {
        return Log::text(&render(context, error, ui));
    }
    known.extend(fields([("code", error.code().as_str().into()), ("help", error.help().into())]));
    known.extend(error.place().map(place_fields).unwrap_or_default());
    ui.say(Level::Error, "", &format!("{context}{error}"), known);
}

/// `error: message [CODE]`, the place with the user's line, and `help:`; `context` goes before the message.
/// Secrets are taken out of the message, and blotted out in the excerpt.
fn render(context: &str, error: &dyn Diagnose, ui: &Ui) -> String {
    let report = Report::new(context, error, ui);
    let styles = if ui.has_error_color() { ThemeStyles::ansi() } else { ThemeStyles::none() };
    let characters = ThemeCharacters { error: "error:".into(), ..ThemeCharacters::unicode() };
    let handler = GraphicalReportHandler::new_themed(GraphicalTheme { characters, styles })
        .with_links(false)
        .with_cause_chain()
        .with_context_lines(1)
        .with_wrap_lines(false)
        .with_width(400);
    let mut text = String::new();
    if handler.render_report(&mut text, &report).is_err() {
        return format!("error: {report}");
    }
    plain_layout(&text)
}

/// Miette's layout without its indentation, blank lines and bars around the message; the excerpt stays.
fn plain_layout(text: &str) -> String {
    let mut lines = Vec::new();
    let mut in_excerpt = false;
    for line in text.lines().map(str::trim_end) {
        in_excerpt |= line.contains("╭─[");
        let outside = line.strip_prefix("  ").filter(|_| !in_excerpt).unwrap_or(line);
        if !matches!(outside, "" | "│") {
            // Further lines of a message get a bar; plain indentation copies better.
            lines.push(outside.strip_prefix("│ ").map_or_else(|| outside.to_owned(), |rest| format!("  {rest}")));
        }
        in_excerpt &= !line.contains("╰────");
    }
    lines.join("\n")
}

/// An error in the form that miette prints.
struct Report {
    message: String,
    help: String,
    place: Option<(Source, LabeledSpan)>,
}

impl Report {
    fn new(context: &str, error: &dyn Diagnose, ui: &Ui) -> Self {
        let place = error.place().filter(|place| !place.source().is_empty()).map(|place| {
            let Excerpt { text, span, missing } = Excerpt::of(&ui.redactor().blot(place.source()), place.span());
            let source = Source { name: place.file().display().to_string(), text: text.into(), missing };
            (source, LabeledSpan::new_primary_with_span(None, (span.start, span.len().max(1))))
        });
        Self {
            message: format!("{context}{} [{}]", ui.message(&error.to_string()), error.code()),
            help: ui.message(&error.help()),
            place: place.filter(fits),
        }
    }
}

/// The user's file. Miette counts columns in bytes; people count characters.
struct Source {
    name: String,
    text: Arc<str>,
    /// Characters that are missing before the place in its line.
    missing: usize,
}

impl miette::SourceCode for Source {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        lines_before: usize,
        lines_after: usize,
    ) -> Result<Box<dyn miette::SpanContents<'a> + 'a>, MietteError> {
        let contents = self.text.as_ref().read_span(span, lines_before, lines_after)?;
        let start = contents.span().offset();
        let line_start = self.text[..start].rfind('\n').map_or(0, |at| at + 1);
        let column = self.text[line_start..start].chars().count() + self.missing;
        let (data, span, line) = (contents.data(), *contents.span(), contents.line());
        let named = MietteSpanContents::new_named(self.name.clone(), data, span, line, column, contents.line_count());
        Ok(Box::new(named))
    }
}

/// A place behind the end of an empty line cannot be drawn.
fn fits((source, label): &(Source, LabeledSpan)) -> bool {
    label.offset() + label.len() <= source.text.len()
}

impl fmt::Debug for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Report {}

impl miette::Diagnostic for Report {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(&self.help))
    }

    fn source_code(&self) -> Option<&dyn miette::SourceCode> {
        self.place.as_ref().map(|(source, _)| source as &dyn miette::SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        self.place.as_ref().map(|(_, label)| Box::new(std::iter::once(label.clone())) as Box<_>)
    }
}

#[cfg(test)]
mod tests {
    use super::plain_layout;

    #[test]
    fn only_the_excerpt_keeps_its_indentation() {
        let text = "  error: a\n  │ b [X-1]\n    ╭─[m.sql:10:1]\n  9 │ x\n 10 │ y\n    · ─\n    ╰────\n  help: c\n";
        let expected = "error: a\n  b [X-1]\n    ╭─[m.sql:10:1]\n  9 │ x\n 10 │ y\n    · ─\n    ╰────\nhelp: c";
        assert_eq!(plain_layout(text), expected);
    }
}
