//! `ondatrasql init`.

use std::process::ExitCode;

use project::CatalogKind;

use crate::args::InitArgs;
use crate::error::CliError;
use crate::invocation::current_folder;
use crate::ui::Ui;

pub(crate) fn init(args: &InitArgs, ui: &Ui) -> Result<ExitCode, CliError> {
    let name = project::init(&current_folder()?, args.catalog())?;
    ui.line(&format!("Initialized project \"{name}\""));
    if args.catalog() == CatalogKind::Postgres {
        ui.line("First fill in the PG_CATALOG_... lines of .env");
    }
    ui.line("Next: put a SELECT into models/raw/, then `ondatrasql run`; `ondatrasql stats` shows how it stands");
    Ok(ExitCode::SUCCESS)
}
