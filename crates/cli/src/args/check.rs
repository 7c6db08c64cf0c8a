//! The command lines of what checks: `check` with the list of shipped checks in its help, `validate`.

use clap::{Args, ValueEnum};
use runtime::{Stage, check_summary};

#[derive(Args)]
pub(crate) struct CheckArgs {
    /// Targets (schema.table) or paths of .sql files
    #[arg(value_name = "MODEL")]
    pub(crate) models: Vec<String>,
    /// Write the rows at fault to tables of the schema checks in the lake, in the place of those of the last time
    #[arg(long)]
    pub(crate) store_failures: bool,
    /// How long to wait while a run of the project is active, before they are written, like 30s or 5m
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = crate::duration::parse)]
    pub(crate) state_wait: std::time::Duration,
}

#[derive(Args)]
pub(crate) struct ValidateArgs {
    /// Files and folders of models/ and lib/
    #[arg(value_name = "PATHS")]
    pub(crate) paths: Vec<String>,
    /// Fail on every warning, also where all could be checked
    #[arg(long)]
    pub(crate) strict: bool,
    /// How to print what was found
    #[arg(long, value_enum, default_value = "human")]
    pub(crate) output: ReportFormat,
}

/// A form of the report of `validate`.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    Human,
    Json,
    Ndjson,
}

/// The shipped checks, stage by stage: `-- @constraint: name(…)` in a model has a finding when ….
pub(super) fn shipped() -> String {
    let stage = |stage: Stage| format!("-- @{stage}: has a finding when\n{}", check_summary(stage, "  "));
    Stage::ALL.map(stage).join("\n").trim_end().to_owned()
}
