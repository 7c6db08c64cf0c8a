//! One run a project at a time.
//!
//! The lock is the kernel's, on the open `config` folder: it leaves no file behind and is gone with the
//! process that held it, however that ended.

use std::fs::{File, TryLockError};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, Instant};

use project::ProjectError;

use crate::{Cancellation, RunError};

/// Pause between two attempts to take the lock.
const RETRY_PAUSE: Duration = Duration::from_millis(50);

/// Held while a run writes to the lake.
pub struct ProjectLock {
    _folder: File,
}

impl ProjectLock {
    /// Takes the lock, waiting for at most `wait`.
    pub fn take(root: &Path, wait: Duration, cancellation: &Cancellation) -> Result<Self, RunError> {
        let started = Instant::now();
        let failed = |error: &std::io::Error| ProjectError::File {
            action: "lock",
            path: "config".into(),
            cause: error.to_string(),
        };
        let folder = File::open(root.join("config")).map_err(|error| failed(&error))?;
        loop {
            match folder.try_lock() {
                Ok(()) => return Ok(Self { _folder: folder }),
                Err(TryLockError::Error(error)) => return Err(failed(&error).into()),
                Err(TryLockError::WouldBlock) => {}
            }
            cancellation.check()?;
            if started.elapsed() >= wait {
                return Err(RunError::Busy { holder: holder(&folder), waited_s: started.elapsed().as_secs() });
            }
            std::thread::sleep(RETRY_PAUSE.min(wait));
        }
    }
}

/// The process that holds the lock, from the kernel's list of locks.
fn holder(folder: &File) -> Option<u32> {
    let inode = format!(":{}", folder.metadata().ok()?.ino());
    let locks = std::fs::read_to_string("/proc/locks").ok()?;
    // 1: FLOCK  ADVISORY  WRITE 4711 fe:01:123456 0 EOF
    let fields = locks.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let holds =
        |fields: &Vec<&str>| fields.get(1) == Some(&"FLOCK") && fields.get(5).is_some_and(|id| id.ends_with(&inode));
    fields.filter(holds).find_map(|fields| fields.get(4)?.parse().ok())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::ProjectLock;
    use crate::{Cancellation, RunError};

    #[test]
    fn the_second_holder_waits_and_learns_who_the_first_is() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("config")).unwrap();
        let cancellation = Cancellation::default();
        let first = ProjectLock::take(dir.path(), Duration::ZERO, &cancellation).unwrap();
        let error = ProjectLock::take(dir.path(), Duration::ZERO, &cancellation).err().expect("busy");
        assert!(matches!(error, RunError::Busy { holder, .. } if holder == Some(std::process::id())), "{error}");
        drop(first);
        assert!(ProjectLock::take(dir.path(), Duration::ZERO, &cancellation).is_ok());
    }
}
