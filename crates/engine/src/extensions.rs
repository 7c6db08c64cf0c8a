//! Finds the engine's extensions and loads them: the pinned files by their SHA-256, any other only with
//! the engine's own signature check.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::thread::{Scope, ScopedJoinHandle};

use model::code_words;
use sha2::{Digest, Sha256};
use types::{hex, is_identifier, literal};

use crate::{Connection, Database, EngineError};

/// What `engine.pins` says, compiled in.
pub struct Pins {
    /// Version of the engine, like `v1.5.5`.
    pub version: &'static str,
    /// Platform of the extensions, like `linux_amd64`.
    pub platform: &'static str,
    extensions: Vec<(&'static str, &'static str)>,
}

impl Pins {
    /// Reads the pins of this build.
    pub fn read() -> Self {
        let mut pins = Self { version: "", platform: "", extensions: Vec::new() };
        for line in include_str!("../../../engine.pins").lines() {
            match line.split_whitespace().collect::<Vec<_>>()[..] {
                ["duckdb-version", version] => pins.version = version,
                ["duckdb-platform", platform] => pins.platform = platform,
                ["artifact", "extension", name, .., sum] => pins.extensions.push((name, sum)),
                _ => {}
            }
        }
        pins
    }

    fn sum(&self, name: &str) -> Option<&'static str> {
        self.extensions.iter().find(|(known, _)| *known == name).map(|&(_, sum)| sum)
    }

    /// An error unless the linked library is the pinned version.
    pub fn check_library(&self) -> Result<(), EngineError> {
        let found = Database::library_version();
        if found == self.version {
            return Ok(());
        }
        Err(EngineError::Version { found, pinned: self.version.to_owned() })
    }
}

/// Where extensions may be, in order (chapter: engine provisioning).
#[derive(Debug, Clone, Default)]
pub struct ExtensionSearch {
    /// Folders in the order in which they are tried.
    pub folders: Vec<PathBuf>,
}

impl ExtensionSearch {
    /// The search path: the folder the user names, the one beside the executable, the repository's in
    /// development (found upwards of the executable), and the engine's own below `home`.
    pub fn new(named: Option<PathBuf>, executable: Option<&Path>, home: Option<&Path>) -> Self {
        let mut folders: Vec<PathBuf> = named.into_iter().collect();
        if let Some(dir) = executable.and_then(Path::parent) {
            folders.push(dir.join("extensions"));
            // Only above a folder `target`, as in a checkout: an installed binary never looks into folders
            // above its own, which somebody else may write to.
            let target = dir.ancestors().find(|up| up.file_name().is_some_and(|name| name == "target"));
            folders.extend(target.and_then(Path::parent).map(|root| root.join(".engine/extensions")));
        }
        folders.extend(home.map(|home| home.join(".duckdb/extensions")));
        Self { folders }
    }

    /// The folder that statements like `LOAD spatial` of the user's look in: the user's own, if there is one.
    pub fn engine_folder(&self) -> Option<&Path> {
        self.folders.iter().find(|folder| folder.is_dir()).map(PathBuf::as_path)
    }

    fn candidates(&self, name: &str, pins: &Pins) -> Vec<PathBuf> {
        let file = format!("{name}.duckdb_extension");
        self.folders
            .iter()
            .flat_map(|folder| [folder.join(pins.version).join(pins.platform).join(&file), folder.join(&file)])
            .collect()
    }

    /// Whether an extension's file is in one of the folders.
    pub(crate) fn holds(&self, name: &str, pins: &Pins) -> bool {
        self.candidates(name, pins).iter().any(|path| path.is_file())
    }

    /// Loads `names` into the instance of `connection`, which was opened with unsigned extensions allowed;
    /// afterwards only signed ones are.
    pub fn load(&self, connection: &Connection, names: &[&str], pins: &Pins) -> Result<(), EngineError> {
        std::thread::scope(|scope| self.check(scope, names, pins).load(connection))
    }

    /// Starts to compare the files of `names` with their pins, on threads of `scope`: some tens of megabytes each, at every
    /// start, so side by side and beside whatever the caller does till it loads them.
    pub(crate) fn check<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        names: &[&'scope str],
        pins: &'scope Pins,
    ) -> Checking<'scope> {
        let start = |&name: &&'scope str| {
            let path = self.candidates(name, pins).into_iter().find(|path| path.is_file());
            let is_pinned = path
                .clone()
                .zip(pins.sum(name))
                .map(|(path, sum)| scope.spawn(move || sha256_of(&path).is_ok_and(|found| found == sum)));
            Candidate { name, path, is_pinned }
        };
        Checking { search: self, pins, candidates: names.iter().map(start).collect() }
    }

    /// `INSTALL` from the network, then `LOAD`.
    fn install(&self, connection: &Connection, name: &str, pins: &Pins) -> Result<(), EngineError> {
        debug_assert!(is_identifier(name), "names come from the pins");
        connection.execute(&format!("INSTALL {name}; LOAD {name}")).map_err(|error| EngineError::ExtensionMissing {
            name: name.to_owned(),
            version: pins.version.to_owned(),
            platform: pins.platform.to_owned(),
            looked_in: self.candidates(name, pins),
            install: error.cleaned().lines().next().unwrap_or_default().to_owned(),
        })
    }
}

