//! Files of the project, and of the folders that `ONDATRA_FILE_ROOTS` names; nothing else can be read.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use md5::{Digest, Md5};
use starlark::environment::GlobalsBuilder;
use starlark::eval::Evaluator;
use starlark::values::Value;

use super::failure;
use crate::surroundings::Surroundings;

const ROOTS: &str = "ONDATRA_FILE_ROOTS";
/// Bytes that are read at once.
const CHUNK: usize = 1 << 16;

/// Adds the functions.
pub(super) fn register(builder: &mut GlobalsBuilder) {
    functions(builder);
}

#[starlark::starlark_module]
fn functions(builder: &mut GlobalsBuilder) {
    /// Paths that a pattern stands for, in order.
    fn glob<'v>(p: &str, eval: &mut Evaluator<'v, '_, '_>) -> starlark::Result<Vec<String>> {
        let surroundings = Surroundings::of(eval)?;
        let root = &surroundings.host.options().root;
        let pattern = root.join(p);
        let pattern = pattern.to_str().ok_or_else(|| failure("glob", "the pattern is not UTF-8"))?;
        let options = glob::MatchOptions { require_literal_leading_dot: false, ..glob::MatchOptions::new() };
        let found = glob::glob_with(pattern, options).map_err(|error| failure("glob", error))?;
        let mut paths = Vec::new();
        for path in found.flatten() {
            surroundings.stop.check().map_err(|_| starlark::Error::new_other(crate::explain::Stopped))?;
            if confined("glob", surroundings, &path).is_ok() {
                let shown = if Path::new(p).is_absolute() { &path } else { path.strip_prefix(root).unwrap_or(&path) };
                paths.push(shown.display().to_string());
            }
        }
        paths.sort();
        Ok(paths)
    }

    /// A file's text.
    fn read_text<'v>(p: &str, eval: &mut Evaluator<'v, '_, '_>) -> starlark::Result<String> {
        let bytes = read("read_text", Surroundings::of(eval)?, p)?;
        String::from_utf8(bytes).map_err(|_| failure("read_text", format_args!("{p} is not UTF-8")))
    }

    /// A file's bytes.
    fn read_blob<'v>(p: &str, eval: &mut Evaluator<'v, '_, '_>) -> starlark::Result<Value<'v>> {
        let bytes = read("read_blob", Surroundings::of(eval)?, p)?;
        Ok(eval.heap().alloc(bytes))
    }

    /// MD5 of a file, as lower hex.
    fn md5_file<'v>(p: &str, eval: &mut Evaluator<'v, '_, '_>) -> starlark::Result<String> {
        let surroundings = Surroundings::of(eval)?;
        let failed = |error: std::io::Error| failure("md5_file", format_args!("{p}: {error}"));
        let mut file = File::open(existing("md5_file", surroundings, p)?).map_err(failed)?;
        let (mut sum, mut chunk) = (Md5::new(), vec![0; CHUNK]);
        loop {
            surroundings.stop.check().map_err(|_| starlark::Error::new_other(crate::explain::Stopped))?;
            match file.read(&mut chunk).map_err(failed)? {
                0 => break,
                count => sum.update(&chunk[..count]),
            }
        }
        Ok(types::hex(&sum.finalize()))
    }

    /// Whether there is a file of this name; a folder is none.
    fn file_exists<'v>(p: &str, eval: &mut Evaluator<'v, '_, '_>) -> starlark::Result<bool> {
        let surroundings = Surroundings::of(eval)?;
        let path = surroundings.host.options().root.join(p);
        if fs::symlink_metadata(&path).is_err() {
            return Ok(false);
        }
        Ok(confined("file_exists", surroundings, &path)?.is_file())
    }
}

/// A file of the script's, as it may be read: links followed, inside of the project or of a folder that is allowed.
pub(super) fn existing(function: &str, surroundings: &Surroundings, p: &str) -> starlark::Result<PathBuf> {
    let path = surroundings.host.options().root.join(p);
    if let Err(error) = fs::symlink_metadata(&path) {
        return Err(failure(function, format_args!("{p}: {error}")));
    }
    let found = confined(function, surroundings, &path)?;
    if found.is_file() { Ok(found) } else { Err(failure(function, format_args!("{p} is no file"))) }
}

fn confined(function: &str, surroundings: &Surroundings, path: &Path) -> starlark::Result<PathBuf> {
    let shown = path.display();
    let found = fs::canonicalize(path).map_err(|error| failure(function, format_args!("{shown}: {error}")))?;
    let allowed = surroundings.host.variable(ROOTS).unwrap_or_default();
    let roots = std::iter::once(surroundings.host.options().root.clone())
        .chain(allowed.split(':').filter(|root| !root.is_empty()).map(PathBuf::from));
    let is_inside = roots.filter_map(|root| fs::canonicalize(root).ok()).any(|root| found.starts_with(root));
    if is_inside {
        return Ok(found);
    }
    Err(failure(function, format_args!("{shown} lies outside of the project; {ROOTS} can allow its folder")))
}

/// A file's bytes, bounded like a response.
pub(super) fn read(function: &str, surroundings: &Surroundings, p: &str) -> starlark::Result<Vec<u8>> {
    let path = existing(function, surroundings, p)?;
    let limit = surroundings.max_response_bytes;
    let failed = |error: std::io::Error| failure(function, format_args!("{p}: {error}"));
    let mut bytes = Vec::new();
    File::open(path).and_then(|file| file.take(limit + 1).read_to_end(&mut bytes)).map_err(failed)?;
    if bytes.len() as u64 > limit {
        return Err(failure(function, format_args!("{p} is larger than max_response_bytes ({limit} bytes)")));
    }
    Ok(bytes)
}
