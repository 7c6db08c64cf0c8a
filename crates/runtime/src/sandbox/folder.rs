//! The folder of one sandbox, and what is left of those whose processes are gone (chapter 05 §4.1).
//!
//! `.sandbox/<pid>-<8 hex>/` holds everything that a sandbox writes. Its process holds a lock on it, so that it is known to
//! be alive also where process ids say nothing, as between containers.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use types::hex;

use super::SandboxError;

/// The folder of all sandboxes, below the project's root.
const SANDBOXES: &str = ".sandbox";
/// Names the database that was made for a sandbox.
const RECORD: &str = "database";
/// A folder is left alone for so long: its process may just be making it.
const YOUNG: Duration = Duration::from_mins(1);
/// Attempts at making a folder while another process removes the empty one around it.
const ATTEMPTS: u32 = 10;

/// A sandbox's folder, which goes with it.
pub(super) struct Folder {
    path: PathBuf,
    _lock: File,
}

/// Makes a folder for its owner alone: it holds rows like those of production.
fn private(folder: &Path) -> std::io::Result<()> {
    fs::DirBuilder::new().mode(0o700).create(folder)
}

fn is_there(error: std::io::Error) -> std::io::Result<()> {
    if error.kind() == ErrorKind::AlreadyExists { Ok(()) } else { Err(error) }
}

impl Folder {
    /// Makes one.
    pub fn new(root: &Path) -> Result<Self, SandboxError> {
        let mut random = [0; 4];
        let no_random =
            |error: getrandom::Error| SandboxError::Unknown { message: format!("no random bytes: {error}") };
        getrandom::fill(&mut random).map_err(no_random)?;
        let all = root.join(SANDBOXES);
        let path = all.join(format!("{}-{}", std::process::id(), hex(&random)));
        let failed = |error| SandboxError::file("make", &path, &error);
        let mut attempt = 1;
        while let Err(error) = private(&all).or_else(is_there).and_then(|()| private(&path)) {
            if error.kind() != ErrorKind::NotFound || attempt == ATTEMPTS {
                return Err(failed(error));
            }
            attempt += 1;
        }
        let lock = File::open(&path).map_err(failed)?;
        // Where the file system knows no locks, the process id alone tells.
        let _ = lock.try_lock();
        let folder = Self { path, _lock: lock };
        for inner in [folder.catalog(), folder.data()] {
            private(&inner).map_err(|error| SandboxError::file("make", inner, &error))?;
        }
        Ok(folder)
    }

    /// Where the fork of a catalog in files is.
    pub fn catalog(&self) -> PathBuf {
        self.path.join("catalog")
    }

    /// Where the sandbox's data files are.
    pub fn data(&self) -> PathBuf {
        self.path.join("data")
    }

    /// The database on a server that may be this sandbox's.
    pub fn database(&self) -> String {
        let name = self.path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        format!("{DATABASES}{}", name.replace('-', "_"))
    }

    /// Notes that the database is being made, before it is.
    pub fn record_database(&self) -> Result<(), SandboxError> {
        let path = self.path.join(RECORD);
        fs::write(&path, self.database()).map_err(|error| SandboxError::file("write", path, &error))
    }

    /// Removes it with all that is in it.
    pub fn remove(&self) -> Result<(), SandboxError> {
        remove(&self.path)
    }
}

/// How databases of sandboxes begin.
const DATABASES: &str = "ondatrasql_sandbox_";

fn remove(path: &Path) -> Result<(), SandboxError> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(SandboxError::file("remove", path, &error)),
        _ => {}
    }
    // As long as there are others it is not empty.
    let _ = path.parent().map(fs::remove_dir);
    Ok(())
}

/// What a sandbox left whose process is gone.
pub(super) struct Leftover {
    path: PathBuf,
    /// The database that was made for it.
    pub database: Option<String>,
    _lock: File,
}

impl Leftover {
    /// All that are old enough. What cannot be looked at is not ours to remove.
    pub fn find(root: &Path) -> Vec<Self> {
        let entries = fs::read_dir(root.join(SANDBOXES)).into_iter().flatten().flatten();
        entries.filter_map(|entry| Self::read(&entry.path())).collect()
    }

