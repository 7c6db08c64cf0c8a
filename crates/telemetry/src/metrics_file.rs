//! The file that metrics are written to: replaced as a whole, so that a collector never reads half of it.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A file that can be written.
#[derive(Debug)]
pub struct MetricsFile {
    path: PathBuf,
    /// Where it is written first, in the same folder.
    draft: PathBuf,
}

/// A file of metrics cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("write the metrics to {}: {cause}", path.display())]
pub struct MetricsFileError {
    /// The file.
    path: PathBuf,
    cause: String,
}

impl types::Diagnose for MetricsFileError {
    fn code(&self) -> types::Code {
        types::Code::MetricsFile
    }

    fn help(&self) -> String {
        "name a file in a folder that is there and can be written, like /var/lib/node_exporter/ondatrasql.prom".into()
    }
}

impl MetricsFile {
    /// Tries out whether the file can be written, without touching one that is there.
    pub fn prepare(path: &Path) -> Result<Self, MetricsFileError> {
        let failed = |cause: String| MetricsFileError { path: path.to_owned(), cause };
        // A link is followed: it is its file that is replaced, not the link.
        let file = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        match fs::metadata(&file) {
            Ok(found) if found.is_dir() => return Err(failed("it is a folder".into())),
            // A device would be replaced by a file.
            Ok(found) if !found.is_file() => return Err(failed("it is no regular file".into())),
            _ => {}
        }
        let Some(name) = file.file_name() else { return Err(failed("it names no file".into())) };
        // Collectors read what ends in `.prom`.
        let draft = file.with_file_name(format!(".{}.{}.tmp", name.to_string_lossy(), std::process::id()));
        let tried = File::create(&draft).and_then(|_| fs::remove_file(&draft));
        tried.map_err(|error| failed(error.to_string()))?;
        Ok(Self { path: file, draft })
    }

    /// Puts a new content in the place of the file.
    pub fn write(&self, text: &str) -> Result<(), MetricsFileError> {
        let written = write_whole(&self.draft, text).and_then(|()| fs::rename(&self.draft, &self.path));
        written.map_err(|error| {
            // It may not be there.
            let _ = fs::remove_file(&self.draft);
            MetricsFileError { path: self.path.clone(), cause: error.to_string() }
        })
    }
}

fn write_whole(path: &Path, text: &str) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::MetricsFile;

    fn names(folder: &Path) -> Vec<String> {
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn a_file_is_replaced_as_a_whole_and_nothing_else_stays() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.prom");
        let file = MetricsFile::prepare(&path).unwrap();
        assert!(names(dir.path()).is_empty(), "to try it out leaves nothing");
        file.write("one\n").unwrap();
        let reader = fs::File::open(&path).unwrap();
        file.write("two\n").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "two\n");
        assert_eq!(std::io::read_to_string(reader).unwrap(), "one\n", "who reads it goes on with the old one");
        assert_eq!(names(dir.path()), ["a.prom"]);
    }

    #[test]
    fn a_link_stays_and_its_file_is_written() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("there")).unwrap();
        fs::write(dir.path().join("there/a.prom"), "").unwrap();
        let link = dir.path().join("a.prom");
        std::os::unix::fs::symlink("there/a.prom", &link).unwrap();
        MetricsFile::prepare(&link).unwrap().write("x").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(dir.path().join("there/a.prom")).unwrap(), "x");
    }

    #[test]
    fn what_cannot_be_written_is_known_before() {
        let dir = tempfile::tempdir().unwrap();
        for (path, cause) in [
            (dir.path().join("none/a.prom"), "No such file"),
            (dir.path().to_owned(), "it is a folder"),
            (Path::new("/dev/null").to_owned(), "no regular file"),
            (Path::new("..").to_owned(), "it is a folder"),
        ] {
            let error = MetricsFile::prepare(&path).unwrap_err().to_string();
            assert!(error.contains(cause), "{error}");
        }
    }
}