/// Extensions whose files are being compared with their pins.
pub(crate) struct Checking<'scope> {
    search: &'scope ExtensionSearch,
    pins: &'scope Pins,
    candidates: Vec<Candidate<'scope>>,
}

/// The file of an extension, if there is one, and whether it will turn out to be the pinned one.
struct Candidate<'scope> {
    name: &'scope str,
    path: Option<PathBuf>,
    is_pinned: Option<ScopedJoinHandle<'scope, bool>>,
}

impl Checking<'_> {
    /// As [`ExtensionSearch::load`].
    pub(crate) fn load(self, connection: &Connection) -> Result<(), EngineError> {
        let mut rest = Vec::new();
        for Candidate { name, path, is_pinned } in self.candidates {
            let is_pinned = is_pinned.is_some_and(|check| check.join().unwrap_or(false));
            match path {
                Some(path) if is_pinned => load_file(connection, &path)?,
                other => rest.push((name, other)),
            }
        }
        connection.execute("SET allow_unsigned_extensions = false")?;
        for (name, path) in rest {
            match path {
                Some(path) => load_file(connection, &path)?,
                None => self.search.install(connection, name, self.pins)?,
            }
        }
        Ok(())
    }
}

fn load_file(connection: &Connection, path: &Path) -> Result<(), EngineError> {
    connection
        .execute(&format!("LOAD {}", literal(&path.display().to_string())))
        .map_err(|error| EngineError::ExtensionRefused { path: path.to_owned(), message: error.cleaned() })
}

fn sha256_of(path: &Path) -> std::io::Result<String> {
    let mut file = File::open(path)?;
    let mut hash = Sha256::new();
    // Of a size that stays in the processor's cache.
    let mut buffer = vec![0; 128 << 10];
    loop {
        let read = file.read(&mut buffer)?;
        if read == 0 {
            return Ok(hex(&hash.finalize()));
        }
        hash.update(&buffer[..read]);
    }
}

/// The pinned extensions that configuration SQL will need, in the order in which they must be loaded.
/// Only what is needed is loaded: each costs start-up time.
pub fn needed_extensions(config_sql: &[&str]) -> Vec<&'static str> {
    let words: Vec<String> = config_sql.iter().flat_map(|sql| code_words(sql)).collect();
    let starts = |prefix: &str| words.iter().any(|word| word.starts_with(prefix));
    let named = |name: &str| words.iter().any(|word| word == name);
    let mut needed = Vec::new();
    let mut need = |name, wanted: bool| {
        if wanted {
            needed.push(name);
        }
    };
    // The ready library holds it, an engine compiled into the binary does not; any query may need a time zone.
    need("icu", cfg!(feature = "bundled"));
    need("ducklake", starts("ducklake:") || named("ducklake"));
    need("sqlite_scanner", starts("ducklake:sqlite:") || named("sqlite") || named("sqlite_scanner"));
    need("postgres_scanner", starts("ducklake:postgres:") || named("postgres") || named("postgres_scanner"));
    need("httpfs", named("httpfs") || named("s3") || ["s3:", "http:", "https:"].into_iter().any(starts));
    need("quack", starts("quack:") || named("quack"));
    needed
}

#[cfg(test)]
mod tests {
    use super::{Pins, needed_extensions};

    #[test]
    fn the_pins_name_version_platform_and_every_extension() {
        let pins = Pins::read();
        assert!(pins.version.starts_with('v') && !pins.platform.is_empty());
        for name in ["ducklake", "sqlite_scanner", "httpfs", "postgres_scanner", "quack"] {
            assert_eq!(pins.sum(name).map(str::len), Some(64), "{name}");
        }
        assert_eq!(pins.check_library(), Ok(()));
    }

    #[test]
    fn only_what_the_configuration_needs_is_loaded() {
        assert_eq!(needed_extensions(&["ATTACH 'ducklake:sqlite:a.sqlite' AS lake"]), ["ducklake", "sqlite_scanner"]);
        assert_eq!(needed_extensions(&["ATTACH 'ducklake:a.ducklake' AS lake -- ducklake:sqlite:x"]), ["ducklake"]);
        assert_eq!(needed_extensions(&["ATTACH 'x' (TYPE postgres)", "LOAD httpfs"]), ["postgres_scanner", "httpfs"]);
        assert!(needed_extensions(&["SET memory_limit = '1GB'"]).is_empty());
    }
}
