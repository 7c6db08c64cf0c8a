//! The one definition of the command line, and how mistakes in it are reported (chapter 05 §1.1).

mod auth;
mod check;
mod files;
mod look;
mod queue;
mod shell;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use project::{CatalogKind, Script, script_names};

use crate::error::CliError;
use crate::invocation::current_folder;

pub(crate) use auth::{AuthArgs, AuthCommand, AuthRemoveArgs};
pub(crate) use check::CheckArgs;
pub(crate) use files::{EditArgs, NewArgs};
pub(crate) use look::{BlueprintArgs, DescribeArgs, DescribeCommand, HistoryArgs, LineageArgs, LineageFormat};
pub(crate) use queue::{
    PushArgs, QueueArgs, QueueCommand, QueueDrainArgs, QueueDropArgs, QueueResetArgs, QueueRetryArgs, QueueShowArgs,
};

pub(crate) use shell::{CompletionsArgs, ManArgs};

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
    after_help = "\n  --json      Print results as JSON, one document a line; messages go to stderr\n\n\
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
    #[command(
        override_usage = "ondatrasql run [<model>] [--full-refresh [--yes] | --keep] [--jobs N] [--state-wait <duration>]",
        verbatim_doc_comment
    )]
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
    #[command(override_usage = "ondatrasql sandbox [<model>] [--yes]", verbatim_doc_comment)]
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
    /// How many models fetch at a time
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=64))]
    pub(crate) jobs: u8,
    /// Skip a model that another worker is running, instead of waiting for it
    #[arg(long)]
    pub(crate) no_wait: bool,
    /// How long to wait while another run of the project is active, like 30s or 5m
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

#[derive(Args)]
pub(crate) struct SandboxArgs {
    /// Target (schema.table) or path of a .sql file
    #[arg(value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// End connections to a production catalog in PostgreSQL without asking
    #[arg(long)]
    pub(crate) yes: bool,
}

/// What to do with the state.
#[derive(Subcommand)]
pub(crate) enum StateCommand {
    /// Show where the state is, what is in it and which workers hold something
    ///
    /// Example:
    ///   ondatrasql state status
    #[command(override_usage = "ondatrasql state status [--state-wait <duration>]", verbatim_doc_comment)]
    Status(StateWait),
    /// Encrypt the state file with a new key, and write the key into .env
    ///
    /// The new file is compared with the old one row by row before it takes its place. A crash at any moment
    /// leaves a file and a key that go together. Example:
    ///   ondatrasql state rekey
    #[command(override_usage = "ondatrasql state rekey [--state-wait <duration>]", verbatim_doc_comment)]
    Rekey(StateWait),
    /// Copy the whole state into an empty one, on any database
    ///
    /// OTHER.sql attaches the other state, like config/state.sql does. The copy is compared row by row. Example:
    ///   ondatrasql state copy --to config/state.postgres.sql
    #[command(override_usage = "ondatrasql state copy --to OTHER.sql [--state-wait <duration>]", verbatim_doc_comment)]
    Copy(StateCopyArgs),
    /// Serve the state file to workers on this or other machines, until stopped
    ///
    /// The workers attach it with the line that is printed, and need the same token. Example:
    ///   ondatrasql state serve --listen localhost:9494
    #[command(
        override_usage = "ondatrasql state serve [--listen host:port] [--token-env VAR] [--state-wait <duration>]",
        verbatim_doc_comment
    )]
    Serve(StateServeArgs),
}

#[derive(Args)]
pub(crate) struct StateWait {
    /// How long to wait while another process has the state file or runs the project, like 30s or 5m
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = crate::duration::parse)]
    pub(crate) state_wait: std::time::Duration,
}

#[derive(Args)]
pub(crate) struct StateCopyArgs {
    /// The file that attaches the empty state
    #[arg(long, value_name = "OTHER.sql")]
    pub(crate) to: std::path::PathBuf,
    #[command(flatten)]
    pub(crate) wait: StateWait,
}

#[derive(Args)]
pub(crate) struct StateServeArgs {
    /// Where to listen; only this machine can reach localhost
    #[arg(long, value_name = "HOST:PORT", default_value = "localhost:9494", value_parser = listen_address)]
    pub(crate) listen: String,
    /// The variable (environment or .env) that holds the token
    #[arg(long, value_name = "VAR", default_value = "ONDATRA_QUACK_TOKEN", value_parser = variable_name)]
    pub(crate) token_env: String,
    #[command(flatten)]
    pub(crate) wait: StateWait,
}

fn listen_address(text: &str) -> Result<String, String> {
    state::check_address(text).map(|()| text.to_owned()).map_err(|error| error.to_string())
}

