//! Variables that stand for a file: `NAME=file:PATH` has the file's content as its value, for secrets that are mounted.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::OnceLock;

/// What such a value begins with. `file://…` is a URL and stands for itself.
const PREFIX: &str = "file:";
/// No secret is larger.
const BYTES_MAX: u64 = 1 << 20;

/// The value of a variable.
#[derive(Clone)]
pub(crate) enum Value {
    Text(String),
    /// A file's content, read when somebody asks for it: the process has variables that are nobody's business.
    File {
        path: String,
        content: OnceLock<Result<String, String>>,
    },
}

impl Value {
    pub(crate) fn of(text: String) -> Self {
        match text.strip_prefix(PREFIX).filter(|path| !path.starts_with("//")) {
            Some(path) => Self::File { path: path.trim().to_owned(), content: OnceLock::new() },
            None => Self::Text(text),
        }
    }

    /// The value. Paths begin at `root`.
    ///
    /// # Errors
    /// The file, and why it cannot be read.
    pub(crate) fn get(&self, root: &Path) -> Result<&str, (&str, &str)> {
        match self {
            Self::Text(text) => Ok(text),
            Self::File { path, content } => match content.get_or_init(|| read(&root.join(path))) {
                Ok(content) => Ok(content),
                Err(cause) => Err((path, cause)),
            },
        }
    }
}

/// The content, without the line break at its end.
fn read(path: &Path) -> Result<String, String> {
    // Looked at before it is opened: a pipe would be waited for.
    if !std::fs::metadata(path).map_err(|error| error.to_string())?.is_file() {
        return Err("it is not a regular file".to_owned());
    }
    let file = File::open(path).map_err(|error| error.to_string())?;
    let mut content = String::new();
    let read = file.take(BYTES_MAX + 1).read_to_string(&mut content).map_err(|error| error.to_string())?;
    if read as u64 > BYTES_MAX {
        return Err(format!("it is larger than {BYTES_MAX} bytes"));
    }
    let length = content.strip_suffix('\n').map_or(content.len(), |cut| cut.strip_suffix('\r').unwrap_or(cut).len());
    content.truncate(length);
    // Editors of one system put it in front; it is no part of the text.
    Ok(content.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(content))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::Value;

    #[test]
    fn a_file_stands_for_its_content_without_the_last_line_break() {
        let dir = tempfile::tempdir().unwrap();
        for (content, value) in [
            ("s3cret\n", "s3cret"),
            ("a\r\n", "a"),
            ("a\nb\n\n", "a\nb\n"),
            (" x ", " x "),
            ("", ""),
            ("\u{feff}x", "x"),
        ] {
            fs::write(dir.path().join("secret"), content).unwrap();
            assert_eq!(Value::of("file:secret".into()).get(dir.path()), Ok(value), "{content:?}");
            let absolute = format!("file: {}", dir.path().join("secret").display());
            assert_eq!(Value::of(absolute).get(dir.path()), Ok(value));
        }
    }

    #[test]
    fn other_values_stand_for_themselves() {
        let dir = tempfile::tempdir().unwrap();
        for text in ["", "x", "file", "file:///etc/passwd", "File:x", " file:x", "xfile:y"] {
            assert_eq!(Value::of(text.into()).get(dir.path()), Ok(text));
        }
    }

    #[test]
    fn what_cannot_be_read_is_told_with_its_path() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("large"), "x".repeat((1 << 20) + 1)).unwrap();
        fs::write(dir.path().join("binary"), [0xff, 0xfe]).unwrap();
        for (path, told) in [
            ("none", "No such file"),
            ("", "it is not a regular file"),
            ("large", "it is larger than 1048576 bytes"),
            ("binary", "stream did not contain valid UTF-8"),
        ] {
            let value = Value::of(format!("file:{path}"));
            let (shown, cause) = value.get(dir.path()).unwrap_err();
            assert!(shown == path && cause.starts_with(told), "{path}: {cause}");
        }
    }
}
