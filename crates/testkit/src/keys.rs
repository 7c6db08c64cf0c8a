//! Keys of a service account for tests, made by `keys/make`.

/// The private key as PKCS#8.
pub const PKCS8: &str = include_str!("../keys/pkcs8.pem");
/// The same as PKCS#1.
pub const PKCS1: &str = include_str!("../keys/pkcs1.pem");
/// Its public part as PKCS#1.
pub const PUBLIC: &[u8] = include_bytes!("../keys/public.der");
/// A key of another kind.
pub const EC: &str = include_str!("../keys/ec.pem");
