//! Unpacks a body while it is read, and stops at the bound.

use flate2::read::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use std::cell::Cell;
use std::io::{self, Cursor, Read};
use std::rc::Rc;

/// Why there is no body.
#[derive(Debug)]
pub(crate) enum BodyError {
    /// It is larger than the bound.
    TooLarge,
    /// Nobody waits for it anymore.
    Abandoned,
    /// The connection is broken.
    Broken(io::Error),
    /// All of it is there, but not packed as it says.
    Packing,
}

/// More layers than anyone packs.
const DEEPEST: usize = 4;

/// Whether all of a `Content-Encoding` can be unpacked.
pub(crate) fn is_known(encoding: &str) -> bool {
    let names: Vec<_> = layers(encoding).collect();
    names.len() <= DEEPEST && names.iter().all(|name| ["gzip", "x-gzip", "deflate"].contains(&name.as_str()))
}

/// Reads a body that is packed as `encoding` says, which is known. It gives an error as soon as more than `limit`
/// bytes came out.
pub(crate) fn read(
    body: impl Read + 'static,
    encoding: &str,
    limit: u64,
    is_abandoned: impl Fn() -> bool,
) -> Result<Vec<u8>, BodyError> {
    let has_ended = Rc::new(Cell::new(false));
    let mut reader: Box<dyn Read> = Box::new(Received { body, has_ended: Rc::clone(&has_ended) });
    let failed = |error| if has_ended.get() { BodyError::Broken(error) } else { BodyError::Packing };
    // The last layer was put on last.
    for name in layers(encoding).collect::<Vec<_>>().into_iter().rev() {
        reader = unpacked(reader, &name).map_err(failed)?;
    }
    let mut bytes = Vec::new();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        if is_abandoned() {
            return Err(BodyError::Abandoned);
        }
        match reader.read(&mut buffer) {
            Ok(0) => return Ok(bytes),
            Ok(read) => bytes.extend_from_slice(&buffer[..read]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(failed(error)),
        }
        if bytes.len() as u64 > limit {
            return Err(BodyError::TooLarge);
        }
    }
}

/// A body as it comes, and whether it ended before its time: what unpacks it does not tell that from bad packing.
struct Received<R> {
    body: R,
    has_ended: Rc<Cell<bool>>,
}

impl<R: Read> Read for Received<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.body.read(buffer);
        let is_over = read.as_ref().is_err_and(|error| error.kind() != io::ErrorKind::Interrupted);
        self.has_ended.set(self.has_ended.get() || is_over);
        read
    }
}

fn layers(encoding: &str) -> impl Iterator<Item = String> {
    let names = encoding.split(',').map(|name| name.trim().to_ascii_lowercase());
    names.filter(|name| !name.is_empty() && name != "identity")
}

fn unpacked(mut packed: Box<dyn Read>, name: &str) -> io::Result<Box<dyn Read>> {
    let mut start = Vec::new();
    packed.by_ref().take(2).read_to_end(&mut start)?;
    let is_empty = start.is_empty();
    let is_zlib = matches!(start[..], [first, second] if is_zlib(first, second));
    let whole = Cursor::new(start).chain(packed);
    Ok(match name {
        // Answers without a body say how it would have been packed.
        _ if is_empty => Box::new(io::empty()),
        "deflate" if is_zlib => Box::new(ZlibDecoder::new(whole)),
        // Some servers leave the frame out, against RFC 9110 §8.4.1.2.
        "deflate" => Box::new(DeflateDecoder::new(whole)),
        _ => Box::new(MultiGzDecoder::new(whole)),
    })
}

