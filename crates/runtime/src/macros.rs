//! Loads `config/macros/*.sql`: files may use each other in any order (chapter 01 §2.1).

use std::collections::BTreeSet;

use checks::{Check, create_macros, is_reserved, named_in};
use engine::{Connection, EngineError};
use model::Code as Words;
use model::{ConfigDefinitions, code_words};
use project::ConfigFile;
use types::{Code, Place, literal, quote};

use crate::session::run_file;
use crate::{RunError, Session};

/// Loads every file; one that fails is tried again while any other still makes progress.
///
/// `memory` comes first on the search path, so that macros land there. Each file is one transaction: a
/// macro created on its own would begin one in the lake as well.
pub(crate) fn load_macros(connection: &Connection, lake: &str, files: &[ConfigFile]) -> Result<(), RunError> {
    if files.is_empty() {
        return Ok(());
    }
    connection.execute(&format!("SET search_path = 'memory.main,{}.main'", quote(lake)))?;
    let mut waiting: Vec<ConfigFile> = files.iter().map(|file| file.with_catalog(lake)).collect();
    loop {
        let before = waiting.len();
        let mut failed = Vec::new();
        let mut first_error = None;
        for file in waiting {
            if let Err(error) = load_file(connection, lake, &file) {
                failed.push(file);
                first_error.get_or_insert(error);
            }
        }
        match first_error {
            None => return Ok(()),
            Some(error) if failed.len() == before => return Err(error),
            Some(_) => waiting = failed,
        }
    }
}

fn load_file(connection: &Connection, lake: &str, file: &ConfigFile) -> Result<(), RunError> {
    connection.execute("BEGIN")?;
    // Only a file that names the lake can store something there, and asking the engine takes time.
    let names_lake = code_words(&file.expanded.text).contains(&lake.to_lowercase());
    let in_lake = || if names_lake { macros_in_lake(connection, lake) } else { Ok(BTreeSet::new()) };
    let loaded = in_lake().map_err(RunError::from).and_then(|before| {
        run_file(connection, file)?;
        match in_lake()?.difference(&before).next() {
            None => Ok(()),
            Some(name) => Err(stored_in_lake(lake, file, file.place(place_of(file, name)))),
        }
    });
    match loaded {
        Ok(()) => Ok(connection.execute("COMMIT")?),
        Err(error) => {
            connection.execute("ROLLBACK")?;
            Err(match error {
                // A file that also has macros of its own writes to two databases, which the engine refuses.
                RunError::Config { error, place, .. }
                    if error.cleaned().starts_with("Attempting to write to database") =>
                {
                    stored_in_lake(lake, file, *place)
                }
                other => other,
            })
        }
    }
}

/// Refuses macros in the way of those that the shipped checks are made of: these are made later, when no file is at hand.
pub(crate) fn refuse_reserved(files: &[ConfigFile]) -> Result<(), RunError> {
    for file in files {
        let own = own_macros(std::slice::from_ref(file));
        if let Some(name) = own.iter().find(|name| is_reserved(name)) {
            return Err(RunError::Refused {
                code: Code::ConfigSql,
                message: format!(
                    "load {}: the name {name} is reserved for what the shipped checks are made of",
                    file.name
                ),
                help: "give the macro another name".into(),
                place: Box::new(file.place(place_of(file, name))),
            });
        }
    }
    Ok(())
}

/// Makes the macros of shipped checks that the files name: bodies are bound when a macro is made. Gives the statements.
pub(crate) fn make_named_checks(
    connection: &Connection,
    files: &[ConfigFile],
) -> Result<BTreeSet<String>, EngineError> {
    let own = own_macros(files);
    let words: Vec<String> = files.iter().flat_map(|file| code_words(&file.expanded.text)).collect();
    let named: Vec<&Check> = named_in(&words).into_iter().filter(|check| !own.contains(&check.macro_name())).collect();
    let statements = create_macros(&named);
    if !statements.is_empty() {
        connection.execute(&format!("BEGIN;\n{}\nCOMMIT", statements.join("\n")))?;
    }
    Ok(statements.into_iter().collect())
}

/// The macros that the files make, in lower case: they take the place of shipped ones.
pub(crate) fn own_macros(files: &[ConfigFile]) -> BTreeSet<String> {
    let mut definitions = ConfigDefinitions::default();
    for file in files {
        definitions.add_macros(&file.source);
    }
    definitions.macros().clone()
}

fn macros_in_lake(connection: &Connection, lake: &str) -> Result<BTreeSet<String>, EngineError> {
    let sql = format!(
        "SELECT function_name FROM duckdb_functions() WHERE database_name = {} AND macro_definition IS NOT NULL",
        literal(lake)
    );
    Ok(connection.query(&sql)?.into_values().filter_map(|mut row| row.swap_remove(0).into_text()).collect())
}

/// Where the file first names the macro.
fn place_of(file: &ConfigFile, name: &str) -> usize {
    let code = Words::new(&file.expanded.text);
    (0..code.len()).find(|&at| code.value(at).eq_ignore_ascii_case(name)).map_or(0, |at| code.start(at))
}

fn stored_in_lake(lake: &str, file: &ConfigFile, place: Place) -> RunError {
    RunError::Refused {
        code: Code::ConfigSql,
        message: format!("load {}: a macro would be stored in the lake, macros live in the memory database", file.name),
        help: format!("write the macro's name without `{lake}.`"),
        place: Box::new(place),
    }
}

/// The names of all macros, the configuration's and the lake's, without asking the engine for its list: that
/// looks into every attached database, and fails with one that cannot be opened.
pub(crate) fn macro_names(session: &Session) -> Result<BTreeSet<String>, EngineError> {
    let sql = format!("SELECT lower(macro_name) FROM {}.ducklake_macro WHERE end_snapshot IS NULL", session.metadata);
    let of_lake = session.connection.query(&sql)?.into_values();
    let of_lake = of_lake.filter_map(|mut row| row.swap_remove(0).into_text());
    Ok(session.definitions.macros().iter().cloned().chain(of_lake).collect())
}
