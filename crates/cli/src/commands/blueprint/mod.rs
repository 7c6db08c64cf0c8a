//! `ondatrasql describe blueprint`: the functions of `lib/`, as they declare themselves. Nothing is executed, and no
//! catalog is opened.

mod document;
mod fields;
mod list;
mod sheet;

use std::process::ExitCode;

use lib_functions::{BrokenLib, Lib, Registry};
use types::{Code, Diagnose, Place, is_identifier};

use crate::args::BlueprintArgs;
use crate::error::CliError;
use crate::invocation::Invocation;
use crate::ui::Ui;

pub(crate) fn blueprint(args: &BlueprintArgs, ui: &Ui) -> Result<ExitCode, CliError> {
    let fields = fields(args, ui)?;
    let registry = Registry::read(&Invocation::enter(ui)?.root, |_| false);
    let Some(name) = &args.blueprint else { return list::list(&registry, ui) };
    if !is_identifier(name) {
        let help = "a blueprint is named like its file in lib/: letters, digits and `_`, no digit first";
        return Err(CliError::usage(format!("invalid blueprint name: {name:?}"), help));
    }
    let registry = registry.map_err(|error| CliError::Failed(Box::new(error)))?;
    if let Some(broken) = registry.broken(name) {
        return Err(CliError::Failed(Box::new(BrokenBlueprint(broken.clone()))));
    }
    let lib = registry.get(name).ok_or_else(|| unknown(name, &registry))?;
    if ui.json {
        let document = document::document(lib, ui);
        let document = fields.map_or_else(|| document.clone(), |fields| fields.of(&document));
        ui.result(&document.to_string())?;
    } else {
        sheet::sheet(&document::document(lib, ui)).print(ui)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What `--fields` asks for.
fn fields(args: &BlueprintArgs, ui: &Ui) -> Result<Option<fields::Fields>, CliError> {
    let Some(text) = &args.fields else { return Ok(None) };
    if args.blueprint.is_none() || !ui.json {
        let help = "write `ondatrasql describe blueprint <name> --fields=... --json`";
        return Err(CliError::usage(
            "--fields chooses keys of one blueprint as JSON: it needs a name and --json",
            help,
        ));
    }
    fields::Fields::parse(text).map(Some).map_err(|message| CliError::usage(message, fields::help()))
}

fn unknown(name: &str, registry: &Registry) -> CliError {
    let all: Vec<&str> = registry.libs().map(|lib: &Lib| lib.name.as_str()).collect();
    let available = if all.is_empty() { "none".to_owned() } else { all.join(", ") };
    CliError::usage(
        format!("unknown blueprint: {name} (available: {available})"),
        "`ondatrasql describe blueprint` lists them",
    )
}

/// A file of `lib/` that was named and is broken.
#[derive(Debug, thiserror::Error)]
#[error("{} failed to parse: {}", .0.name, .0.error)]
struct BrokenBlueprint(BrokenLib);

impl Diagnose for BrokenBlueprint {
    fn code(&self) -> Code {
        self.0.error.code()
    }

    fn help(&self) -> String {
        self.0.error.help()
    }

    fn place(&self) -> Option<&Place> {
        self.0.error.place()
    }
}
