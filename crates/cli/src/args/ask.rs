//! The command lines of what asks the lake: `sql`, `query`.

use clap::{Args, ValueEnum};

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
    /// Table (schema.table), or path of the .sql file of a model
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

/// The first operand of `sql` is taken literally unless it is exactly a flag of `sql`.
pub(super) fn prepare_sql(words: &[String]) -> Vec<String> {
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
