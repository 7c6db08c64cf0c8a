//! The one definition of the command line, and how mistakes in it are reported (chapter 05 §1.1).

mod ask;
mod auth;
mod check;
mod files;
mod help;
mod look;
mod mistakes;
mod queue;
mod read;
mod run;
mod scripts;
mod shell;
mod state;

use clap::{Parser, Subcommand};

pub(crate) use ask::{Format, QueryArgs, SqlArgs};
pub(crate) use auth::{AuthArgs, AuthCommand, AuthRemoveArgs};
pub(crate) use check::{CheckArgs, ReportFormat, ValidateArgs};
pub(crate) use files::{EditArgs, InitArgs, NewArgs};
pub(crate) use help::{described, help};
pub(crate) use look::{BlueprintArgs, DescribeArgs, DescribeCommand, HistoryArgs, LineageArgs, LineageFormat};
pub(crate) use queue::{
    PushArgs, QueueArgs, QueueCommand, QueueDrainArgs, QueueDropArgs, QueueResetArgs, QueueRetryArgs, QueueShowArgs,
};
pub(crate) use read::read;
pub(crate) use run::{RunArgs, SandboxArgs};
pub(crate) use shell::{CompletionsArgs, ManArgs};
pub(crate) use state::{StateCommand, StateCopyArgs, StateServeArgs, StateWait};

const TEMPLATE: &str = "OndatraSQL v{version}\n{about}\n\n{usage-heading} {usage}\n\nCommands:\n{subcommands}\n\nOptions:\n{options}{after-help}";

/// Data pipelines as SQL files: only what changed runs, each model is one commit of the lake.
#[derive(Parser)]
#[command(
    name = "ondatrasql",
    version,
    disable_version_flag = true,
    disable_help_subcommand = true,
    args_override_self = true,
    help_template = TEMPLATE,
    override_usage = "ondatrasql [--json] <command> [arguments]",
    after_help = "\n  --json                  Print results as JSON, one document a line; messages go to stderr\n  \
                  --log-format text|json  Write messages as lines for people, or as JSON to stderr\n\n\
                  `ondatrasql <name>` runs sql/<name>.sql, whatever its name.\n\
                  Start with `ondatrasql init` in an empty folder."
)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

