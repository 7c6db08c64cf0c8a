//! `ondatrasql version`.

use std::process::ExitCode;

use crate::error::CliError;
use crate::ui::Ui;

pub(crate) fn version(ui: &Ui) -> Result<ExitCode, CliError> {
    let version = env!("CARGO_PKG_VERSION");
    let json = || format!("{{\"schema_version\":1,\"version\":\"{version}\"}}");
    ui.result(&if ui.json { json() } else { version.to_owned() })?;
    Ok(ExitCode::SUCCESS)
}
