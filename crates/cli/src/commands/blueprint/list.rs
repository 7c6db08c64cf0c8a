//! All functions of `lib/`.

use std::process::ExitCode;

use lib_functions::{Lib, LibError, Registry};
use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr;

use crate::error::CliError;
use crate::output::{Keys, pad};
use crate::ui::Ui;

/// Blanks between two columns.
const GAP: usize = 2;

pub(super) fn list(registry: &Result<Registry, LibError>, ui: &Ui) -> Result<ExitCode, CliError> {
    let (libs, errors) = match registry {
        Ok(registry) => {
            let broken = registry.all_broken();
            let errors =
                broken.map(|broken| (broken.path.display().to_string(), ui.message(&broken.error.to_string())));
            let mut libs: Vec<&Lib> = registry.libs().collect();
            libs.sort_by(|one, other| one.name.cmp(&other.name));
            (libs, errors.collect::<Vec<_>>())
        }
        Err(error) => (Vec::new(), vec![("lib/".to_owned(), ui.message(&error.to_string()))]),
    };
    for (_, error) in &errors {
        ui.warn(error);
    }
    if ui.json {
        ui.result(&document(&libs, &errors).to_string())?;
    } else if libs.is_empty() {
        ui.result("no blueprints found in lib/")?;
    } else {
        ui.result(&lines(&libs))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn document(libs: &[&Lib], errors: &[(String, String)]) -> Value {
    let mut keys = Keys::document();
    keys.put("kind", "list");
    let blueprint =
        |lib: &&Lib| json!({"name": lib.name, "path": lib.path.display().to_string(), "is_sink": is_sink(lib)});
    keys.put("blueprints", libs.iter().map(blueprint).collect::<Vec<_>>());
    let error = |(file, error): &(String, String)| json!({"file": file, "error": error});
    keys.put("parse_errors", errors.iter().map(error).collect::<Vec<_>>());
    keys.into()
}

/// Whether it only pushes.
pub(super) fn is_sink(lib: &Lib) -> bool {
    lib.api.fetch.is_none()
}

fn lines(libs: &[&Lib]) -> String {
    let direction = |lib: &Lib| match (&lib.api.fetch, &lib.api.push) {
        (Some(_), Some(_)) => "fetch+push",
        (None, _) => "push",
        (Some(_), None) => "fetch",
    };
    let names = libs.iter().map(|lib| lib.name.width()).max().unwrap_or(0) + GAP;
    let directions = libs.iter().map(|lib| direction(lib).width()).max().unwrap_or(0) + GAP;
    let line =
        |lib: &&Lib| format!("{}{}{}\n", pad(&lib.name, names), pad(direction(lib), directions), lib.path.display());
    libs.iter().map(line).collect()
}
