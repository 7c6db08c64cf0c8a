//! The command lines of what makes and opens files: `new`, `edit`.

use clap::Args;

#[derive(Args)]
pub(crate) struct NewArgs {
    /// schema.name.sql for a model, schema or schema.folder for folders
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
}

#[derive(Args)]
pub(crate) struct EditArgs {
    /// A model (schema.table), env, a file of config/, `macros/<name>` or `variables/<name>`
    #[arg(value_name = "TARGET")]
    pub(crate) target: String,
}
