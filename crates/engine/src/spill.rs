//! The folder for what the engine spills to disk: private, and removed also after a crash.
//!
//! A lock of the kernel's on the folder is the sign of life: it is gone with its process, in whatever
//! container that ran.

use std::fs::{self, DirBuilder, File};
use std::io::ErrorKind;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use crate::EngineError;

const PREFIX: &str = "ondatrasql-spill-";

/// A folder of this process's own.
pub struct SpillFolder {
    path: PathBuf,
    _lock: File,
}

impl SpillFolder {
    /// Makes the folder below `temp_root`, after removing those whose processes are gone.
    pub fn new(temp_root: &Path) -> Result<Self, EngineError> {
        remove_leftovers(temp_root);
        let failed = |cause: String| EngineError::SpillFolder { path: temp_root.to_owned(), cause };
        loop {
            let mut random = [0; 8];
            getrandom::fill(&mut random).map_err(|error| failed(error.to_string()))?;
            let path = temp_root.join(format!("{PREFIX}{}", types::hex(&random)));
            // Only for this user: models' rows may come to lie in it.
            DirBuilder::new().mode(0o700).create(&path).map_err(|error| failed(error.to_string()))?;
            match lock(&path) {
                Ok(lock) => return Ok(Self { path, _lock: lock }),
                // Another process took it for a leftover before it was locked.
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(failed(error.to_string())),
            }
        }
    }

    /// Folders of processes that are gone, of this user and of others.
    pub fn leftovers(temp_root: &Path) -> Vec<PathBuf> {
        leftovers(temp_root).map(|(path, _)| path).collect()
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for SpillFolder {
    fn drop(&mut self) {
        // What stays is removed at the next start.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Locks a folder that was just made. Who removes leftovers holds this lock meanwhile, so a folder that is there
/// once it is locked stays.
fn lock(path: &Path) -> std::io::Result<File> {
    let folder = File::open(path)?;
    folder.lock()?;
    fs::metadata(path)?;
    Ok(folder)
}

fn remove_leftovers(temp_root: &Path) {
    for (path, _lock) in leftovers(temp_root) {
        // Somebody else may be removing it too, or it belongs to another user.
        let _ = fs::remove_dir_all(path);
    }
}

/// Folders of processes that are gone, each with its lock.
fn leftovers(temp_root: &Path) -> impl Iterator<Item = (PathBuf, File)> {
    let entries = fs::read_dir(temp_root).into_iter().flatten().flatten();
    let ours = entries.filter(|entry| entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX)));
    ours.filter_map(|entry| {
        let folder = File::open(entry.path()).ok()?;
        folder.try_lock().is_ok().then(|| (entry.path(), folder))
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::{PREFIX, SpillFolder};

    #[test]
    fn leftovers_go_and_living_folders_stay() {
        let root = tempfile::tempdir().unwrap();
        let dead = root.path().join(format!("{PREFIX}dead"));
        std::fs::create_dir(&dead).unwrap();
        std::fs::write(dead.join("rows"), "x").unwrap();
        let first = SpillFolder::new(root.path()).unwrap();
        let second = SpillFolder::new(root.path()).unwrap();
        assert!(!dead.exists() && first.path().is_dir() && second.path().is_dir());
        assert_eq!(std::fs::metadata(first.path()).unwrap().permissions().mode() & 0o777, 0o700);
        drop((first, second));
        assert_eq!(std::fs::read_dir(root.path()).unwrap().count(), 0);
    }

    #[test]
    fn many_that_start_at_once_do_not_take_each_other_for_leftovers() {
        let root = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            let starting: Vec<_> = (0..8)
                .map(|_| {
                    scope.spawn(|| {
                        for _ in 0..200 {
                            let folder = SpillFolder::new(root.path()).unwrap();
                            assert!(folder.path().is_dir());
                        }
                    })
                })
                .collect();
            for thread in starting {
                thread.join().unwrap();
            }
        });
    }
}
