//! `ondatrasql new`: a model file, or folders for some.

use std::path::Path;
use std::process::ExitCode;

use project::{ConfigTexts, Environment, NewModel, find_root};

use crate::args::NewArgs;
use crate::error::CliError;
use crate::invocation::{current_folder, process_environment};
use crate::ui::Ui;

pub(crate) fn new(args: &NewArgs, ui: &Ui) -> Result<ExitCode, CliError> {
    let root = find_root(&current_folder()?)?;
    let new = NewModel::parse(&args.name).map_err(|message| {
        CliError::usage(message, "write schema.name.sql for a model, like staging.orders.sql, or schema for a folder")
    })?;
    if let Some(message) = taken_schema(&root, new.schema()) {
        return Err(CliError::usage(message, "choose another schema: the engine could not tell `name.table` apart"));
    }
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

/// What is wrong with a schema that has the name of a database which the configuration attaches. Nothing is opened, and
/// what is wrong with the configuration is told elsewhere.
fn taken_schema(root: &Path, schema: &str) -> Option<String> {
    let environment = Environment::load(root, process_environment()).unwrap_or_default();
    let texts = ConfigTexts::read(root, &environment);
    let name = texts.catalogs.iter().chain([&texts.lake]).find(|name| name.eq_ignore_ascii_case(schema))?;
    Some(format!("schema `{schema}` has the name of the attached database `{name}`"))
}
