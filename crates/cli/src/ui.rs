//! Where text goes: results to stdout, everything else to stderr (chapter 05 §1.3, §1.5).
// The methods belong to the streams even where they look at no setting of theirs.
#![allow(clippy::unused_self, clippy::struct_excessive_bools)]

use std::cell::{Cell, OnceCell};
use std::io::{self, IsTerminal, Write};

use console::Term;
use project::Redactor;
use serde_json::Value;
use types::printable;

use crate::error::CliError;
use crate::invocation::LOG_FORMAT;
use crate::log::{Fields, Level, Log, LogFormat};

/// The two streams, and what they can show.
pub(crate) struct Ui {
    /// Whether stdout is for JSON alone.
    pub json: bool,
    /// What is no result.
    log: Log,
    /// Whether the form of the log was chosen.
    is_log_chosen: Cell<bool>,
    /// Whether nothing may be colored or drawn.
    is_plain: bool,
    /// Whether stdout is a terminal.
    has_terminal: bool,
    /// Whether stderr is one.
    has_error_terminal: bool,
    /// Takes secrets out of errors and warnings; known once the project is.
    redactor: OnceCell<Redactor>,
    /// Why a line could not be written to stdout, the first time.
    lost: OnceCell<io::Error>,
}

/// Columns of boxes that go into a pipe or a file.
const COLUMNS_WITHOUT_TERMINAL: usize = 120;

/// Colors of status words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Color {
    Green,
    Yellow,
    Red,
}

/// The form that `--log-format` names.
fn log_format(text: &str) -> Result<LogFormat, CliError> {
    LogFormat::parse(text).ok_or_else(|| {
        let message = match text {
            "" => "--log-format requires a value".to_owned(),
            text => format!("invalid --log-format value: {text}"),
        };
        CliError::usage(message, "write --log-format text or --log-format json")
    })
}

impl Ui {
    pub(crate) fn from_terminal(json: bool, log: Log) -> Self {
        let is_plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
            || std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        Self {
            json,
            log,
            is_log_chosen: Cell::new(false),
            is_plain,
            has_terminal: io::stdout().is_terminal(),
            has_error_terminal: io::stderr().is_terminal(),
            redactor: OnceCell::new(),
            lost: OnceCell::new(),
        }
    }

    /// Chooses the form of the log by the flag, or else by the variable of the process. A mistake in the flag is told
    /// in the form that the variable says.
    pub(crate) fn choose_log_format(&self, flag: Option<&str>) -> Result<(), CliError> {
        let chosen = flag.map(log_format).transpose();
        if let Ok(Some(format)) = chosen {
            self.set_log_format(format);
        }
        self.take_log_format(std::env::var(LOG_FORMAT).ok().as_deref())?;
        chosen.map(drop)
    }

    /// Takes the form of the log from the value of its variable, unless it was chosen before.
    pub(crate) fn take_log_format(&self, value: Option<&str>) -> Result<(), CliError> {
        let Some(text) = value.map(str::trim).filter(|text| !text.is_empty() && !self.is_log_chosen.get()) else {
            return Ok(());
        };
        match LogFormat::parse(text) {
            Some(format) => {
                self.set_log_format(format);
                Ok(())
            }
            None => Err(CliError::usage(format!("invalid {LOG_FORMAT}: {text}"), "write text or json")),
        }
    }

    fn set_log_format(&self, format: LogFormat) {
        self.is_log_chosen.set(true);
        self.log.set_format(format);
    }

    /// Whether what is no result is said as JSON.
    pub(crate) fn logs_json(&self) -> bool {
        self.log.is_json()
    }

    /// What is no result, for those who say it from other threads.
    pub(crate) fn log(&self) -> Log {
        self.log.clone()
    }

    fn is_rich(&self) -> bool {
        !self.is_plain && !self.json && !self.logs_json()
    }

    /// Whether the human stream may be colored.
    pub(crate) fn has_color(&self) -> bool {
        self.is_rich() && self.has_terminal
    }

    /// Whether stderr may be colored, and progress drawn on it.
    pub(crate) fn has_error_color(&self) -> bool {
        self.is_rich() && self.has_error_terminal
    }

    /// Columns that a box may take on the human stream: as `COLUMNS` says, or the terminal.
    pub(crate) fn columns(&self) -> usize {
        self.columns_if_narrow().unwrap_or(COLUMNS_WITHOUT_TERMINAL)
    }

