//! The command lines of what runs models: `run`, `sandbox`.

use clap::{Args, ValueHint};

// Flags of a command line are what they are.
#[allow(clippy::struct_excessive_bools)]
#[derive(Args)]
pub(crate) struct RunArgs {
    /// Target (schema.table) or path of a .sql file
    pub(crate) model: Option<String>,
    /// Rebuild the model from its query; rows that the query does not give any more are lost
    #[arg(long, requires = "model")]
    pub(crate) full_refresh: bool,
    /// Keep the rows of an append model whose definition changed, and add what is new
    #[arg(long, requires = "model", conflicts_with = "full_refresh")]
    pub(crate) keep: bool,
    /// Answer yes to the question whether to lose them
    #[arg(long, requires = "full_refresh")]
    pub(crate) yes: bool,
    /// How many models fetch at a time, and how many run their queries
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=64))]
    pub(crate) jobs: u8,
    /// Skip a model that another worker is running, instead of waiting for it
    #[arg(long)]
    pub(crate) no_wait: bool,
    /// How long to wait while another run of the project is active, like 30s or 5m
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = crate::duration::parse)]
    pub(crate) state_wait: std::time::Duration,
    /// Write metrics for Prometheus into this file at the end, whatever comes of the run
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath, value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub(crate) metrics_file: Option<String>,
}

#[derive(Args)]
pub(crate) struct SandboxArgs {
    /// Target (schema.table) or path of a .sql file
    #[arg(value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// End connections to a production catalog in PostgreSQL without asking
    #[arg(long)]
    pub(crate) yes: bool,
    /// How long to wait for a state file that a run has, like 30s or 5m
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = crate::duration::parse)]
    pub(crate) state_wait: std::time::Duration,
    /// Write metrics for Prometheus into this file at the end, whatever comes of the sandbox
    #[arg(long, value_name = "PATH", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub(crate) metrics_file: Option<String>,
}
