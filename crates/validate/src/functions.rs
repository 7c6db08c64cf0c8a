//! Functions that can stand in FROM: the engine's, the configuration's, those of `lib/`.

use std::collections::BTreeSet;

use engine::{Connection, EngineError};
use lib_functions::Registry;
use model::{Finding, Model, SyntaxTree};
use query::{LibCall, lib_calls};
use types::{Rule, literal, quote};

use crate::checks::extension;

/// Functions that a lake brings once it is current.
const OF_LAKE: [&str; 12] = [
    "current_snapshot",
    "last_committed_snapshot",
    "merge_adjacent_files",
    "options",
    "set_commit_message",
    "set_option",
    "settings",
    "snapshots",
    "table_changes",
    "table_deletions",
    "table_info",
    "table_insertions",
];

/// Functions that a session makes for itself.
pub const OF_SESSION: [&str; 6] = [
    "dag_start_snapshot",
    "last_snapshot",
    "ondatra_current_snapshot",
    "ondatra_load_id",
    "ondatra_now",
    "prev_snapshot",
];

/// Names of the table functions and table macros that the engine has, in lower case.
pub fn table_functions(connection: &Connection) -> Result<BTreeSet<String>, EngineError> {
    let sql =
        "SELECT DISTINCT lower(function_name) FROM duckdb_functions() WHERE function_type IN ('table', 'table_macro')";
    let rows = connection.query(sql)?.into_values();
    Ok(rows.filter_map(|mut row| row.swap_remove(0).into_text()).collect())
}

/// What is known of the functions that a run will find.
pub(crate) struct TableFunctions<'a> {
    pub connection: &'a Connection,
    pub registry: &'a Registry,
    /// In lower case.
    pub names: BTreeSet<String>,
    /// Extensions that the configuration loads somewhere else than in `extensions.sql`; they are looked for on this
    /// machine when a name is unknown without them.
    pub loads: Vec<String>,
    /// Whether there may be others, because what brings them could not be loaded.
    pub may_be_more: bool,
}

impl TableFunctions<'_> {
    /// The calls in FROM that nothing answers, or why that cannot be told.
    pub(crate) fn unknown(&mut self, model: &Model, tree: &SyntaxTree) -> Vec<Finding> {
        if self.may_be_more || self.calls(tree).is_empty() {
            return Vec::new();
        }
        let missing = self.load_more(model);
        let calls = self.calls(tree);
        let calls = calls.into_iter().filter(|call| !self.is_of_extension(&call.name));
        calls.map(|call| found(model, &call, missing.as_deref())).collect()
    }

    fn calls(&self, tree: &SyntaxTree) -> Vec<LibCall> {
        lib_calls(tree, |name| {
            let key = name.to_lowercase();
            let is_known = self.names.contains(&key) || OF_LAKE.contains(&key.as_str());
            !is_known && self.registry.get(name).is_none() && self.registry.broken(name).is_none()
        })
    }

    /// Loads the extensions that the model and the configuration name; gives the first that is not on this machine.
    pub(crate) fn load_more(&mut self, model: &Model) -> Option<String> {
        let of_model = model.extensions.iter().filter_map(|written| extension(model, written).ok());
        let all: Vec<String> = self.loads.iter().cloned().chain(of_model.map(|extension| extension.name)).collect();
        let missing = all.into_iter().find(|name| self.connection.execute(&format!("LOAD {}", literal(name))).is_err());
        // What fails here has answered before.
        self.names.extend(table_functions(self.connection).unwrap_or_default());
        missing
    }

    /// Whether no scalar function or aggregate of the engine has the name, in lower case, once the extensions of the model are loaded; with
    /// the extension that may have it and is not on this machine.
    pub(crate) fn is_no_scalar(&mut self, model: &Model, name: &str) -> bool {
        let is_missing = |connection: &Connection| {
            let asked = connection.query(&format!("EXPLAIN SELECT system.main.{}()", quote(name)));
            asked.is_err_and(|error| error.is_unknown_function())
        };
        // An extension that is not on this machine may bring it.
        is_missing(self.connection)
            && !self.may_be_more
            && self.load_more(model).is_none()
            && is_missing(self.connection)
    }

    /// Whether a function comes with an extension that a run would load when it meets the name.
    fn is_of_extension(&self, name: &str) -> bool {
        let planned = self.connection.query(&format!("EXPLAIN SELECT * FROM {}()", quote(name)));
        planned.is_err_and(|error| error.is_of_extension())
    }
}

fn found(model: &Model, call: &LibCall, missing: Option<&str>) -> Finding {
    let help = "correct the name; functions come from lib/, config/macros/, the engine and its extensions";
    let message = format!("unknown table function \"{}\"", call.name);
    let finding = Finding::new(Rule::UnknownLib, model.sql_place(call.offset.unwrap_or(0)), message, help);
    missing.map(|missing| not_loaded(&finding, missing)).unwrap_or(finding)
}

/// What cannot be told, because an extension that may settle it is not on this machine.
pub(crate) fn not_loaded(finding: &Finding, extension: &str) -> Finding {
    let message =
        format!("cannot be told without the extension {extension}, which does not load: {}", finding.message());
    let help = "install the extension on this machine once";
    Finding::new(Rule::ExtensionsLoadFailed, finding.place.clone(), message, help)
}
