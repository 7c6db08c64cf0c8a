//! The user's editor: which it is, and waiting for it.

use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGINT, SIGQUIT};
use types::{Code, Diagnose};

use super::words::words;

/// Looked for on PATH, in this order, where `EDITOR` says nothing.
const EDITORS: [&str; 5] = ["nano", "vi", "vim", "code", "gedit"];

/// An editor did not do its work.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EditorError {
    /// `EDITOR` is unset, and none of the usual ones is there.
    #[error("no editor found: EDITOR is not set, and none of {} is in PATH", EDITORS.join(", "))]
    None,
    /// `EDITOR` is no command line.
    #[error("EDITOR cannot be read: a quote is not closed in `{0}`")]
    Unreadable(String),
    /// There is no such program.
    #[error("editor `{0}` not found in PATH")]
    Missing(String),
    /// The program cannot be started.
    #[error("editor `{program}` cannot be started: {cause}")]
    Start {
        /// The program.
        program: String,
        /// The system's reason.
        cause: String,
    },
    /// The program ended with an error.
    #[error("editor `{program}` ended with {status}")]
    Ended {
        /// The program.
        program: String,
        /// Its exit code or signal.
        status: std::process::ExitStatus,
    },
}

impl Diagnose for EditorError {
    fn code(&self) -> Code {
        Code::Editor
    }

    fn help(&self) -> String {
        match self {
            Self::Ended { .. } => "what it saved is in the file".into(),
            _ => "set EDITOR to the command of your editor, like `export EDITOR=\"code --wait\"`".into(),
        }
    }
}

/// The command line of the editor; `said` is the value of `EDITOR`, `path` that of `PATH`.
pub(crate) fn editor(said: Option<&str>, path: Option<&str>) -> Result<Vec<String>, EditorError> {
    if let Some(said) = said {
        let words = words(said).ok_or_else(|| EditorError::Unreadable(said.to_owned()))?;
        if words.first().is_some_and(|program| !program.is_empty()) {
            return Ok(words);
        }
    }
    let folders: Vec<PathBuf> = std::env::split_paths(path.unwrap_or_default()).collect();
    let is_there = |name: &&&str| folders.iter().any(|folder| is_program(&folder.join(name)));
    EDITORS.iter().find(is_there).map(|&name| vec![name.to_owned()]).ok_or(EditorError::None)
}

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// Has the file edited, and waits. With `keeps_stdout` the editor's own output goes to standard error.
pub(crate) fn edit_with(editor: &[String], file: &Path, keeps_stdout: bool) -> Result<(), EditorError> {
    let program = editor[0].clone();
    let start = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => EditorError::Missing(program.clone()),
        _ => EditorError::Start { program: program.clone(), cause: error.to_string() },
    };
    // Ctrl-C is the editor's while it has the terminal. A signal that is caught here is not ignored there.
    for signal in [SIGINT, SIGQUIT] {
        signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false))).map_err(start)?;
    }
    let mut command = Command::new(&editor[0]);
    command.args(&editor[1..]).arg(file);
    if keeps_stdout {
        command.stdout(Stdio::from(io::stderr().as_fd().try_clone_to_owned().map_err(start)?));
    }
    let status = command.status().map_err(start)?;
    if status.success() { Ok(()) } else { Err(EditorError::Ended { program, status }) }
}
