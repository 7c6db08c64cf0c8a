//! Where text goes: results to stdout, everything else to stderr (chapter 05 §1.3, §1.5).
// The methods belong to the streams even where they look at no setting of theirs.
#![allow(clippy::unused_self, clippy::struct_excessive_bools)]

use std::cell::OnceCell;
use std::io::{self, IsTerminal, Write};

use console::Term;
use project::Redactor;
use types::printable;

use crate::error::CliError;

/// The two streams, and what they can show.
pub(crate) struct Ui {
    /// Whether stdout is for JSON alone.
    pub json: bool,
    /// Whether the human stream may be colored.
    pub color: bool,
    /// Whether stderr may be colored.
    pub color_errors: bool,
    /// Whether progress may be drawn on stderr.
    pub progress: bool,
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

impl Ui {
    pub(crate) fn from_terminal(json: bool) -> Self {
        let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
            || std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let (out, err) = (io::stdout().is_terminal(), io::stderr().is_terminal());
        let rich = !plain && !json;
        Self {
            json,
            color: rich && out,
            color_errors: rich && err,
            progress: rich && err,
            redactor: OnceCell::new(),
            lost: OnceCell::new(),
        }
    }

    /// Columns that a box may take on the human stream: as `COLUMNS` says, or the terminal.
    pub(crate) fn columns(&self) -> usize {
        self.columns_if_narrow().unwrap_or(COLUMNS_WITHOUT_TERMINAL)
    }

    /// The same; `None` where what is drawn may be as wide as it is.
    pub(crate) fn columns_if_narrow(&self) -> Option<usize> {
        let said =
            std::env::var("COLUMNS").ok().and_then(|text| text.trim().parse().ok()).filter(|&columns| columns > 0);
        let terminal = || io::stdout().is_terminal().then(|| Term::stdout().size_checked()).flatten();
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
        if self.json {
            return self.error_text(text);
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
        if !io::stdin().is_terminal() || !io::stderr().is_terminal() || self.json {
            return None;
        }
        let mut answer = String::new();
        let asked = write!(io::stderr(), "{question} [y/N] ").and_then(|()| io::stderr().flush());
        asked.and_then(|()| io::stdin().read_line(&mut answer)).ok()?;
        Some(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
    }

    /// Writes an error's text, or another that is no result, to stderr.
    pub(crate) fn error_text(&self, text: &str) {
        // Nobody is left to be told.
        let _ = writeln!(io::stderr(), "{text}");
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
        if self.color { format!("\u{1b}[{code}m{word}\u{1b}[0m") } else { word.to_owned() }
    }
}
