//! Copies a catalog that consists of files, as it was at one moment, without opening it (chapter 05 §4.1).
//!
//! The database may be in use. The copy is compared with the files once it is made: what did not change from the one
//! reading to the other was all there at the moment between the two. Such a copy is what a crash at that moment would have
//! left, and from that both engines recover, with the log that lies beside the file.

use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::SandboxError;
use crate::{Cancellation, RunError};

/// Copies made until it is given up, and the first pause between two.
const ATTEMPTS: u32 = 12;
const PAUSE: Duration = Duration::from_millis(10);
/// Bytes that are compared at a time.
const PIECE: usize = 1 << 16;

/// Copies `file` and those of its companions that are there into `folder`, under the same names; gives the copy's path.
///
/// # Errors
/// A file cannot be read or written, it is written all the time, or the user ended it.
pub(super) fn copy(
    file: &Path,
    endings: &[&str],
    folder: &Path,
    cancellation: &Cancellation,
) -> Result<PathBuf, RunError> {
    let pairs: Vec<(PathBuf, PathBuf)> = std::iter::once("")
        .chain(endings.iter().copied())
        .map(|ending| {
            let source = with_ending(file, ending);
            let copy = folder.join(source.file_name().unwrap_or_default());
            (source, copy)
        })
        .collect();
    for attempt in 1..=ATTEMPTS {
        cancellation.check()?;
        if try_copy(&pairs)? {
            return Ok(pairs[0].1.clone());
        }
        std::thread::sleep(PAUSE * attempt);
    }
    Err(SandboxError::Unsteady { path: file.to_owned(), attempts: ATTEMPTS }.into())
}

fn with_ending(file: &Path, ending: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// Whether all copies are of one moment.
fn try_copy(pairs: &[(PathBuf, PathBuf)]) -> Result<bool, SandboxError> {
    let before = marks(pairs)?;
    for (source, copy) in pairs {
        copy_one(source, copy)?;
    }
    for (source, copy) in pairs {
        if !is_same(source, copy)? {
            return Ok(false);
        }
    }
    Ok(before == marks(pairs)?)
}

/// What tells that a file was written: which it is, how long, and when it last was.
type Mark = Option<(u64, u64, i64, i64)>;

fn marks(pairs: &[(PathBuf, PathBuf)]) -> Result<Vec<Mark>, SandboxError> {
    let mark = |(source, _): &(PathBuf, PathBuf)| match fs::metadata(source) {
        Ok(found) => Ok(Some((found.ino(), found.len(), found.mtime(), found.mtime_nsec()))),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(SandboxError::file("read", source, &error)),
    };
    pairs.iter().map(mark).collect()
}

fn copy_one(source: &Path, copy: &Path) -> Result<(), SandboxError> {
    match fs::remove_file(copy) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(SandboxError::file("remove", copy, &error)),
        _ => {}
    }
    match fs::copy(source, copy) {
        Ok(_) => writable(copy),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(SandboxError::file("copy", source, &error)),
    }
}

/// The copy of a file that is read-only is written all the same.
fn writable(copy: &Path) -> Result<(), SandboxError> {
    let failed = |error| SandboxError::file("write", copy, &error);
    let mut permissions = fs::metadata(copy).map_err(failed)?.permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o600);
    fs::set_permissions(copy, permissions).map_err(failed)
}

/// Whether two files hold the same bytes, or neither is there.
fn is_same(source: &Path, copy: &Path) -> Result<bool, SandboxError> {
    let open = |path: &Path| match File::open(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(SandboxError::file("read", path, &error)),
    };
    let (Some(mut left), Some(mut right)) = (open(source)?, open(copy)?) else {
        return Ok(!source.exists() && !copy.exists());
    };
    let (mut ours, mut theirs) = (vec![0; PIECE], vec![0; PIECE]);
    loop {
        let read = fill(&mut left, &mut ours).map_err(|error| SandboxError::file("read", source, &error))?;
        let other = fill(&mut right, &mut theirs).map_err(|error| SandboxError::file("read", copy, &error))?;
        if ours[..read] != theirs[..other] {
            return Ok(false);
        }
        if read == 0 {
            return Ok(true);
        }
    }
}

/// Reads until the piece is full or the file at its end.
fn fill(file: &mut File, piece: &mut [u8]) -> std::io::Result<usize> {
    let mut filled = 0;
    while filled < piece.len() {
        match file.read(&mut piece[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::{Seek, SeekFrom, Write};
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::{copy, is_same};
    use crate::Cancellation;

    #[test]
    fn companions_come_along_and_what_is_left_of_an_attempt_goes() {
        let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let file = from.path().join("a.db");
        fs::write(&file, vec![7; 200_000]).unwrap();
        fs::write(from.path().join("a.db-wal"), "log").unwrap();
        fs::write(from.path().join("a.db-shm"), "shared").unwrap();
        fs::write(to.path().join("a.db-journal"), "of an attempt before").unwrap();
        let made = copy(&file, &["-wal", "-journal"], to.path(), &Cancellation::default()).unwrap();
        assert!(is_same(&file, &made).unwrap());
        let mut names: Vec<_> = fs::read_dir(to.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["a.db", "a.db-wal"]);
        assert!(!is_same(&file, &to.path().join("a.db-wal")).unwrap());
    }

    /// A writer numbers the pages of two files, one after the other, again and again: at any moment the numbers fall by one at
    /// most once, from the first page of the first file to the last of the second.
    #[test]
    fn a_copy_is_of_one_moment_while_another_process_writes() {
        let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let file = from.path().join("a.db");
        let log = from.path().join("a.db-wal");
        let pages = 64 * 1024 / 8;
        let numbered = |number: u64| number.to_le_bytes().repeat(pages);
        fs::write(&file, numbered(0)).unwrap();
        fs::write(&log, numbered(0)).unwrap();
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut files = [&file, &log].map(|path| fs::OpenOptions::new().write(true).open(path).unwrap());
                for number in 1_u64.. {
                    for file in &mut files {
                        file.seek(SeekFrom::Start(0)).unwrap();
                        file.write_all(&numbered(number)).unwrap();
                    }
                    if is_over.load(Ordering::Relaxed) {
                        break;
                    }
                    std::thread::sleep(std::time::Duration::from_millis(5));
                }
            });
            let mut copies = 0;
            for _ in 0..40 {
                // Where the writer is never quiet for long enough it says so, instead of giving a mixed copy.
                let Ok(made) = copy(&file, &["-wal"], to.path(), &Cancellation::default()) else { continue };
                copies += 1;
                let numbers = |path: &std::path::Path| {
                    let bytes = fs::read(path).unwrap();
                    bytes.chunks(8).map(|page| u64::from_le_bytes(page.try_into().unwrap())).collect::<Vec<_>>()
                };
                let pages = [numbers(&made), numbers(&to.path().join("a.db-wal"))].concat();
                assert!(pages.windows(2).all(|pair| pair[0] >= pair[1]), "pages of several moments");
                assert!(pages[0] - pages[pages.len() - 1] <= 1, "pages of several moments");
            }
            is_over.store(true, Ordering::Relaxed);
            assert!(copies > 0, "no copy was ever made");
        });
    }
}
