//! `state rekey`: the state file with a new key.
//!
//! File and key are in two files, which no system replaces at once. So `.env` holds both keys while the file is
//! replaced: `<NAME>` and `<NAME>_NEXT`. Whoever opens the state meanwhile, or after a crash, finds out which of
//! the two is the file's, and finishes what was begun.

use std::fs::{self, File as FsFile};
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt, chown};
use std::path::{Path, PathBuf};

use engine::Connection;
use project::{DotEnv, Environment, draw_state_key};
use types::{Code, literal, quote};

use crate::migrations::migrate;
use crate::open::{StateConfig, check_is_file, session};
use crate::sql_store::{count, local};
use crate::{StateError, backend};

/// What was done.
#[derive(Debug)]
pub struct Rekeyed {
    /// The state file.
    pub path: PathBuf,
    /// The variable in `.env` that holds the new key.
    pub variable: String,
    /// Rows compared.
    pub rows: u64,
}

/// Encrypts the state file with a new key. `root` is the project's folder, which holds `.env`.
pub fn rekey(root: &Path, config: &StateConfig, environment: &Environment) -> Result<Rekeyed, StateError> {
    // Holding the old file keeps every other process out until the new one is in its place.
    check_is_file(config, Code::StateRekey, "rekey")?;
    let variable = key_variable(config)?;
    let (instance, _) = session(config, &[])?;
    let dotenv = DotEnv::read(root)?;
    if environment.is_file(&variable) {
        return Err(StateError::refused(
            Code::StateRekey,
            format!("{variable} stands for a file, which this does not replace"),
            format!("put the key itself into .env as {variable}, rotate it, and take the new one out again"),
        ));
    }
    if environment.is_of_process(&variable) || dotenv.get(&variable).as_deref() != environment.get(&variable) {
        return Err(StateError::refused(
            Code::StateRekey,
            format!("{variable} is set in the environment, not in .env alone"),
            format!(
                "put {variable} into .env and take it out of the environment: only there can the new key replace it"
            ),
        ));
    }
    let mut old = backend::File::new(instance).map_err(local)?;
    migrate(&mut old)?;
    let instance = old.into_instance();
    let connection = &instance.connection;
    let path = file_path(connection)?;
    let (key, new_path) = (draw_state_key()?, beside(&path));
    let written = write_copy(connection, &new_path, &key).and_then(|rows| {
        keep_owner(&path, &new_path)?;
        sync(&new_path)?;
        Ok(rows)
    });
    let rows = written.inspect_err(|_| {
        // The first error is the one that tells.
        let _ = remove_leftovers(&new_path);
    })?;

    BothKeys::note(dotenv, &variable, key)?.replace_file(&new_path, &path)?.settle()?;
    drop(instance);
    Ok(Rekeyed { path, variable, rows })
}

/// Finishes a rotation that a crash interrupted. Gives the environment to go on with; `None` if there is nothing
/// to finish.
pub fn finish_rekey(
    root: &Path,
    environment: &Environment,
    mut config_with: impl FnMut(&Environment) -> Result<StateConfig, StateError>,
) -> Result<Option<Environment>, StateError> {
    let config = config_with(environment)?;
    let Ok(variable) = key_variable(&config) else { return Ok(None) };
    let next = next_of(&variable);
    loop {
        let dotenv = DotEnv::read(root)?;
        let Some(next_key) = dotenv.get(&next) else { return Ok(None) };
        let key = dotenv.get(&variable);
        // By the keys of the file itself: what the process has may be any key, and goes with it.
        let mut open = |key: &str| match session(&config_with(&environment.with(&variable, key))?, &[]) {
            Ok((instance, _)) => Ok(Some(instance)),
            Err(StateError::WrongKey { .. }) => Ok(None),
            Err(error) => Err(error),
        };
        let with_old = key.as_deref().map_or(Ok(None), &mut open)?;
        let is_old = with_old.is_some();
        // Held until `.env` is written: whoever holds the file is the only one who changes its key.
        let holding = if is_old { with_old } else { open(&next_key)? };
        let mut now = DotEnv::read(root)?;
        if !now.is_same(&dotenv) {
            // Another process was at it while this one waited for the file.
            continue;
        }
        if holding.is_none() {
            // Neither is the file's: nothing is changed, and whoever opens it is told.
            return Ok(None);
        }
        if !is_old {
            now.set(&variable, &next_key);
        }
        now.remove(&next);
        now.write()?;
        let is_shadowed = environment.is_of_process(&variable);
        return Ok((!is_old && !is_shadowed).then(|| environment.with(&variable, &next_key)));
    }
}

/// `.env` holds the old key and the next one: only now may the file be replaced.
struct BothKeys {
    dotenv: DotEnv,
    variable: String,
    key: String,
}

/// The file is that of the next key: only now may `.env` forget the old one.
struct NewFile(BothKeys);

impl BothKeys {
    fn note(mut dotenv: DotEnv, variable: &str, key: String) -> Result<Self, StateError> {
        dotenv.set(&next_of(variable), &key);
        dotenv.write()?;
        Ok(Self { dotenv, variable: variable.to_owned(), key })
    }

