//! A request's body, ready to be sent as often as needed. Files are read while they are sent.

use crate::{Body, HttpError};
use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A body of known length.
#[derive(Debug, Clone, Default)]
pub(crate) struct Payload {
    before: Arc<[u8]>,
    file: Option<(PathBuf, u64)>,
    after: Arc<[u8]>,
    /// What it is; nothing if there is no body.
    pub content_type: Option<ContentType>,
}

/// A content type.
#[derive(Debug, Clone)]
pub(crate) enum ContentType {
    /// Sent unless a header of the request says another.
    Default(String),
    /// Sent whatever the headers say: it names the boundary of the body's parts.
    Fixed(String),
}

impl Payload {
    /// Looks at the file of an upload for its length.
    pub(crate) fn of(body: &Body) -> Result<Self, HttpError> {
        match body {
            Body::None => Ok(Self::default()),
            Body::Bytes(bytes, content_type) => Ok(Self {
                before: Arc::clone(bytes),
                content_type: Some(ContentType::Default(content_type.clone())),
                ..Self::default()
            }),
            Body::Multipart { fields, file, field, filename } => {
                let length = length(file).map_err(|source| HttpError::File { path: file.clone(), source })?;
                let boundary = boundary();
                let mut before = String::new();
                for (name, value) in fields {
                    before.push_str(&format!("--{boundary}\r\n{}\r\n\r\n{value}\r\n", disposition(name)));
                }
                before.push_str(&format!(
                    "--{boundary}\r\n{}; filename=\"{}\"\r\nContent-Type: application/octet-stream\r\n\r\n",
                    disposition(field),
                    escaped(filename)
                ));
                Ok(Self {
                    before: before.into_bytes().into(),
                    file: Some((file.clone(), length)),
                    after: format!("\r\n--{boundary}--\r\n").into_bytes().into(),
                    content_type: Some(ContentType::Fixed(format!("multipart/form-data; boundary={boundary}"))),
                })
            }
        }
    }

    pub(crate) fn is_none(&self) -> bool {
        self.content_type.is_none()
    }

    /// In bytes.
    pub(crate) fn length(&self) -> u64 {
        let file = self.file.as_ref().map_or(0, |(_, length)| *length);
        self.before.len() as u64 + file + self.after.len() as u64
    }

    /// All of it, from the beginning.
    ///
    /// # Errors
    /// The file cannot be opened. Reading fails if it became shorter; what was added to it is left out.
    pub(crate) fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        let before = Cursor::new(Arc::clone(&self.before));
        let Some((path, length)) = &self.file else { return Ok(Box::new(before)) };
        let file = Exactly { file: File::open(path)?, left: *length };
        Ok(Box::new(before.chain(file).chain(Cursor::new(Arc::clone(&self.after)))))
    }

    /// The file that [`Self::open`] opens.
    pub(crate) fn path(&self) -> &Path {
        self.file.as_ref().map_or(Path::new(""), |(path, _)| path)
    }
}

/// Gives as many bytes as were promised to the server, or an error.
struct Exactly {
    file: File,
    left: u64,
}

impl Read for Exactly {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = (&mut self.file).take(self.left).read(buffer)?;
        if read == 0 && self.left > 0 && !buffer.is_empty() {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the file became shorter while it was sent"));
        }
        self.left -= read as u64;
        Ok(read)
    }
}

fn length(path: &Path) -> io::Result<u64> {
    let found = File::open(path)?.metadata()?;
    if found.is_file() { Ok(found.len()) } else { Err(io::Error::other("it is not a file")) }
}

fn boundary() -> String {
    format!("ondatra-{}", random_hex())
}

/// 32 random hex digits.
pub(crate) fn random_hex() -> String {
    let mut bytes = [0; 16];
    // Where the system has no randomness, the address of a value and the time are all there is. Neither use is a secret.
    if getrandom::fill(&mut bytes).is_err() {
        use std::hash::{BuildHasher, RandomState};
        let number = RandomState::new().hash_one(std::time::SystemTime::now());
        bytes[..8].copy_from_slice(&number.to_le_bytes());
    }
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn disposition(name: &str) -> String {
    format!("Content-Disposition: form-data; name=\"{}\"", escaped(name))
}

/// As browsers do it (WHATWG HTML §4.10.21.8): nothing can end the quotes or the line.
fn escaped(name: &str) -> String {
    name.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn upload(file: &Path) -> Body {
        Body::Multipart {
            fields: vec![("a".to_owned(), "1".to_owned()), ("q\"\r\n".to_owned(), "ü".to_owned())],
            file: file.to_owned(),
            field: "file".to_owned(),
            filename: "x\".csv".to_owned(),
        }
    }

    fn text(payload: &Payload) -> String {
        let mut text = String::new();
        payload.open().unwrap().read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn an_upload_holds_fields_and_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("x.csv");
        std::fs::write(&file, "1,2").unwrap();
        let payload = Payload::of(&upload(&file)).unwrap();
        let Some(ContentType::Fixed(kind)) = &payload.content_type else { panic!("{payload:?}") };
        let boundary = kind.strip_prefix("multipart/form-data; boundary=").unwrap();
        let expected = format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n\
             --{boundary}\r\nContent-Disposition: form-data; name=\"q%22%0D%0A\"\r\n\r\nü\r\n\
             --{boundary}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"x%22.csv\"\r\n\
             Content-Type: application/octet-stream\r\n\r\n1,2\r\n--{boundary}--\r\n"
        );
        assert_eq!(text(&payload), expected);
        assert_eq!(text(&payload).len() as u64, payload.length());

        std::fs::write(&file, "1,2,3").unwrap();
        assert_eq!(text(&payload), expected);
        std::fs::write(&file, "1").unwrap();
        assert!(payload.open().unwrap().read_to_string(&mut String::new()).is_err());
    }

    #[test]
    fn a_folder_or_nothing_cannot_be_uploaded() {
        let folder = tempfile::tempdir().unwrap();
        for path in [folder.path().to_owned(), folder.path().join("missing")] {
            let message = Payload::of(&upload(&path)).unwrap_err().to_string();
            assert!(message.contains(&path.display().to_string()), "{message}");
        }
    }
}
