//! Bytes as the text that DuckDB casts to a BLOB, and a BLOB to: others than plain ASCII as `\xFF`.

use std::fmt::Write as _;

pub(crate) fn write(bytes: &[u8], out: &mut String) {
    for &byte in bytes {
        match byte {
            b' '..=b'~' if !matches!(byte, b'\\' | b'\'' | b'"') => out.push(char::from(byte)),
            _ => drop(write!(out, "\\x{byte:02X}")),
        }
    }
}
