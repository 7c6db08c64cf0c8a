//! `ondatrasql validate`: what is wrong with models and lib files, without running anything.

mod human;
mod machine;

use std::process::ExitCode;

use validate::{ValidateError, ValidateOptions};

use crate::args::{ReportFormat, ValidateArgs};
use crate::error::CliError;
use crate::invocation::Invocation;
use crate::ui::Ui;

pub(crate) fn validate(args: ValidateArgs, ui: &Ui) -> Result<ExitCode, CliError> {
    let invocation = Invocation::enter(ui)?;
    let options = ValidateOptions {
        session: invocation.session_options(),
        root: invocation.root,
        cwd: invocation.cwd,
        environment: invocation.environment,
        paths: args.paths,
    };
    let report = ::validate::validate(&options)?;
    let text = match args.output {
        ReportFormat::Human if ui.json => machine::json(&report, ui),
        ReportFormat::Human => human::text(&report, ui),
        ReportFormat::Json => machine::json(&report, ui),
        ReportFormat::Ndjson => machine::ndjson(&report, ui),
    };
    match ui.result(&text) {
        // A reader that is gone does not make a broken project a good one.
        Ok(()) | Err(CliError::ClosedPipe) if report.passes(args.strict) => Ok(ExitCode::SUCCESS),
        Ok(()) | Err(CliError::ClosedPipe) => Ok(ExitCode::FAILURE),
        Err(error) => Err(error),
    }
}

impl From<ValidateError> for CliError {
    fn from(error: ValidateError) -> Self {
        match error {
            ValidateError::Scope(error) => Self::usage(error.to_string(), error.help()),
            ValidateError::Engine(error) => Self::Failed(Box::new(error)),
        }
    }
}
