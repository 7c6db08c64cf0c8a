//! The command lines of what looks back: `history`, `describe`.

use clap::Args;

#[derive(Args)]
pub(crate) struct HistoryArgs {
    /// Target (schema.table); all models without it
    #[arg(value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// At most so many runs, 50 without it
    #[arg(long, short, value_name = "N", allow_negative_numbers = true)]
    pub(crate) limit: Option<String>,
}

#[derive(Args)]
pub(crate) struct DescribeArgs {
    /// Target (schema.table)
    #[arg(value_name = "MODEL")]
    pub(crate) model: String,
}