/// A command with its arguments.
#[derive(Subcommand)]
pub(crate) enum Command {
    /// Create a project in this folder
    ///
    /// Writes configuration, macros, maintenance scripts and a key for the state. Files that exist are kept;
    /// a folder that has a `config/` already is left alone. Example:
    ///   mkdir shop && cd shop && ondatrasql init
    #[command(override_usage = "ondatrasql init [--catalog sqlite|duckdb|postgres]", verbatim_doc_comment)]
    Init(InitArgs),
    /// Make a model file, or folders for models
    ///
    /// Examples:
    ///   ondatrasql new staging.orders.sql     # models/staging/orders.sql
    ///   ondatrasql new raw.api.orders.sql     # models/raw/api/orders.sql, the table `raw.api__orders`
    ///   ondatrasql new mart                   # the folder models/mart/
    #[command(override_usage = "ondatrasql new <schema.name.sql | schema[.folder]>", verbatim_doc_comment)]
    New(NewArgs),
    /// Open a file of the project in your editor
    ///
    /// EDITOR says which one, with arguments. Examples:
    ///   ondatrasql edit staging.orders
    ///   ondatrasql edit catalog
    ///   ondatrasql edit macros/helpers
    #[command(override_usage = "ondatrasql edit <model | env | catalog | macros/name | ...>", verbatim_doc_comment)]
    Edit(EditArgs),
    /// Run the models whose inputs or definitions changed
    ///
    /// Without a model, all of them in dependency order. Examples:
    ///   ondatrasql run
    ///   ondatrasql run staging.orders
    ///   ondatrasql run models/staging/orders.sql
    ///   ondatrasql run --metrics-file /var/lib/node_exporter/shop.prom
    ///   ondatrasql run --log-format json 2> run.log
    ///   OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:4318 ondatrasql run      # a trace of it
    #[command(
        override_usage = "ondatrasql run [<model>] [--full-refresh [--yes] | --keep] [--jobs N] \
                          [--no-wait] [--state-wait <duration>] [--metrics-file PATH]",
        verbatim_doc_comment
    )]
    // The help shows what is typed, and no backticks.
    #[allow(clippy::doc_markdown)]
    Run(RunArgs),
    /// Run the checks of models on their present tables, without running the models
    ///
    /// Without a model, those of all models. A finding of a constraint or an audit is exit code 1. Examples:
    ///   ondatrasql check
    ///   ondatrasql check staging.orders --store-failures
    #[command(
        override_usage = "ondatrasql check [<model>...] [--store-failures] [--state-wait <duration>]",
        verbatim_doc_comment,
        after_help = check::shipped()
    )]
    Check(CheckArgs),
    /// Check models and lib files without running anything
    ///
    /// Opens no lake and no state, and reaches no network. Without a path, all files of models/ and lib/. Examples:
    ///   ondatrasql validate
    ///   ondatrasql validate models/staging lib/crm.star
    ///   ondatrasql validate --output ndjson
    #[command(
        override_usage = "ondatrasql validate [paths...] [--strict] [--output human|json|ndjson]",
        verbatim_doc_comment
    )]
    Validate(ValidateArgs),
    /// Run against a fork of the lake, and compare with production
    ///
    /// Nothing of production is changed: not the lake, not the state, and nothing is pushed.
    ///
    /// Examples:
    ///   ondatrasql sandbox                  all models: what a run would change
    ///   ondatrasql sandbox staging.orders   one model, with what reads it
    #[command(
        override_usage = "ondatrasql sandbox [<model>] [--yes] [--state-wait <duration>] [--metrics-file PATH]",
        verbatim_doc_comment
    )]
    Sandbox(SandboxArgs),
    /// Ask the lake: one read-only SQL statement
    ///
    /// Examples:
    ///   ondatrasql sql "SELECT count(*) FROM staging.orders"
    ///   ondatrasql sql "FROM staging.orders" --format csv
    #[command(
        override_usage = "ondatrasql sql \"<statement>\" [--format|-f csv|json|markdown|md]",
        verbatim_doc_comment
    )]
    Sql(SqlArgs),
    /// Print the rows of a table
    ///
    /// Examples:
    ///   ondatrasql query staging.orders --limit 10
    ///   ondatrasql query staging.orders --format csv
    #[command(
        override_usage = "ondatrasql query <schema.table> [--limit|-l N] [--format|-f csv|json|markdown|md]",
        verbatim_doc_comment
    )]
    Query(QueryArgs),
    /// Show past runs, newest first
    ///
    /// Without a model, those of all models. Examples:
    ///   ondatrasql history
    ///   ondatrasql history staging.orders --limit 10
    #[command(override_usage = "ondatrasql history [<model>] [--limit|-l N]", verbatim_doc_comment)]
    History(HistoryArgs),
    /// Show all that is known of a model, or of a function of lib/
    ///
    /// Of a model: what its last run told, its table, its checks, and what it depends on. Examples:
    ///   ondatrasql describe staging.orders
    ///   ondatrasql describe blueprint crm
    #[command(override_usage = "ondatrasql describe <model> | blueprint [<name>]", verbatim_doc_comment)]
    Describe(DescribeArgs),
    /// Draw what models and columns are made of
    ///
    /// As the last commits tell. Examples:
    ///   ondatrasql lineage overview
    ///   ondatrasql lineage mart.totals
    ///   ondatrasql lineage mart.totals.revenue
    ///   ondatrasql lineage overview --format svg > lineage.svg
    #[command(
        override_usage = "ondatrasql lineage overview | <model> | <model>.<column> \
                          [--format|-f text|json|mermaid|dot|svg]",
        verbatim_doc_comment
    )]
    Lineage(LineageArgs),
    /// The project in numbers: models, runs, rows, and how deliveries stand
    ///
    /// Examples:
    ///   ondatrasql stats
    ///   ondatrasql stats --json
    #[command(override_usage = "ondatrasql stats", verbatim_doc_comment)]
    Stats,
    /// Look at all that a run needs, and tell how to mend what is amiss
    ///
    /// The engine, its extensions, the configuration, the lake, the state and its key, the disk, the clock, permissions,
    /// leftovers. Nothing is changed. An error is exit code 1. Examples:
    ///   ondatrasql doctor
    ///   ondatrasql doctor --json
    #[command(override_usage = "ondatrasql doctor", verbatim_doc_comment)]
    Doctor,
    /// What is to be delivered to other systems, target by target
    ///
    /// Without a command: how every target stands. Examples:
    ///   ondatrasql queue
    ///   ondatrasql queue show sync.contacts --dead
    ///   ondatrasql queue drain
    #[command(
        override_usage = "ondatrasql queue [show|retry|drop|drain|reset] [--state-wait <duration>]",
        verbatim_doc_comment
    )]
    Queue(QueueArgs),
    /// Show what would be delivered next, as the sink would get it
    ///
    /// Example:
    ///   ondatrasql push sync.contacts --dry-run --limit 1
    #[command(
        override_usage = "ondatrasql push TARGET --dry-run [--limit N] [--state-wait <duration>]",
        verbatim_doc_comment
    )]
    Push(PushArgs),
    /// Authorize requests of lib files at an OAuth provider, once
    ///
    /// Without a provider: those that variables describe. Examples:
    ///   ondatrasql auth my-crm
    ///   ondatrasql auth my-crm --no-browser    # on a machine without one: paste where the browser ends up
    ///   ondatrasql auth status
    #[command(
        override_usage = "ondatrasql auth [status | remove | <provider> [--port N] [--no-browser]] \
                          [--state-wait <duration>]",
        verbatim_doc_comment
    )]
    Auth(AuthArgs),
    /// The state: the push queue, staged rows and tokens
    ///
    /// config/state.sql decides where it is. Examples:
    ///   ondatrasql state status
    ///   ondatrasql state serve --listen localhost:9494
    #[command(override_usage = "ondatrasql state status|rekey|copy|serve", verbatim_doc_comment)]
    State {
        #[command(subcommand)]
        command: StateCommand,
    },
    /// Runs a script of `sql/`; never parsed, the words are read by hand
    #[command(skip)]
    Script(String),
    /// Print what makes a shell complete commands, flags and models
    ///
    /// Put the line of your shell into its start file:
    ///   source <(ondatrasql completions bash)      # ~/.bashrc
    ///   source <(ondatrasql completions zsh)       # ~/.zshrc, behind compinit
    ///   ondatrasql completions fish | source       # ~/.config/fish/config.fish
    #[command(override_usage = "ondatrasql completions bash|zsh|fish", display_order = 88, verbatim_doc_comment)]
    Completions(CompletionsArgs),
    /// Print the man page, or write one for each command
    ///
    /// Example:
    ///   ondatrasql man --dir ~/.local/share/man/man1
    #[command(override_usage = "ondatrasql man [--dir <folder>]", display_order = 89, verbatim_doc_comment)]
    Man(ManArgs),
    /// Print the version
    ///
    /// Examples:
    ///   ondatrasql version
    ///   ondatrasql version --json
    #[command(override_usage = "ondatrasql version", display_order = 90, verbatim_doc_comment)]
    Version,
    /// Print this help, or that of a command
    ///
    /// Example:
    ///   ondatrasql help run
    #[command(override_usage = "ondatrasql help [<command>]", display_order = 91, verbatim_doc_comment)]
    Help {
        /// Command
        command: Option<String>,
    },
}

#[cfg(test)]
mod tests;