fn variable_name(text: &str) -> Result<String, String> {
    let is_name = !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if is_name { Ok(text.to_owned()) } else { Err("write the name of a variable, like MY_TOKEN".into()) }
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

/// The message of the contract for each of clap's.
fn explain(error: &clap::Error, name: &str) -> CliError {
    let context = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        Some(ContextValue::Strings(texts)) => texts.join(" "),
        _ => String::new(),
    };
    let argument = context(ContextKind::InvalidArg);
    let flag = argument.split([' ', '=']).next().unwrap_or_default().to_owned();
    let usage = || CliError::usage(format!("usage: {}", usage_of(name)), "see the command's --help");
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => match help(Some(name)) {
            Ok(text) => CliError::Help(text),
            Err(error) => error,
        },
        // Whatever word comes first is a provider, a model or a command.
        ErrorKind::InvalidSubcommand if matches!(name, "auth" | "describe") => CliError::usage(
            format!("extra args: {}", context(ContextKind::InvalidSubcommand)),
            format!("usage: {}", usage_of(name)),
        ),
        ErrorKind::InvalidSubcommand if is_parent(name) => CliError::usage(
            format!("unknown command: {name} {}", context(ContextKind::InvalidSubcommand)),
            format!("usage: {}", usage_of(name)),
        ),
        ErrorKind::InvalidSubcommand => unknown_command(name),
        ErrorKind::UnknownArgument if name.starts_with('-') || argument.starts_with('-') => {
            CliError::usage(format!("unknown flag: {flag}"), format!("usage: {}", usage_of(name)))
        }
        ErrorKind::UnknownArgument => {
            let what = match name {
                "version" | "init" | "stats" => "unexpected args",
                "sql" | "query" | "history" => "unexpected argument",
                _ => "extra args",
            };
            CliError::usage(format!("{what}: {argument}"), format!("usage: {}", usage_of(name)))
        }
        ErrorKind::InvalidValue if context(ContextKind::InvalidValue).is_empty() => {
            CliError::usage(format!("{flag} requires a value"), format!("usage: {}", usage_of(name)))
        }
        ErrorKind::InvalidValue | ErrorKind::ValueValidation => {
            let value = context(ContextKind::InvalidValue);
            let unit = if flag == "--state-wait" { "write a number with a unit, like 30s or 5m; " } else { "" };
            CliError::usage(format!("invalid {flag} value: {value}"), format!("{unit}usage: {}", usage_of(name)))
        }
        ErrorKind::MissingRequiredArgument if name == "state copy" => {
            CliError::usage("state copy needs --to OTHER.sql", format!("usage: {}", usage_of(name)))
        }
        ErrorKind::MissingRequiredArgument if name == "run" => CliError::usage(
            "--keep and --full-refresh need a model, --yes needs --full-refresh",
            format!("usage: {}", usage_of(name)),
        ),
        ErrorKind::ArgumentConflict => CliError::usage(
            format!("{flag} cannot be used with {}", context(ContextKind::PriorArg)),
            format!("usage: {}", usage_of(name)),
        ),
        _ => usage(),
    }
}

fn unknown_command(name: &str) -> CliError {
    if name.starts_with('-') {
        return CliError::usage(format!("unknown flag: {name}"), "`ondatrasql help` lists the commands");
    }
    let line = described();
    let known = line.get_subcommands().map(|command| command.get_name().to_owned());
    let close =
        known.map(|known| (strsim::damerau_levenshtein(&known, name), known)).min().filter(|(far, _)| *far <= 2);
    let help = match close {
        Some((0, _)) => format!("there is no sql/{name}.sql; `ondatrasql init` in an empty folder writes one"),
        Some((_, known)) => format!("did you mean `{known}`?"),
        None => "`ondatrasql help` lists the commands".to_owned(),
    };
    CliError::usage(format!("unknown command: {name}"), help)
}

fn usage_of(name: &str) -> String {
    let mut line = CommandLine::command();
    let usage = match find(&mut line, &name.split(' ').collect::<Vec<_>>()) {
        Some(command) => command.render_usage(),
        None => line.render_usage(),
    };
    usage.to_string().trim_start_matches("Usage: ").to_owned()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use super::{described, prepare_sql};

    fn pages() -> Vec<PathBuf> {
        let root = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
        let folders = ["docs", "docs/checks", "docs/errors"].map(|folder| root.join(folder));
        let entries =
            folders.iter().flat_map(|folder| fs::read_dir(folder).unwrap()).map(|entry| entry.unwrap().path());
        entries
            .filter(|path| path.extension().is_some_and(|ending| ending == "md"))
            .chain([root.join("README.md")])
            .collect()
    }

    /// The calls of the program in the blocks for a shell, without what describes a form: `[…]`, `<…>`.
    fn calls(page: &str) -> Vec<String> {
        let mut is_shell = false;
        let lines = page.lines().filter(|line| {
            if let Some(language) = line.trim_start().strip_prefix("```") {
                is_shell = ["sh", "console", "bash"].contains(&language);
            }
            is_shell
        });
        let calls = lines.filter_map(|line| {
            let line = line.trim_start();
            line.strip_prefix("$ ").unwrap_or(line).strip_prefix("ondatrasql ")
        });
        calls.filter(|call| !call.contains(['[', '<', '…'])).map(str::to_owned).collect()
    }

    /// What is read today was read when it was written, or the page is wrong.
    #[test]
    fn every_call_in_the_docs_is_understood() {
        let mut count = 0;
        for path in pages() {
            for call in calls(&fs::read_to_string(&path).unwrap()) {
                let words = shlex::split(&call).unwrap_or_else(|| panic!("{}: {call}", path.display()));
                let is_end = |word: &String| ["|", ">", "&&", ";"].contains(&word.as_str());
                let words: Vec<String> = words.into_iter().take_while(|word| !is_end(word)).collect();
                let words = if words[0] == "sql" { prepare_sql(&words) } else { words };
                let words: Vec<String> = words.into_iter().filter(|word| word != "--json").collect();
                let line = [vec!["ondatrasql".to_owned()], words].concat();
                let read = described().try_get_matches_from(line);
                assert!(read.is_ok(), "{}: {call}: {}", path.display(), read.unwrap_err());
                count += 1;
            }
        }
        assert!(count > 30, "only {count} calls were found");
    }
}
