//! What the process was given: its words, its folder, its variables.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use engine::{EngineOptions, ExtensionSearch};
use project::{Environment, ProjectError, Redactor, find_root, read_config};
use runtime::{Session, named_model};

use crate::error::CliError;
use crate::ui::Ui;

/// The variable that stands for `--log-format`.
pub(crate) const LOG_FORMAT: &str = "ONDATRA_LOG_FORMAT";

/// The words of the command line after the program's name. What is global is taken out wherever it stands.
#[derive(Default)]
pub(crate) struct Given {
    /// Whether `--json` was among them.
    pub json: bool,
    /// The value of `--log-format`, the last of several; empty where it is missing.
    pub log_format: Option<String>,
    /// The others.
    pub words: Vec<String>,
}

/// Reads the arguments of the process.
pub(crate) fn given(args: impl Iterator<Item = OsString>) -> Given {
    let mut given = Given::default();
    let mut args = args.skip(1).map(|word| word.to_string_lossy().into_owned()).peekable();
    while let Some(word) = args.next() {
        if word == "--json" {
            given.json = true;
        } else if word == "--log-format" {
            given.log_format = Some(args.next_if(|value| !value.starts_with('-')).unwrap_or_default());
        } else if let Some(value) = word.strip_prefix("--log-format=") {
            given.log_format = Some(value.to_owned());
        } else {
            given.words.push(word);
        }
    }
    given
}

/// A command's project, with the process moved into its root: everything relative in it starts there.
pub(crate) struct Invocation {
    /// The folder the command was started in.
    pub cwd: PathBuf,
    /// The project's root.
    pub root: PathBuf,
    /// Process variables, then `.env`.
    pub environment: Environment,
}

impl Invocation {
    /// Finds the project around the current folder and enters its root; its secrets are kept from then on.
    pub(crate) fn enter(ui: &Ui) -> Result<Self, CliError> {
        let cwd = current_folder()?;
        let root = find_root(&cwd)?;
        std::env::set_current_dir(&root).map_err(|error| file_error("enter", &root, &error))?;
        let environment = Environment::load(&root, process_environment())?;
        ui.keep_secret(Redactor::new(&root, &environment));
        ui.take_log_format(environment.get(LOG_FORMAT))?;
        Ok(Self { cwd, root, environment })
    }

    /// The name of the model that an operand means, a name or the path of its file.
    pub(crate) fn model(&self, operand: &str) -> Result<String, CliError> {
        Ok(named_model(&self.root, &self.cwd, operand)?)
    }

    /// Opens the project's lake to look at it; one that is not there yet is told, and not made.
    pub(crate) fn look_at_lake(&self, ui: &Ui) -> Result<Session, CliError> {
        let session = Session::look(read_config(&self.root, &self.environment)?, &self.session_options())?;
        match session.missing_catalog() {
            Some(missing) if missing.left_behind.is_some() => ui.warn(&missing.told()),
            Some(missing) => ui.note(&missing.told()),
            None => {}
        }
        Ok(session)
    }

    /// Opens the project's lake, which is made if it is not there yet.
    pub(crate) fn open_lake(&self) -> Result<Session, CliError> {
        let config = read_config(&self.root, &self.environment)?;
        Ok(Session::open(&config, &self.session_options())?)
    }

    /// What a session needs of the process.
    pub(crate) fn session_options(&self) -> EngineOptions {
        let folder = |name: &str| self.environment.get(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let executable = std::env::current_exe().ok();
        EngineOptions {
            extensions: ExtensionSearch::new(
                folder("ONDATRA_EXTENSION_DIR"),
                executable.as_deref(),
                folder("HOME").as_deref(),
            ),
            temp_root: std::env::temp_dir(),
        }
    }
}

/// The variables of the process.
pub(crate) fn process_environment() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os().filter_map(as_text)
}

/// Variables that are not UTF-8 cannot be named in a configuration, so nothing is lost without them.
fn as_text((name, value): (OsString, OsString)) -> Option<(String, String)> {
    Some((name.into_string().ok()?, value.into_string().ok()?))
}

/// The folder the command was started in.
pub(crate) fn current_folder() -> Result<PathBuf, ProjectError> {
    std::env::current_dir().map_err(|error| file_error("find", Path::new("."), &error))
}

fn file_error(action: &'static str, path: &Path, error: &std::io::Error) -> ProjectError {
    ProjectError::File { action, path: path.to_owned(), cause: error.to_string() }
}
