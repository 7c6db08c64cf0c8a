//! Functions that read files: `glob`, `read_text`, `read_blob`, `md5_file`, `file_exists`.

use std::fs::File;
use std::io::Read as _;

use md5::{Digest, Md5};
use starlark::environment::GlobalsBuilder;
use starlark::eval::Evaluator;
use starlark::values::Value;

use super::file_paths::{existing, located};
use super::glob_paths::matching;
use super::{arguments, failure};
use crate::explain::Stopped;
use crate::surroundings::Surroundings;

/// Bytes that are read at once.
const CHUNK: usize = 1 << 16;

/// Adds the functions.
#[starlark::starlark_module]
pub(super) fn register(builder: &mut GlobalsBuilder) {
    /// Paths that a pattern stands for, in order.
    fn glob<'v>(p: Value<'v>, eval: &mut Evaluator<'v, '_, '_>) -> starlark::Result<Vec<String>> {
        matching("glob", Surroundings::of(eval)?, arguments::text("glob", "p", p)?)
    }

    /// A file's text.
    fn read_text<'v>(p: Value<'v>, eval: &mut Evaluator<'v, '_, '_>) -> starlark::Result<String> {
        let p = arguments::text("read_text", "p", p)?;
        let bytes = read("read_text", Surroundings::of(eval)?, p)?;
        String::from_utf8(bytes).map_err(|_| failure("read_text", format_args!("{p} is not UTF-8")))
    }

    /// A file's bytes.
    fn read_blob<'v>(p: Value<'v>, eval: &mut Evaluator<'v, '_, '_>) -> starlark::Result<Value<'v>> {
        let bytes = read("read_blob", Surroundings::of(eval)?, arguments::text("read_blob", "p", p)?)?;
        Ok(eval.heap().alloc(bytes))
    }

    /// MD5 of a file, as lower hex.
    fn md5_file<'v>(p: Value<'v>, eval: &mut Evaluator<'v, '_, '_>) -> starlark::Result<String> {
        md5_of(Surroundings::of(eval)?, arguments::text("md5_file", "p", p)?)
    }

    /// Whether there is a file of this name; a folder is none.
    fn file_exists<'v>(p: Value<'v>, eval: &mut Evaluator<'v, '_, '_>) -> starlark::Result<bool> {
        let p = arguments::text("file_exists", "p", p)?;
        Ok(located("file_exists", Surroundings::of(eval)?, p)?.is_some_and(|path| path.is_file()))
    }
}

/// A file's bytes, bounded like a response.
pub(super) fn read(function: &str, surroundings: &Surroundings, p: &str) -> starlark::Result<Vec<u8>> {
    let path = existing(function, surroundings, p)?;
    let limit = surroundings.max_response_bytes;
    let failed = |error: std::io::Error| failure(function, format_args!("{p}: {error}"));
    let mut bytes = Vec::new();
    File::open(path).and_then(|file| file.take(limit.saturating_add(1)).read_to_end(&mut bytes)).map_err(failed)?;
    if bytes.len() as u64 > limit {
        return Err(failure(function, format_args!("{p} is larger than max_response_bytes ({limit} bytes)")));
    }
    Ok(bytes)
}

/// The sum of a file of any size: it is never held in memory.
fn md5_of(surroundings: &Surroundings, p: &str) -> starlark::Result<String> {
    let failed = |error: std::io::Error| failure("md5_file", format_args!("{p}: {error}"));
    let mut file = File::open(existing("md5_file", surroundings, p)?).map_err(failed)?;
    let (mut sum, mut chunk) = (Md5::new(), vec![0; CHUNK]);
    loop {
        surroundings.stop.check().map_err(|_| Stopped)?;
        match file.read(&mut chunk).map_err(failed)? {
            0 => return Ok(types::hex(&sum.finalize())),
            count => sum.update(&chunk[..count]),
        }
    }
}