/// Whether two bytes begin a zlib frame (RFC 1950 §2.2).
fn is_zlib(first: u8, second: u8) -> bool {
    first & 0x0f == 8 && (u16::from(first) << 8 | u16::from(second)) % 31 == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
    use std::io::Write;

    fn packed(name: &str, bytes: &[u8]) -> Vec<u8> {
        let level = Compression::fast();
        match name {
            "gzip" => {
                let mut writer = GzEncoder::new(Vec::new(), level);
                writer.write_all(bytes).unwrap();
                writer.finish().unwrap()
            }
            "zlib" => {
                let mut writer = ZlibEncoder::new(Vec::new(), level);
                writer.write_all(bytes).unwrap();
                writer.finish().unwrap()
            }
            _ => {
                let mut writer = DeflateEncoder::new(Vec::new(), level);
                writer.write_all(bytes).unwrap();
                writer.finish().unwrap()
            }
        }
    }

    fn all(body: Vec<u8>, encoding: &str, limit: u64) -> Result<Vec<u8>, BodyError> {
        read(Cursor::new(body), encoding, limit, || false)
    }

    #[test]
    fn every_packing_is_undone() {
        let text = b"hello hello hello".to_vec();
        let twice = packed("gzip", &packed("zlib", &text));
        let members = [packed("gzip", b"hello hello "), packed("gzip", b"hello")].concat();
        for (body, encoding) in [
            (text.clone(), ""),
            (text.clone(), "identity"),
            (packed("gzip", &text), "gzip"),
            (packed("gzip", &text), "X-GZip"),
            (packed("zlib", &text), "deflate"),
            (packed("raw", &text), "deflate"),
            (twice, "deflate, gzip"),
            (members, "gzip"),
        ] {
            assert!(is_known(encoding));
            assert_eq!(all(body, encoding, 100).unwrap(), text, "{encoding}");
        }
        assert_eq!(all(Vec::new(), "gzip", 1).unwrap(), b"");
        for encoding in ["br", "gzip, zstd", "gzip,gzip,gzip,gzip,gzip"] {
            assert!(!is_known(encoding), "{encoding}");
        }
    }

    #[test]
    fn a_bomb_is_not_unpacked() {
        let mut bomb = packed("gzip", &vec![0; 64 << 20]);
        for layer in 0..2 {
            let encoding = ["gzip", "gzip, gzip"][layer];
            assert!(matches!(all(bomb.clone(), encoding, 1000), Err(BodyError::TooLarge)), "{encoding}");
            bomb = packed("gzip", &bomb);
        }
        assert!(matches!(read(io::repeat(1), "", 1 << 20, || false), Err(BodyError::TooLarge)));
    }

    #[test]
    fn the_bound_itself_is_allowed() {
        assert_eq!(all(vec![1; 10], "", 10).unwrap().len(), 10);
        assert!(matches!(all(vec![1; 11], "", 10), Err(BodyError::TooLarge)));
    }

    #[test]
    fn broken_packings_are_errors() {
        let mut cut = packed("gzip", &[7; 1000]);
        cut.truncate(cut.len() - 5);
        let mut flipped = packed("gzip", b"hello");
        let middle = flipped.len() - 6;
        flipped[middle] ^= 1;
        let followed = [packed("gzip", b"hello"), b"junk".to_vec()].concat();
        for body in [cut, flipped, followed, b"not packed".to_vec(), vec![0x1f]] {
            assert!(matches!(all(body.clone(), "gzip", 10_000), Err(BodyError::Packing)), "{body:?}");
        }
    }

    #[test]
    fn a_connection_that_ends_is_not_taken_for_broken_packing() {
        struct Ends;
        impl Read for Ends {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::ErrorKind::UnexpectedEof.into())
            }
        }
        let half = packed("gzip", &[7; 1000]);
        let body = Cursor::new(half[..half.len() / 2].to_vec()).chain(Ends);
        assert!(matches!(read(body, "gzip", 10_000, || false), Err(BodyError::Broken(_))));
    }

    #[test]
    fn an_abandoned_body_is_not_read_on() {
        assert!(matches!(read(io::repeat(1), "", u64::MAX, || true), Err(BodyError::Abandoned)));
    }
}
