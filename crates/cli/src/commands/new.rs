//! `ondatrasql new`: a model file, or folders for some.

use std::process::ExitCode;

use project::{NewModel, find_root};

use crate::args::NewArgs;
use crate::error::CliError;
use crate::invocation::current_folder;
use crate::ui::Ui;

pub(crate) fn new(args: &NewArgs, ui: &Ui) -> Result<ExitCode, CliError> {
    let root = find_root(&current_folder()?)?;
    let new = NewModel::parse(&args.name).map_err(|message| {
        CliError::usage(message, "write schema.name.sql for a model, like staging.orders.sql, or schema for a folder")
    })?;
    let was_there = root.join(new.path()).exists();
    new.create(&root)?;
    let path = new.path().display();
    match &new {
        NewModel::File { .. } => ui.line(&format!("Created {path}")),
        NewModel::Folder { .. } => {
            ui.line(&if was_there { format!("{path}/ is there already") } else { format!("Created {path}/") });
            ui.line(&format!("For a model in it, end in .sql: `ondatrasql new {}.orders.sql`", args.name));
        }
    }
    Ok(ExitCode::SUCCESS)
}
