//! The command lines of what makes and opens files: `init`, `new`, `edit`.

use clap::{Args, ValueEnum};
use project::CatalogKind;

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
    pub(crate) edited: String,
}