    fn replace_file(self, new: &Path, path: &Path) -> Result<NewFile, StateError> {
        fs::rename(new, path).map_err(|error| StateError::file("put the new file in place as", path, &error))?;
        sync(path.parent().unwrap_or(Path::new(".")))?;
        Ok(NewFile(self))
    }
}

impl NewFile {
    fn settle(self) -> Result<(), StateError> {
        let BothKeys { mut dotenv, variable, key } = self.0;
        dotenv.set(&variable, &key);
        dotenv.remove(&next_of(&variable));
        Ok(dotenv.write()?)
    }
}

/// The variable that holds the key.
fn key_variable(config: &StateConfig) -> Result<String, StateError> {
    config.file.encryption_key_variable().ok_or_else(|| {
        StateError::refused(
            Code::StateRekey,
            "config/state.sql does not take its ENCRYPTION_KEY from a variable",
            "write (ENCRYPTION_KEY '${ONDATRA_STATE_KEY}') behind the file's name, with the key in .env",
        )
    })
}

fn next_of(variable: &str) -> String {
    format!("{variable}_NEXT")
}

fn file_path(connection: &Connection) -> Result<PathBuf, StateError> {
    let sql = "SELECT path FROM duckdb_databases() WHERE database_name = 'state'";
    let path = connection.query_value(sql).map_err(local)?.into_text().unwrap_or_default();
    // A link stays one: the file that it leads to is replaced.
    fs::canonicalize(&path).map_err(|error| StateError::file("find", path, &error))
}

fn beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".rekey");
    name.into()
}

/// Writes all of the state into a new file, and compares the two row by row.
fn write_copy(connection: &Connection, path: &Path, key: &str) -> Result<u64, StateError> {
    remove_leftovers(path)?;
    // The line of the configuration may name the cipher: the new file has the same one.
    let cipher = "SELECT cipher FROM duckdb_databases() WHERE database_name = 'state'";
    let cipher = connection.query_value(cipher).map_err(local)?.into_text();
    let cipher = cipher.map_or_else(String::new, |cipher| format!(", ENCRYPTION_CIPHER {}", literal(&cipher)));
    let attach = format!(
        "ATTACH {} AS rekeyed (ENCRYPTION_KEY {}{cipher}); CHECKPOINT state; COPY FROM DATABASE state TO rekeyed",
        literal(&path.display().to_string()),
        literal(key)
    );
    let write = |sql: &str| connection.execute(sql).map_err(|error| StateError::Write { message: error.cleaned() });
    write(&attach)?;
    let tables = "SELECT table_name FROM duckdb_tables() WHERE database_name = 'state' AND schema_name = 'main' \
                  ORDER BY table_name";
    let mut rows = 0;
    for table in connection.query(tables).map_err(local)?.into_values() {
        let table = table[0].as_text().unwrap_or_default();
        let compared = compare(connection, table)?;
        // Only of use to us.
        rows += if table == "schema_version" { 0 } else { compared };
    }
    write("CHECKPOINT rekeyed; DETACH rekeyed")?;
    Ok(rows)
}

/// Removes what a rotation that did not come to its end left.
fn remove_leftovers(path: &Path) -> Result<(), StateError> {
    for leftover in [path.to_owned(), PathBuf::from(format!("{}.wal", path.display()))] {
        match fs::remove_file(&leftover) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(StateError::file("remove", leftover, &error));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Gives the new file mode and owner of the old one: who may open the state does not change with its key.
fn keep_owner(old: &Path, new: &Path) -> Result<(), StateError> {
    let give = || {
        let (old, made) = (fs::metadata(old)?, fs::metadata(new)?);
        fs::set_permissions(new, old.permissions())?;
        if (old.uid(), old.gid()) == (made.uid(), made.gid()) {
            return Ok(());
        }
        chown(new, Some(old.uid()), Some(old.gid()))
    };
    give().map_err(|error| StateError::file("give owner and mode of the old file to", new, &error))
}

fn compare(connection: &Connection, table: &str) -> Result<u64, StateError> {
    let name = quote(table);
    let sql = format!(
        "SELECT (SELECT count(*) FROM state.{name}), \
         (SELECT count(*) FROM (FROM state.{name} EXCEPT ALL FROM rekeyed.{name})) \
         + (SELECT count(*) FROM (FROM rekeyed.{name} EXCEPT ALL FROM state.{name}))"
    );
    let row = connection.query(&sql).map_err(local)?.into_values().next().unwrap_or_default();
    match (row.first().map_or(0, count), row.get(1).map_or(1, count)) {
        (rows, 0) => Ok(rows),
        (_, differ) => Err(StateError::Verify { table: table.to_owned(), message: format!("{differ} rows differ") }),
    }
}

fn sync(path: &Path) -> Result<(), StateError> {
    FsFile::open(path).and_then(|file| file.sync_all()).map_err(|error| StateError::file("write", path, &error))
}
