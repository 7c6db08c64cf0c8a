//! The command lines of what looks back: `history`, `describe`, `lineage`.

use clap::{Args, Subcommand, ValueEnum};

#[derive(Args)]
pub(crate) struct HistoryArgs {
    /// Target (schema.table) or path of a .sql file; all models without it
    #[arg(value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// At most so many runs, 50 without it
    #[arg(long, short, value_name = "N", allow_negative_numbers = true)]
    pub(crate) limit: Option<String>,
}

#[derive(Args)]
pub(crate) struct DescribeArgs {
    /// Target (schema.table) or path of a .sql file
    #[arg(value_name = "MODEL")]
    pub(crate) model: Option<String>,
    #[command(subcommand)]
    pub(crate) command: Option<DescribeCommand>,
}

/// What to describe besides models.
#[derive(Subcommand)]
pub(crate) enum DescribeCommand {
    /// Show the functions of lib/, or one of them: what it fetches and pushes, and where it sends requests
    ///
    /// Nothing is executed. Examples:
    ///   ondatrasql describe blueprint
    ///   ondatrasql describe blueprint crm
    ///   ondatrasql describe blueprint crm --json --fields=fetch,endpoints
    #[command(override_usage = "ondatrasql describe blueprint [<name>] [--fields=a.b,c]", verbatim_doc_comment)]
    Blueprint(BlueprintArgs),
}

#[derive(Args)]
pub(crate) struct BlueprintArgs {
    /// Name of a function of lib/; all without it
    #[arg(value_name = "NAME")]
    pub(crate) blueprint: Option<String>,
    /// Only these keys, with --json
    #[arg(long, value_name = "FIELDS")]
    pub(crate) fields: Option<String>,
}

#[derive(Args)]
pub(crate) struct LineageArgs {
    /// `overview`, a target (schema.table), the path of its .sql file, or a column of one (schema.table.column)
    #[arg(value_name = "WHAT")]
    pub(crate) lineage_of: String,
    /// How to draw it
    #[arg(long, short, value_enum, default_value = "text")]
    pub(crate) format: LineageFormat,
}

/// A form of lineage.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LineageFormat {
    Text,
    Json,
    Mermaid,
    Dot,
    Svg,
}
