//! Figures against other programs that do the same work. How each is configured lies in `peers/` beside `src/`.

mod environment;
mod fifty;
mod incremental;
mod parse;
mod project;

pub use environment::{DBT, DLT, Environment, Peer, SQLMESH, versions};
pub use fifty::{first_run_dbt, first_run_sqlmesh, no_op_dbt, no_op_dbt_file, no_op_sqlmesh, version};
pub use incremental::incremental_dbt;
pub use parse::parse_dbt;

use crate::measure::Figure;

/// Measures against a peer, or tells why that cannot be.
pub fn against(
    peer: &'static Peer,
    what: &'static str,
    measure: impl FnOnce(&'static Environment) -> Figure,
) -> Figure {
    let figure = match peer.environment() {
        Ok(environment) => measure(environment),
        Err(why) => Figure::skipped(what, why.to_owned()),
    };
    figure.against(peer.name)
}
