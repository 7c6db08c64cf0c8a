//! What lib files declare, read through the public door: a project in a folder, and `Registry::read`.

#![allow(clippy::unwrap_used)]

mod api;
mod auth;
mod dialect;
mod discovery;
mod endpoints;
mod literals;
mod load;
mod robust;
mod signatures;
mod top_level;
mod transport;
mod unchecked_status;
mod unknown_keys;

use std::fs;
use std::path::Path;

use lib_functions::{Lib, LibError, Registry};
use tempfile::TempDir;
use types::Diagnose;

/// A project with these files.
pub(crate) fn project<T: AsRef<[u8]>>(files: &[(&str, T)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        write(folder.path(), path, text);
    }
    folder
}

/// Writes a file, with the folders that it lies in.
pub(crate) fn write(root: &Path, path: &str, text: impl AsRef<[u8]>) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// The registry of a project, where DuckDB has `range` and `read_csv`.
pub(crate) fn registry(root: &Path) -> Registry {
    Registry::read(root, |name| ["range", "read_csv"].contains(&name)).unwrap()
}

/// The file `lib/api.star` of this text.
pub(crate) fn read(text: &str) -> Result<Lib, LibError> {
    let folder = project(&[("lib/api.star", text)]);
    let registry = registry(folder.path());
    match registry.broken("api") {
        Some(broken) => Err(broken.error.clone()),
        None => Ok(registry.get("api").unwrap_or_else(|| panic!("no lib: {text}")).clone()),
    }
}

/// The lib of a text that has nothing wrong.
pub(crate) fn good(text: &str) -> Lib {
    read(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Asserts that the message has this part, and that the place is at this line and these words of the text.
#[track_caller]
pub(crate) fn assert_fails(text: &str, message: &str, line: usize, words: &str) {
    let error = read(text).err().unwrap_or_else(|| panic!("accepted: {text}"));
    assert!(error.message.contains(message), "{error}\nexpected: {message}\n{text}");
    assert!(error.message.contains("lib/api.star"), "{error}");
    let place = error.place().unwrap_or_else(|| panic!("no place: {error}"));
    assert_eq!((place.line(), &place.source()[place.span()]), (line, words), "{error}\n{text}");
    assert_eq!((place.file(), &**place.source()), (Path::new("lib/api.star"), text));
    assert!(!error.help().is_empty());
}

/// A file that fetches, with these further keys of `API["fetch"]`.
pub(crate) fn fetching(keys: &str) -> String {
    format!("API = {{\"fetch\": {{{keys}}}}}\ndef fetch(**kwargs):\n    pass\n")
}

/// A file with this for a function that fetches.
pub(crate) fn with_function(function: &str) -> String {
    format!("API = {{\"fetch\": {{}}}}\n{function}\n")
}
