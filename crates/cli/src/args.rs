//! The one definition of the command line, and how mistakes in it are reported (chapter 05 §1.1).

mod auth;
mod check;
mod files;
mod look;
mod mistakes;
mod queue;
mod shell;
mod state;

use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use project::{CatalogKind, Script, script_names};

use crate::error::CliError;
use crate::invocation::current_folder;

use mistakes::{explain, unknown_command};

pub(crate) use auth::{AuthArgs, AuthCommand, AuthRemoveArgs};
pub(crate) use check::CheckArgs;
pub(crate) use files::{EditArgs, NewArgs};
pub(crate) use look::{BlueprintArgs, DescribeArgs, DescribeCommand, HistoryArgs, LineageArgs, LineageFormat};
pub(crate) use queue::{
    PushArgs, QueueArgs, QueueCommand, QueueDrainArgs, QueueDropArgs, QueueResetArgs, QueueRetryArgs, QueueShowArgs,
};

pub(crate) use shell::{CompletionsArgs, ManArgs};
pub(crate) use state::{StateCommand, StateCopyArgs, StateServeArgs, StateWait};

/// The scripts that `init` writes, for the help: what they do is up to their files.
const SCRIPTS: [(&str, &str); 7] = [
    ("flush", "Write rows that are inlined in the lake's catalog to files (sql/flush.sql)"),
    ("merge", "Join small data files to larger ones (sql/merge.sql)"),
    ("expire", "Forget old snapshots, except those that runs need (sql/expire.sql)"),
    ("rewrite", "Rewrite data files of which many rows are deleted (sql/rewrite.sql)"),
    ("cleanup", "Delete data files that no snapshot needs any more (sql/cleanup.sql)"),
    ("orphaned", "Delete files that the lake does not know (sql/orphaned.sql)"),
    ("checkpoint", "All of these, for a nightly job (sql/checkpoint.sql)"),
];

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
                          [--state-wait <duration>] [--metrics-file PATH]",
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
    #[command(override_usage = "ondatrasql version", display_order = 90)]
    Version,
    /// Print this help, or that of a command
    #[command(override_usage = "ondatrasql help [<command>]", display_order = 91)]
    Help {
        /// Command
        command: Option<String>,
    },
}

#[derive(Args)]
pub(crate) struct InitArgs {
    /// Where the lake's metadata will be
    #[arg(long, value_enum, default_value = "sqlite")]
    catalog: CatalogArg,
}

impl InitArgs {
    pub(crate) fn catalog(&self) -> CatalogKind {
        match self.catalog {
            CatalogArg::Sqlite => CatalogKind::Sqlite,
            CatalogArg::Duckdb => CatalogKind::Duckdb,
            CatalogArg::Postgres => CatalogKind::Postgres,
        }
    }
}

#[derive(Clone, Copy, ValueEnum)]
enum CatalogArg {
    Sqlite,
    Duckdb,
    Postgres,
}

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
    #[arg(long, value_name = "PATH", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub(crate) metrics_file: Option<String>,
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

#[derive(Args)]
pub(crate) struct SqlArgs {
    // The statement: `prepare_sql` turns the first operand into this flag, so that it may begin with `--`.
    #[arg(long = STATEMENT_FLAG, hide = true, allow_hyphen_values = true)]
    pub(crate) statement: Option<String>,
    /// How to print rows
    #[arg(long, short, value_enum, default_value = "markdown")]
    pub(crate) format: Format,
}

#[derive(Args)]
pub(crate) struct QueryArgs {
    /// Table (schema.table)
    #[arg(value_name = "TABLE")]
    pub(crate) table: String,
    /// At most so many rows; all without it
    #[arg(long, short, value_name = "N", allow_negative_numbers = true)]
    pub(crate) limit: Option<String>,
    /// How to print rows
    #[arg(long, short, value_enum, default_value = "markdown")]
    pub(crate) format: Format,
}

/// A form of printed rows.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    Csv,
    Json,
    #[value(alias = "md")]
    Markdown,
}

const STATEMENT_FLAG: &str = "statement-text";

/// Reads the words of the command line.
pub(crate) fn read(words: &[String]) -> Result<Command, CliError> {
    let Some(name) = words.first() else { return Ok(Command::Help { command: None }) };
    if name == "-h" || name == "--help" {
        return Ok(Command::Help { command: None });
    }
    if name == "--version" || name == "-V" {
        return Ok(Command::Version);
    }
    if let Some(command) = read_script(name, &words[1..])? {
        return Ok(command);
    }
    let asks_for_help = words.iter().skip(1).any(|word| word == "-h" || word == "--help");
    let known = CommandLine::command().find_subcommand(name).is_some();
    // `auth` alone lists what variables describe, and they may be the process's.
    let is_list = name == "auth" && words.len() == 1;
    let needs_project =
        known && !is_list && !matches!(name.as_str(), "help" | "init" | "version" | "completions" | "man");
    if needs_project && !asks_for_help {
        // Outside a project this comes before anything that may be wrong with the arguments.
        project::find_root(&current_folder()?)?;
    }
    let mut full = vec!["ondatrasql".to_owned()];
    full.extend(if name == "sql" { prepare_sql(words) } else { words.to_vec() });
    let path = command_path(words);
    CommandLine::try_parse_from(full).map(|line| line.command).map_err(|error| explain(&error, &path))
}