    /// The same; `None` where what is drawn may be as wide as it is.
    pub(crate) fn columns_if_narrow(&self) -> Option<usize> {
        let said =
            std::env::var("COLUMNS").ok().and_then(|text| text.trim().parse().ok()).filter(|&columns| columns > 0);
        let terminal = || self.has_terminal.then(|| Term::stdout().size_checked()).flatten();
        said.or_else(|| terminal().map(|(_, columns)| usize::from(columns)).filter(|&columns| columns > 0))
    }

    /// Writes a result to stdout, with a line break at its end.
    pub(crate) fn result(&self, text: &str) -> Result<(), CliError> {
        let mut out = io::stdout().lock();
        out.write_all(text.as_bytes())?;
        if !text.ends_with('\n') {
            out.write_all(b"\n")?;
        }
        Ok(out.flush()?)
    }

    /// Writes a line for people: to stdout, or to stderr if stdout is for JSON. A reader that is gone does
    /// not stop the work that the line tells about.
    pub(crate) fn line(&self, text: &str) {
        if self.json && self.logs_json() {
            // As it is, like the text: what is to be opened or copied must not be redacted.
            return self.log.object(Level::Info, text, Fields::new());
        }
        if self.json {
            return Log::text(text);
        }
        if let Err(error) = writeln!(io::stdout(), "{text}")
            && error.kind() != io::ErrorKind::BrokenPipe
        {
            // The first one tells.
            let _ = self.lost.set(error);
        }
    }

    /// An error if a line could not be written to stdout, though somebody was there to read it. Asked for every command
    /// at its end; in its course by those that wait.
    pub(crate) fn check_lines(&self) -> Result<(), CliError> {
        match self.lost.get() {
            Some(error) => Err(io::Error::new(error.kind(), error.to_string()).into()),
            None => Ok(()),
        }
    }

    /// Asks on the terminal; `None` without one.
    pub(crate) fn ask(&self, question: &str) -> Option<bool> {
        if !io::stdin().is_terminal() || !self.has_error_terminal || self.json || self.logs_json() {
            return None;
        }
        let mut answer = String::new();
        let asked = write!(io::stderr(), "{question} [y/N] ").and_then(|()| io::stderr().flush());
        asked.and_then(|()| io::stdin().read_line(&mut answer)).ok()?;
        Some(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
    }

    /// Says how work goes on: a line for people like [`Self::line`], or an object of the log with what is known.
    pub(crate) fn progress(&self, level: Level, text: &str, fields: Fields) {
        if self.logs_json() { self.say(level, text, text, fields) } else { self.line(text) }
    }

    /// Says on stderr: `text` to people, as it is, or `message` with what is known as an object of the log, without
    /// secrets.
    pub(crate) fn say(&self, level: Level, text: &str, message: &str, fields: Fields) {
        if !self.logs_json() {
            return Log::text(text);
        }
        let clean = |value: Value| match value {
            Value::String(text) => Value::String(self.message(&text)),
            other => other,
        };
        let fields = fields.into_iter().map(|(key, value)| (key, clean(value))).collect();
        self.log.object(level, &self.message(message), fields);
    }

    /// Says a remark on stderr.
    pub(crate) fn note(&self, text: &str) {
        self.say(Level::Info, &format!("note: {text}"), text, Fields::new());
    }

    /// Says a warning on stderr.
    pub(crate) fn warn(&self, text: &str) {
        self.say(Level::Warn, &format!("warning: {text}"), text, Fields::new());
    }

    /// From now on nothing that `redactor` knows is shown.
    pub(crate) fn keep_secret(&self, redactor: Redactor) {
        // A command enters one project, so it is set once.
        let _ = self.redactor.set(redactor);
    }

    /// `text` without secrets.
    pub(crate) fn redact(&self, text: &str) -> String {
        self.redactor.get().map_or_else(|| text.to_owned(), |redactor| redactor.redact(text))
    }

    /// A message without secrets and without what would steer the terminal: it may quote an API.
    pub(crate) fn message(&self, text: &str) -> String {
        printable(&self.redact(text).replace("\r\n", "\n"))
    }

    /// What keeps secrets, for those who learn more of them.
    pub(crate) fn redactor(&self) -> Redactor {
        self.redactor.get().cloned().unwrap_or_default()
    }

    /// `word` in a color, where the human stream shows colors; the word itself stays one run of bytes.
    pub(crate) fn paint(&self, word: &str, color: Color) -> String {
        let code = match color {
            Color::Green => 32,
            Color::Yellow => 33,
            Color::Red => 31,
        };
        if self.has_color() { format!("\u{1b}[{code}m{word}\u{1b}[0m") } else { word.to_owned() }
    }
}
