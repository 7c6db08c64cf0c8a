//! Which servers are believed when the roots are the project's own.

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, SignatureScheme};
use std::sync::Arc;

/// The usual verification, and one thing more: a server may show one of the roots itself.
///
/// That is what a self-signed certificate is, and common tools mark all of those as authorities, which `rustls` takes
/// from no server.
#[derive(Debug)]
pub(super) struct OwnRoots {
    pub usual: Arc<WebPkiServerVerifier>,
    pub roots: Vec<CertificateDer<'static>>,
}

impl ServerCertVerifier for OwnRoots {
    fn verify_server_cert(
        &self,
        shown: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        match self.usual.verify_server_cert(shown, intermediates, name, ocsp, now) {
            // The time was looked at before, the name was not.
            Err(error) if is_authority(&error) && self.roots.iter().any(|root| root == shown) => {
                verify_server_name(&ParsedCertificate::try_from(shown)?, name)?;
                Ok(ServerCertVerified::assertion())
            }
            result => result,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        shown: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.usual.verify_tls12_signature(message, shown, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        shown: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.usual.verify_tls13_signature(message, shown, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.usual.supported_verify_schemes()
    }
}

/// Whether the only fault is that the certificate is one of an authority. The error has no type that can be named from
/// here; should its text change, such servers are refused.
fn is_authority(error: &Error) -> bool {
    matches!(error, Error::InvalidCertificate(CertificateError::Other(other)) if other.to_string() == "CaUsedAsEndEntity")
}