    fn read(path: &Path) -> Option<Self> {
        let pid = process_of(path.file_name()?.to_str()?)?;
        let found = fs::symlink_metadata(path).ok().filter(fs::Metadata::is_dir)?;
        let process = |pid: &str| fs::metadata(format!("/proc/{pid}")).ok();
        // Of another user's processes nothing may be known.
        let is_ours = process("self").is_some_and(|own| own.uid() == found.uid() || own.uid() == 0);
        let is_old = SystemTime::now().duration_since(found.modified().ok()?).is_ok_and(|age| age > YOUNG);
        if !is_ours || !is_old || process(pid).is_some() {
            return None;
        }
        let lock = File::open(path).ok()?;
        if matches!(lock.try_lock(), Err(fs::TryLockError::WouldBlock)) {
            return None;
        }
        let database = fs::read_to_string(path.join(RECORD)).ok().filter(|name| is_database(name));
        Some(Self { path: path.to_owned(), database, _lock: lock })
    }

    /// Removes the folder; its database has to be gone.
    pub fn remove(&self) -> Result<(), SandboxError> {
        remove(&self.path)
    }
}

/// How many sandboxes have left something whose processes are gone.
pub fn sandbox_leftovers(root: &Path) -> usize {
    Leftover::find(root).len()
}

/// The process that a folder's name tells; `None` if it is no sandbox's name.
fn process_of(name: &str) -> Option<&str> {
    let (pid, random) = name.split_once('-')?;
    let is_pid = !pid.is_empty() && pid.bytes().all(|byte| byte.is_ascii_digit());
    let is_random = random.len() == 8 && random.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    (is_pid && is_random).then_some(pid)
}

/// Whether a database may be a sandbox's: nothing else is dropped, whatever a record says.
fn is_database(name: &str) -> bool {
    name.strip_prefix(DATABASES).is_some_and(|rest| process_of(&rest.replacen('_', "-", 1)).is_some())
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::time::{Duration, SystemTime};

    use super::{Folder, Leftover, is_database, process_of};

    #[test]
    fn only_names_of_sandboxes_are_taken_for_such() {
        for (name, pid) in [("12-0123abcd", Some("12")), ("12-0123ABCD", None), ("-0123abcd", None), ("12", None)] {
            assert_eq!(process_of(name), pid, "{name}");
        }
        assert!(is_database("ondatrasql_sandbox_12_0123abcd"));
        for name in ["ondatrasql_sandbox_", "lake", "ondatrasql_sandbox_12_0123abcd\"; DROP", "x_12_0123abcd"] {
            assert!(!is_database(name), "{name}");
        }
    }

    #[test]
    fn what_is_alive_young_or_foreign_stays() {
        let root = tempfile::tempdir().unwrap();
        let alive = Folder::new(root.path()).unwrap();
        let all = root.path().join(".sandbox");
        let minutes_ago = SystemTime::now() - Duration::from_secs(90);
        let age = |name: &str| {
            fs::create_dir_all(all.join(name)).unwrap();
            File::open(all.join(name)).unwrap().set_modified(minutes_ago).unwrap();
        };
        // No process has such a number.
        age("4194399-00000001");
        age("notes");
        fs::create_dir(all.join("4194399-00000002")).unwrap();
        let own = all.join(format!("{}-00000003", std::process::id()));
        age(own.file_name().unwrap().to_str().unwrap());
        age("4194399-00000004");
        let locked = File::open(all.join("4194399-00000004")).unwrap();
        locked.lock().unwrap();
        std::os::unix::fs::symlink(root.path(), all.join("4194399-00000005")).unwrap();
        let found = Leftover::find(root.path());
        let names: Vec<_> = found.iter().map(|left| left.path.file_name().unwrap().to_owned()).collect();
        assert_eq!(names, ["4194399-00000001"]);
        found[0].remove().unwrap();
        assert!(!all.join("4194399-00000001").exists() && alive.data().is_dir());
        alive.remove().unwrap();
        assert!(all.join("notes").is_dir(), "not ours");
    }
}
