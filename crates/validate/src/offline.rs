//! An engine to ask, without the project's databases and without the network: of the configuration only
//! `extensions.sql` is executed, as far as it goes.

use std::path::{Path, PathBuf};

use engine::{Connection, EngineError, EngineOptions, Instance, SpillFolder, needed_extensions};
use model::{Code, Finding};
use project::{ConfigFile, Environment, read_extensions};
use types::{Diagnose, Place, Rule};

/// Statements that reach for the network or for databases.
const NOT_EXECUTED: [&str; 4] = ["attach", "force", "install", "update"];

/// The file, relative to the project.
const EXTENSIONS: &str = "config/extensions.sql";

/// The engine.
pub(crate) struct Offline {
    pub connection: Connection,
    /// What could not be loaded.
    pub findings: Vec<Finding>,
    // Behind the connection: the folder must outlive what spills into it.
    _spill: SpillFolder,
}

impl Offline {
    pub(crate) fn open(root: &Path, environment: &Environment, options: &EngineOptions) -> Result<Self, EngineError> {
        let (file, mut findings) = match read_extensions(root, environment) {
            Ok(file) => (file, Vec::new()),
            Err(error) => {
                let place = error.place().cloned().unwrap_or_else(|| Place::new(EXTENSIONS, "".into(), 0..0));
                (None, vec![failed(place, error.to_string())])
            }
        };
        let text = file.as_ref().map_or("", |file| file.expanded.text.as_str());
        let Instance { connection, spill } = options.open_offline(&needed_extensions(&[text]))?;
        findings.extend(file.iter().flat_map(|file| execute(&connection, file)));
        Ok(Self { connection, findings, _spill: spill })
    }
}

/// Executes the statements one by one; one that fails does not keep the others from their turn.
fn execute(connection: &Connection, file: &ConfigFile) -> Vec<Finding> {
    let mut findings = Vec::new();
    for range in file.statements() {
        let statement = &file.expanded.text[range.clone()];
        if Code::new(statement).is(0, &NOT_EXECUTED) {
            continue;
        }
        if let Err(error) = connection.execute(statement) {
            let offset = error.offset().filter(|&at| at <= statement.len()).unwrap_or(0);
            findings.push(failed(file.place(range.start + offset), format!("load {}: {}", file.name, error.cleaned())));
        }
    }
    findings
}

fn failed(place: Place, message: String) -> Finding {
    let help = "validate installs nothing: correct the statement, or install the extension on this machine once";
    Finding::new(Rule::ExtensionsLoadFailed, place, message, help)
}

/// A finding about the engine as a whole.
pub(crate) fn introspection_failed(error: &EngineError) -> Finding {
    let message = format!("the engine does not tell its functions: {}", error.cleaned());
    let help = "see whether config/extensions.sql changes the engine's limits";
    Finding::new(Rule::IntrospectionFailed, Place::new(PathBuf::from("."), "".into(), 0..0), message, help)
}
