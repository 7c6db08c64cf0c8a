//! The lib functions of a project (chapter 03 §3.1 *Discovery*).

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use types::is_identifier;

use crate::LibError;
use crate::lib_file::{Lib, Read, read_lib};

/// The folder.
const FOLDER: &str = "lib";

/// The lib functions of a project, the healthy ones and the broken.
#[derive(Debug, Default)]
pub struct Registry {
    /// Functions by name in lower case.
    libs: BTreeMap<String, Lib>,
    /// Files that cannot be used, by their stem in lower case.
    broken: BTreeMap<String, BrokenLib>,
    /// Files without an `API`, which others load.
    pub helpers: Vec<PathBuf>,
}

/// A file that cannot be used.
#[derive(Debug, Clone)]
pub struct BrokenLib {
    /// Its stem.
    pub name: String,
    /// Why.
    pub error: LibError,
}

impl Registry {
    /// Reads `lib/` of the project at `root`; nothing is executed. `is_builtin` tells which names the engine has
    /// taken for functions of its own.
    pub fn read(root: &Path, is_builtin: impl Fn(&str) -> bool) -> Result<Self, LibError> {
        let mut registry = Self::default();
        for path in files(root)? {
            let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
            let key = stem.to_lowercase();
            let taken = registry.libs.get(&key).map(|lib| lib.path.clone());
            let read = match taken {
                Some(other) => {
                    Err(unusable(&path, &format!("has the same name as {} but for its case", other.display())))
                }
                None => check_name(&path, &stem).and_then(|()| read_lib(root, &path)),
            };
            match read {
                Ok(Read::Helper) => registry.helpers.push(path),
                Ok(Read::Lib(_)) if is_builtin(&key) => {
                    let error = unusable(&path, "has the name of a function of DuckDB");
                    registry.broken.insert(key, BrokenLib { name: stem, error });
                }
                Ok(Read::Lib(lib)) => {
                    registry.libs.insert(key, *lib);
                }
                Err(error) => {
                    registry.broken.insert(key, BrokenLib { name: stem, error });
                }
            }
        }
        Ok(registry)
    }

    /// A function by its name, in any case.
    pub fn get(&self, name: &str) -> Option<&Lib> {
        self.libs.get(&name.to_lowercase()).filter(|lib| !self.broken.contains_key(&lib.name.to_lowercase()))
    }

    /// A broken file by its name, in any case.
    pub fn broken(&self, name: &str) -> Option<&BrokenLib> {
        self.broken.get(&name.to_lowercase())
    }

    /// The healthy functions, by name.
    pub fn libs(&self) -> impl Iterator<Item = &Lib> {
        self.libs.values()
    }

    /// The broken files, by name.
    pub fn all_broken(&self) -> impl Iterator<Item = &BrokenLib> {
        self.broken.values()
    }
}

/// The files directly inside of `lib/`, by name.
fn files(root: &Path) -> Result<Vec<PathBuf>, LibError> {
    let entries = match fs::read_dir(root.join(FOLDER)) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => {
            return Err(LibError::file(format!("read {FOLDER}: {error}"), "check that the folder can be read", None));
        }
    };
    let named = entries.flatten().map(|entry| entry.file_name()).filter_map(|name| name.into_string().ok());
    let is_lib = |name: &String| name.ends_with(".star") && !name.starts_with('.');
    let mut names: Vec<String> = named.filter(is_lib).collect();
    names.sort();
    let path = |name: String| Path::new(FOLDER).join(name);
    Ok(names.into_iter().map(path).filter(|path| !root.join(path).is_dir()).collect())
}

fn check_name(path: &Path, stem: &str) -> Result<(), LibError> {
    if is_identifier(stem) { Ok(()) } else { Err(unusable(path, "has no usable name")) }
}

fn unusable(path: &Path, why: &str) -> LibError {
    let help = "name the file with letters, digits and `_`, as no other function is named";
    LibError::file(format!("{} {why}", path.display()), help, None)
}
