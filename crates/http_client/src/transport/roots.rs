//! Whom servers are believed by when a request brings no roots of its own: those of the system, or else Mozilla's.

use crate::{ClientOptions, HttpError};
use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use std::path::Path;

/// Where systems keep their roots in one file: Debian and Alpine, Fedora, openSUSE, others.
const BUNDLES: [&str; 5] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// # Errors
/// [`HttpError::InvalidTls`] if the places that the options name hold no root. Others are not trusted in their stead.
pub(super) fn roots(options: &ClientOptions) -> Result<RootCertStore, HttpError> {
    let mut roots = RootCertStore::empty();
    if options.root_file.is_none() && options.root_folders.is_empty() {
        for bundle in BUNDLES {
            add(&mut roots, Path::new(bundle));
            if !roots.is_empty() {
                return Ok(roots);
            }
        }
        return Ok(RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() });
    }
    if let Some(file) = &options.root_file {
        add(&mut roots, file);
    }
    for entry in options.root_folders.iter().filter_map(|folder| folder.read_dir().ok()).flatten().flatten() {
        add(&mut roots, &entry.path());
    }
    if roots.is_empty() {
        let reason = "they lead to no certificate that can be read".to_owned();
        return Err(HttpError::InvalidTls { what: "SSL_CERT_FILE, SSL_CERT_DIR", reason });
    }
    Ok(roots)
}

/// Adds what can be read. A system's bundle may hold certificates of kinds that are not supported.
fn add(roots: &mut RootCertStore, file: &Path) {
    if let Ok(certificates) = CertificateDer::pem_file_iter(file) {
        roots.add_parsable_certificates(certificates.filter_map(Result::ok));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn certificates() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/certificates")
    }

    #[test]
    fn there_are_roots_on_every_system() {
        assert!(roots(&ClientOptions::default()).unwrap().len() > 20);
    }

    #[test]
    fn places_that_are_named_replace_those_of_the_system() {
        let mut options = ClientOptions { root_file: Some(certificates().join("ca.pem")), ..ClientOptions::default() };
        assert_eq!(roots(&options).unwrap().len(), 1);
        options.root_folders = vec![PathBuf::from("/nowhere"), certificates()];
        assert!(roots(&options).unwrap().len() > 3);
        options.root_file = None;
        options.root_folders.pop();
        assert!(roots(&options).unwrap_err().to_string().starts_with("SSL_CERT_FILE"));
    }
}
