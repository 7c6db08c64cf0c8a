//! `ondatrasql validate`: what is wrong with models and lib files, without running anything.

mod human;
mod machine;

use std::process::ExitCode;

use types::Severity;
use validate::{Report, ValidateError, ValidateOptions};

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
        Ok(()) | Err(CliError::ClosedPipe) => Ok(exit_code(&report, args.strict)),
        Err(error) => Err(error),
    }
}

fn exit_code(report: &Report, strict: bool) -> ExitCode {
    let mut rules = report.files.iter().flat_map(|file| &file.findings).map(|finding| finding.rule);
    let fails = rules.any(|rule| match rule.severity() {
        Severity::Blocker => true,
        // What could not be checked did not pass.
        Severity::Warn => strict || rule.id().starts_with("validate."),
        Severity::Info => false,
    });
    if fails { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

impl From<ValidateError> for CliError {
    fn from(error: ValidateError) -> Self {
        match error {
            ValidateError::Scope(error) => Self::usage(error.to_string(), error.help()),
            ValidateError::Engine(error) => Self::Failed(Box::new(error)),
        }
    }
}
