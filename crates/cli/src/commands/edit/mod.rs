//! `ondatrasql edit`: a file of the project in the user's editor. Works where the configuration is broken.

mod editor;
mod words;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use engine::EngineOptions;
use project::{EditTarget, Environment, committed_file, find_root, model_file, read_config};
use runtime::{Session, last_source_file};
use types::{Code, Diagnose};

use crate::args::EditArgs;
use crate::error::CliError;
use crate::invocation::{Invocation, current_folder, process_environment};
use crate::ui::Ui;
use editor::{edit_with, editor};

const FORMS: &str = "name a model (schema.table), env, a file of config/ (catalog, state, sources, secrets, settings, \
                     extensions), macros/<name> or variables/<name>";

pub(crate) fn edit(args: &EditArgs, ui: &Ui) -> Result<ExitCode, CliError> {
    let root = find_root(&current_folder()?)?;
    let target = EditTarget::parse(&args.edited)
        .ok_or_else(|| CliError::usage(format!("invalid target: {:?}", args.edited), FORMS))?;
    // What is wrong in `.env` may be what is to be edited.
    let environment = Environment::load(&root, process_environment()).ok();
    let variable = |name: &str| match &environment {
        Some(environment) => environment.get(name).map(str::to_owned),
        None => std::env::var(name).ok(),
    };
    let editor = |path: &Path| -> Result<(), CliError> {
        let editor = editor(variable("EDITOR").as_deref(), variable("PATH").as_deref()).map_err(failed)?;
        edit_with(&editor, &root.join(path), ui.json).map_err(failed)
    };
    editor(&file_of(&root, target, ui)?)?;
    Ok(ExitCode::SUCCESS)
}

fn failed(error: impl Diagnose + 'static) -> CliError {
    CliError::Failed(Box::new(error))
}

fn file_of(root: &Path, target: EditTarget, ui: &Ui) -> Result<PathBuf, CliError> {
    match target {
        EditTarget::Fixed(path) => Ok(path),
        EditTarget::Existing(path) if root.join(&path).is_file() => Ok(path),
        EditTarget::Existing(path) => Err(failed(NotFound::File(path))),
        EditTarget::Model(name) => model_file(root, &name)
            .or_else(|| committed_file(root, &last_commit_file(&name, ui)?))
            .ok_or_else(|| failed(NotFound::Model(name))),
    }
}

/// The source file that the last commit of a model names. A lake that cannot be opened knows of none.
fn last_commit_file(name: &str, ui: &Ui) -> Option<String> {
    let cwd = current_folder().ok()?;
    let found = open(ui).and_then(|session| last_source_file(&session, name).ok()?);
    // The editor starts where the user is.
    std::env::set_current_dir(cwd).ok()?;
    found
}

fn open(ui: &Ui) -> Option<Session> {
    let invocation = Invocation::enter(ui).ok()?;
    let config = read_config(&invocation.root, &invocation.environment).ok()?;
    let options: EngineOptions = invocation.session_options();
    Session::look(config, &options).ok()
}

/// There is nothing to edit.
#[derive(Debug, thiserror::Error)]
enum NotFound {
    #[error("file not found: {}", .0.display())]
    File(PathBuf),
    #[error("{0} not found: no model of this name in models/, and no file of its last commit")]
    Model(String),
}

impl Diagnose for NotFound {
    fn code(&self) -> Code {
        Code::EditNotFound
    }

    fn help(&self) -> String {
        match self {
            Self::File(path) => format!("make {} first, or correct the name", path.display()),
            Self::Model(name) if name.contains('.') => {
                format!("`ondatrasql new {}.sql` makes it; or {FORMS}", name.replace("__", "."))
            }
            Self::Model(_) => FORMS.into(),
        }
    }
}
