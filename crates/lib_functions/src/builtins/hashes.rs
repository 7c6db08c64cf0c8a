//! Hashes, base64 and random identifiers.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, Mac as _};
use md5::Md5;
use sha2::{Digest, Sha256};
use starlark::environment::GlobalsBuilder;
use starlark::eval::Evaluator;
use starlark::values::Value;
use starlark::values::tuple::UnpackTuple;
use types::hex;

use super::{arguments, failure};
use crate::surroundings::Surroundings;

/// Adds the functions.
#[starlark::starlark_module]
pub(super) fn register(builder: &mut GlobalsBuilder) {
    /// MD5 as lower hex.
    fn md5<'v>(x: Value<'v>, eval: &mut Evaluator<'v, '_, '_>) -> starlark::Result<String> {
        Surroundings::pace(eval)?;
        Ok(hex(&Md5::digest(arguments::text_or_bytes("md5", "x", x)?)))
    }

    /// SHA-256 as lower hex.
    fn sha256<'v>(x: Value<'v>, eval: &mut Evaluator<'v, '_, '_>) -> starlark::Result<String> {
        Surroundings::pace(eval)?;
        Ok(hex(&Sha256::digest(arguments::text_or_bytes("sha256", "x", x)?)))
    }

    /// HMAC with SHA-256 (RFC 2104) as lower hex.
    fn hmac_sha256<'v>(key: Value<'v>, msg: Value<'v>, eval: &mut Evaluator<'v, '_, '_>) -> starlark::Result<String> {
        Surroundings::pace(eval)?;
        let key = arguments::text_or_bytes("hmac_sha256", "key", key)?;
        let message = arguments::text_or_bytes("hmac_sha256", "msg", msg)?;
        let mac = Hmac::<Sha256>::new_from_slice(key).map_err(|error| failure("hmac_sha256", error))?;
        Ok(hex(&mac.chain_update(message).finalize().into_bytes()))
    }

    /// Standard base64 (RFC 4648) with padding.
    fn base64_encode<'v>(x: Value<'v>, eval: &mut Evaluator<'v, '_, '_>) -> starlark::Result<String> {
        Surroundings::pace(eval)?;
        Ok(STANDARD.encode(arguments::text_or_bytes("base64_encode", "x", x)?))
    }

    /// What standard base64 stands for: a string if it is UTF-8, else bytes.
    fn base64_decode<'v>(s: Value<'v>, eval: &mut Evaluator<'v, '_, '_>) -> starlark::Result<Value<'v>> {
        Surroundings::pace(eval)?;
        let heap = eval.heap();
        let text = arguments::text_or_bytes("base64_decode", "s", s)?;
        let decoded = STANDARD.decode(text).map_err(|error| failure("base64_decode", error))?;
        Ok(match String::from_utf8(decoded) {
            Ok(text) => heap.alloc(text),
            Err(error) => heap.alloc(error.into_bytes()),
        })
    }

    /// A random identifier, version 4 of RFC 9562.
    fn uuid<'v>(#[starlark(args)] args: UnpackTuple<Value<'v>>) -> starlark::Result<String> {
        arguments::none("uuid", &args)?;
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(|error| failure("uuid", error))?;
        bytes[6] = bytes[6] & 0x0f | 0x40;
        bytes[8] = bytes[8] & 0x3f | 0x80;
        let digits = hex(&bytes);
        let parts = [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]];
        Ok(parts.join("-"))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::super::testing::{all_equal, all_fail, eval};

    #[test]
    fn hashes_are_those_of_the_standards() {
        all_equal(&[
            ("md5('')", "'d41d8cd98f00b204e9800998ecf8427e'"),
            ("md5('abc') == md5(b'abc')", "True"),
            ("md5('é') == md5(b'\\xc3\\xa9')", "True"),
            ("sha256('abc')", "'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'"),
            ("sha256(b'\\x00\\xff')", "'06eb7d6a69ee19e5fbdf749018d3d2abfa04bcbd1365db312eb86dc7169389b8'"),
            (
                "hmac_sha256('Jefe', 'what do ya want for nothing?')",
                "'5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843'",
            ),
            ("hmac_sha256(b'', b'')", "'b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad'"),
            ("len(hmac_sha256('k' * 1000000, 'm' * 1000000))", "64"),
        ]);
        all_fail(&[
            ("md5(1)", "md5: `x` must be str or bytes, not int"),
            ("sha256(None)", "sha256: `x` must be str or bytes, not NoneType"),
            ("hmac_sha256('k', [1])", "hmac_sha256: `msg` must be str or bytes, not list"),
            ("hmac_sha256('k')", "msg"),
        ]);
    }

    #[test]
    fn base64_goes_both_ways() {
        all_equal(&[
            ("base64_encode('')", "''"),
            ("base64_encode('a')", "'YQ=='"),
            ("base64_encode(b'\\xfb\\xff')", "'+/8='"),
            ("base64_decode('')", "''"),
            ("base64_decode('aMOp')", "'hé'"),
            ("base64_decode('+/8=')", "b'\\xfb\\xff'"),
            ("base64_decode('AAE=')", "'\\x00\\x01'"),
            ("base64_decode(base64_encode('\\U0001f600' * 250000)) == '\\U0001f600' * 250000", "True"),
        ]);
        all_fail(&[
            ("base64_decode('YQ')", "base64_decode: "),
            ("base64_decode('YQ=')", "base64_decode: "),
            ("base64_decode('YQ==\\n')", "base64_decode: "),
            ("base64_decode('YR==')", "base64_decode: "),
            ("base64_decode('-_8=')", "base64_decode: "),
            ("base64_decode('é')", "base64_decode: "),
            ("base64_decode(1)", "base64_decode: `s` must be str or bytes, not int"),
            ("base64_encode(1)", "base64_encode: `x` must be str or bytes, not int"),
        ]);
    }

    #[test]
    fn identifiers_are_random_and_of_version_4() {
        let made: HashSet<String> = (0..100).map(|_| eval("uuid()").unwrap()).collect();
        assert_eq!(made.len(), 100);
        for id in made {
            let id = id.trim_matches('"');
            let lengths: Vec<usize> = id.split('-').map(str::len).collect();
            assert_eq!(lengths, [8, 4, 4, 4, 12], "{id}");
            assert!(id.chars().all(|c| c == '-' || c.is_ascii_digit() || ('a'..='f').contains(&c)), "{id}");
            assert!(id.as_bytes()[14] == b'4' && matches!(id.as_bytes()[19], b'8' | b'9' | b'a' | b'b'), "{id}");
        }
        all_fail(&[("uuid(1)", "uuid: takes no arguments"), ("uuid(a=1)", "call to uuid")]);
    }
}