/// Whether a command has commands of its own.
fn is_parent(name: &str) -> bool {
    matches!(name, "state" | "queue" | "auth" | "describe")
}

/// The words that name the command: one, or two for the commands of `state` and `queue`.
fn command_path(words: &[String]) -> String {
    match words {
        [name, second, ..] if is_parent(name) && find(&mut CommandLine::command(), &[name, second]).is_some() => {
            format!("{name} {second}")
        }
        [name, ..] => name.clone(),
        [] => String::new(),
    }
}

/// The command at a path of names.
fn find<'a>(line: &'a mut clap::Command, path: &[&str]) -> Option<&'a mut clap::Command> {
    path.iter().try_fold(line, |command, name| command.find_subcommand_mut(name))
}

/// `<name>` of `sql/<name>.sql` without more words; `None` if it is a command, or not for this to judge.
fn read_script(name: &str, rest: &[String]) -> Result<Option<Command>, CliError> {
    if name.starts_with('-') || CommandLine::command().find_subcommand(name).is_some() {
        return Ok(None);
    }
    if !Script::is_name(name) {
        let help = "a command is written with letters, digits, `_` and `-`; `ondatrasql help` lists them";
        return Err(CliError::usage(format!("invalid command: {name}"), help));
    }
    let asks_for_help = rest.iter().any(|word| word == "-h" || word == "--help");
    if asks_for_help {
        return Err(CliError::Help(help(Some(name))?));
    }
    let root = match project::find_root(&current_folder()?) {
        Ok(root) => root,
        Err(error) if is_init_script(name) => return Err(error.into()),
        Err(_) => return Err(unknown_command(name)),
    };
    if !Script::exists(&root, name) {
        return Err(unknown_command(name));
    }
    let usage = format!("usage: ondatrasql {name}");
    match rest.first() {
        None => Ok(Some(Command::Script(name.to_owned()))),
        Some(word) if word == "sandbox" => Err(CliError::usage(
            format!("\"{name}\" cannot run in sandbox mode: sql/ scripts execute real catalog operations"),
            format!(
                "run it on the lake itself with `ondatrasql {name}`, or in a copy of the project with a lake of its own"
            ),
        )),
        Some(word) if word.starts_with('-') => {
            let flag = word.split('=').next().unwrap_or_default();
            Err(CliError::usage(format!("unknown flag: {flag}"), usage))
        }
        Some(word) => Err(CliError::usage(format!("extra args: {word}"), usage)),
    }
}

fn is_init_script(name: &str) -> bool {
    SCRIPTS.iter().any(|(known, _)| *known == name)
}

/// The whole command line, with the scripts as commands: for texts, not for parsing.
pub(crate) fn described() -> clap::Command {
    let own = script_root().map(|root| script_names(&root)).unwrap_or_default();
    let own = own.into_iter().filter(|name| !is_init_script(name) && name != "help");
    let own = own.filter(|name| CommandLine::command().find_subcommand(name).is_none());
    let own = own.map(|name| (format!("Run sql/{name}.sql"), name)).map(|(about, name)| (name, about));
    let scripts = SCRIPTS.iter().map(|(name, about)| ((*name).to_owned(), (*about).to_owned())).chain(own);
    let commands = scripts.zip(20..).map(|((name, about), order)| {
        let usage = format!("ondatrasql {name}");
        clap::Command::new(name).about(about).override_usage(usage).display_order(order)
    });
    CommandLine::command().subcommands(commands)
}

fn script_root() -> Option<std::path::PathBuf> {
    project::find_root(&current_folder().ok()?).ok()
}

/// The help of a command, or of the program.
pub(crate) fn help(command: Option<&str>) -> Result<String, CliError> {
    let mut line = described();
    line.build();
    let Some(name) = command else { return Ok(line.render_help().to_string()) };
    match find(&mut line, &name.split(' ').collect::<Vec<_>>()) {
        Some(command) => Ok(command.render_long_help().to_string()),
        None => Err(unknown_command(name)),
    }
}

/// The first operand of `sql` is taken literally unless it is exactly a flag of `sql`.
fn prepare_sql(words: &[String]) -> Vec<String> {
    let mut prepared = vec!["sql".to_owned()];
    let mut rest = words.iter().skip(1);
    while let Some(word) = rest.next() {
        let is_flag = matches!(word.as_str(), "--format" | "-f" | "-h" | "--help") || word.starts_with("--format=");
        prepared.push(if is_flag { word.clone() } else { format!("--{STATEMENT_FLAG}={word}") });
        if matches!(word.as_str(), "--format" | "-f") {
            prepared.extend(rest.next().cloned());
        }
        if !is_flag {
            break;
        }
    }
    prepared.extend(rest.cloned());
    prepared
}

#[cfg(test)]
mod tests;
