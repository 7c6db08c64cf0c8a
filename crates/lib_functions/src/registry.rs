//! The lib functions of a project (chapter 03 §3.1 *Discovery*).

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use types::{Rule, is_identifier};

use crate::LibError;
use crate::lib_file::{Lib, read_lib, stem};
use crate::program::canonical_in;

/// The folder.
const FOLDER: &str = "lib";

/// The lib functions of a project, the healthy ones and the broken.
#[derive(Debug, Default)]
pub struct Registry {
    /// Functions by name in lower case.
    libs: BTreeMap<String, Lib>,
    /// Files that cannot be used, by path.
    broken: Vec<BrokenLib>,
    /// Files without an `API`, which others load.
    pub helpers: Vec<PathBuf>,
}

/// A file that cannot be used.
#[derive(Debug, Clone)]
pub struct BrokenLib {
    /// Its stem.
    pub name: String,
    /// The file, relative to the project.
    pub path: PathBuf,
    /// Why.
    pub error: LibError,
}

impl Registry {
    /// Reads `lib/` of the project at `root`; nothing is executed. `is_builtin` tells of a name in lower case whether
    /// the engine has a table function of that name.
    ///
    /// # Errors
    /// The folder cannot be read, or lies outside of the project. What is wrong with a file does not fail the others.
    pub fn read(root: &Path, is_builtin: impl Fn(&str) -> bool) -> Result<Self, LibError> {
        let mut registry = Self::default();
        let mut stems: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
        for path in lib_files(root)? {
            let name = stem(&path);
            let key = name.to_lowercase();
            match read_lib(root, &path).and_then(|lib| lib.map(|lib| check_name(lib, &is_builtin)).transpose()) {
                Ok(None) => {
                    registry.helpers.push(path);
                    continue;
                }
                Ok(Some(lib)) => {
                    registry.libs.insert(key.clone(), lib);
                }
                Err(error) => registry.broken.push(BrokenLib { name, path: path.clone(), error }),
            }
            stems.entry(key).or_default().push(path);
        }
        stems.into_iter().filter(|(_, twins)| twins.len() > 1).for_each(|(key, twins)| registry.part(&key, &twins));
        registry.broken.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(registry)
    }

    /// Files of the same name but for its case: which of them is meant cannot be told.
    fn part(&mut self, key: &str, twins: &[PathBuf]) {
        self.libs.remove(key);
        for path in twins {
            let other = twins.iter().find(|other| *other != path).unwrap_or(path);
            if self.broken.iter().all(|broken| broken.path != *path) {
                let error = unusable(path, &format!("has the same name as {} but for its case", other.display()));
                self.broken.push(BrokenLib { name: stem(path), path: path.clone(), error });
            }
        }
    }

    /// A function by its name, in any case.
    pub fn get(&self, name: &str) -> Option<&Lib> {
        self.libs.get(&name.to_lowercase())
    }

    /// A broken file by its name, in any case.
    pub fn broken(&self, name: &str) -> Option<&BrokenLib> {
        self.broken.iter().find(|broken| broken.name.to_lowercase() == name.to_lowercase())
    }

    /// The healthy functions, by name.
    pub fn libs(&self) -> impl Iterator<Item = &Lib> {
        self.libs.values()
    }

    /// The broken files, by path.
    pub fn all_broken(&self) -> impl Iterator<Item = &BrokenLib> {
        self.broken.iter()
    }
}

/// The files directly inside of `lib/`, by name, relative to the project; those that only others load are among them.
///
/// # Errors
/// The folder cannot be read, or lies outside of the project.
pub fn lib_files(root: &Path) -> Result<Vec<PathBuf>, LibError> {
    let failed = |error: io::Error| {
        let help = "check what it is, and who may read it";
        LibError::breaking(Rule::WalkSkipped, format!("read {FOLDER}/: {error}"), help, None)
    };
    let folder = Path::new(FOLDER);
    let entries = match canonical_in(root, folder) {
        Ok(Some(found)) => fs::read_dir(found).map_err(failed)?,
        Ok(None) => {
            let help = "put the folder itself into the project, not a link to another";
            let message = format!("{FOLDER}/ lies outside project directory");
            return Err(LibError::breaking(Rule::UnreadableLib, message, help, None));
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound && !root.join(folder).is_symlink() => {
            return Ok(Vec::new());
        }
        Err(error) => return Err(failed(error)),
    };
    let names: Vec<OsString> =
        entries.map(|entry| entry.map(|entry| entry.file_name())).collect::<Result<_, _>>().map_err(failed)?;
    let is_lib = |name: &OsString| {
        let name = name.as_encoded_bytes();
        name.ends_with(b".star") && !name.starts_with(b".")
    };
    let paths = names.into_iter().filter(is_lib).map(|name| folder.join(name));
    let mut paths: Vec<PathBuf> = paths.filter(|path| !root.join(path).is_dir()).collect();
    paths.sort();
    Ok(paths)
}

/// The function, if SQL can call it by the file's name.
fn check_name(lib: Lib, is_builtin: impl Fn(&str) -> bool) -> Result<Lib, LibError> {
    if !is_identifier(&lib.name) {
        return Err(unusable(&lib.path, "has no name that SQL can call"));
    }
    if is_builtin(&lib.name.to_lowercase()) {
        return Err(unusable(&lib.path, "has the name of a table function of DuckDB"));
    }
    Ok(lib)
}

fn unusable(path: &Path, why: &str) -> LibError {
    let help = "name the file with letters, digits and `_`, as no other function is named";
    LibError::file(format!("{} {why}", path.display()), help, None)
}
