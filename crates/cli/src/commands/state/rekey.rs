//! `ondatrasql state rekey`.

use std::process::ExitCode;

use serde_json::json;

use super::Setup;
use crate::args::StateWait;
use crate::error::CliError;
use crate::ui::Ui;

pub(crate) fn rekey(args: &StateWait, ui: &Ui) -> Result<ExitCode, CliError> {
    let done = Setup::with(args.state_wait, ui, |setup| {
        state::rekey(&setup.invocation.root, &setup.config, &setup.invocation.environment)
    })?;
    if ui.json {
        let path = done.path.display().to_string();
        let document = json!({"schema_version": 1, "path": path, "variable": done.variable, "rows": done.rows,
                              "warnings": []});
        ui.result(&document.to_string())?;
    } else {
        ui.line(&format!("{} has a new key ({} rows compared)", done.path.display(), done.rows));
        ui.line(&format!(
            "The key is in .env as {}; copies of the file made before open with the old key only",
            done.variable
        ));
    }
    Ok(ExitCode::SUCCESS)
}
