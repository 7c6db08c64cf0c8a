//! The command line of the queue.

use clap::{Args, Subcommand};

use super::StateWait;

#[derive(Args)]
pub(crate) struct QueueArgs {
    #[command(subcommand)]
    pub(crate) command: Option<QueueCommand>,
    #[command(flatten)]
    pub(crate) wait: StateWait,
}

/// What to do with the queue of a target.
#[derive(Subcommand)]
pub(crate) enum QueueCommand {
    /// Show the events of a target with their rows, attempts and errors
    ///
    /// Examples:
    ///   ondatrasql queue show sync.contacts
    ///   ondatrasql queue show sync.contacts --dead --limit 100
    #[command(
        override_usage = "ondatrasql queue show TARGET [--dead] [--limit N] [--state-wait <duration>]",
        verbatim_doc_comment
    )]
    Show(QueueShowArgs),
    /// Make events that wait for their next attempt due now, or put dead letters back
    ///
    /// The next run, or `queue drain`, delivers them. Examples:
    ///   ondatrasql queue retry sync.contacts
    ///   ondatrasql queue retry sync.contacts --dead --id 42
    #[command(
        override_usage = "ondatrasql queue retry TARGET [--dead] [--id EVENT] [--state-wait <duration>]",
        verbatim_doc_comment
    )]
    Retry(QueueRetryArgs),
    /// Remove dead letters, or all that is queued for a target, for good
    ///
    /// --all also forgets up to where the table was sent: it is for a model that is gone. Examples:
    ///   ondatrasql queue drop sync.contacts --dead --id 42
    ///   ondatrasql queue drop sync.old --all --yes
    #[command(
        override_usage = "ondatrasql queue drop TARGET (--dead [--id EVENT] | --all) [--yes] [--state-wait <duration>]",
        verbatim_doc_comment
    )]
    Drop(QueueDropArgs),
    /// Deliver what is pending, without running models
    ///
    /// Without a target, to all of them. Examples:
    ///   ondatrasql queue drain
    ///   ondatrasql queue drain sync.contacts
    #[command(
        override_usage = "ondatrasql queue drain [TARGET] [--state-wait <duration>] [--metrics-file PATH]",
        verbatim_doc_comment
    )]
    Drain(QueueDrainArgs),
    /// Set from where on a target's table is sent
    ///
    /// Both drop what is queued and keep dead letters. Examples:
    ///   ondatrasql queue reset sync.contacts --from-now   # skip what is pending, send later changes only
    ///   ondatrasql queue reset sync.contacts --resend     # send the whole table again, as inserts
    #[command(
        override_usage = "ondatrasql queue reset TARGET (--from-now | --resend) [--state-wait <duration>]",
        verbatim_doc_comment
    )]
    Reset(QueueResetArgs),
}

#[derive(Args)]
pub(crate) struct QueueShowArgs {
    /// Target (schema.table) or path of a .sql file
    pub(crate) target: String,
    /// Dead letters instead of what is to be delivered
    #[arg(long)]
    pub(crate) dead: bool,
    /// At most so many events
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: u32,
    #[command(flatten)]
    pub(crate) wait: StateWait,
}

#[derive(Args)]
pub(crate) struct QueueRetryArgs {
    /// Target (schema.table) or path of a .sql file
    pub(crate) target: String,
    /// Put dead letters back behind all that is queued
    #[arg(long)]
    pub(crate) dead: bool,
    /// This event alone, by its number in `queue show`
    #[arg(long, value_name = "EVENT", value_parser = clap::value_parser!(i64).range(1..))]
    pub(crate) id: Option<i64>,
    #[command(flatten)]
    pub(crate) wait: StateWait,
}

#[derive(Args)]
pub(crate) struct QueueDropArgs {
    /// Target (schema.table) or path of a .sql file
    pub(crate) target: String,
    /// Dead letters
    #[arg(long, conflicts_with = "all")]
    pub(crate) dead: bool,
    /// Everything: what is to be delivered, dead letters, and up to where the table was sent
    #[arg(long)]
    pub(crate) all: bool,
    /// This dead letter alone, by its number in `queue show --dead`
    #[arg(long, value_name = "EVENT", conflicts_with = "all", value_parser = clap::value_parser!(i64).range(1..))]
    pub(crate) id: Option<i64>,
    /// Do not ask
    #[arg(long)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) wait: StateWait,
}

#[derive(Args)]
pub(crate) struct QueueDrainArgs {
    /// Target (schema.table) or path of a .sql file; all that models push without it
    pub(crate) target: Option<String>,
    /// Write metrics for Prometheus into this file at the end, whatever comes of the delivery
    #[arg(long, value_name = "PATH", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub(crate) metrics_file: Option<String>,
    #[command(flatten)]
    pub(crate) wait: StateWait,
}

#[derive(Args)]
pub(crate) struct QueueResetArgs {
    /// Target (schema.table) or path of a .sql file
    pub(crate) target: String,
    /// Send changes from now on only: what is pending is never delivered
    #[arg(long, conflicts_with = "resend")]
    pub(crate) from_now: bool,
    /// Send the whole table again: every row is an insert
    #[arg(long)]
    pub(crate) resend: bool,
    #[command(flatten)]
    pub(crate) wait: StateWait,
}

#[derive(Args)]
pub(crate) struct PushArgs {
    /// Target (schema.table) or path of a .sql file
    pub(crate) target: String,
    /// Show what would be sent; calls nothing, changes nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// At most so many batches
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: u32,
    #[command(flatten)]
    pub(crate) wait: StateWait,
}
