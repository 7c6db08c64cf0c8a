//! TLS by `rustls`, with own certificates where they are given. Servers are always verified.

use super::trust::OwnRoots;
use crate::{ClientTls, HttpError};
use rustls::client::WebPkiServerVerifier;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use std::fmt;
use std::io::{Read, Write};
use std::sync::Arc;
use ureq::Error;
use ureq::unversioned::transport::{Buffers, ConnectionDetails, Connector, LazyBuffers};
use ureq::unversioned::transport::{NextTimeout, Transport, TransportAdapter};

/// Wraps connections for `https` URLs.
#[derive(Debug)]
pub(super) struct TlsConnector(Option<Arc<ClientConfig>>);

impl TlsConnector {
    /// For connections that are never encrypted.
    pub(super) fn none() -> Self {
        Self(None)
    }

    /// With own certificates, or the roots that `common_roots` gives.
    ///
    /// # Errors
    /// [`HttpError::InvalidTls`] if the certificates cannot be used.
    pub(super) fn new(
        tls: Option<&ClientTls>,
        common_roots: impl FnOnce() -> Result<Arc<RootCertStore>, HttpError>,
    ) -> Result<Self, HttpError> {
        let invalid = |what, reason: &dyn fmt::Display| HttpError::InvalidTls { what, reason: reason.to_string() };
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(|error| invalid("TLS", &error))?;
        let builder = match tls.and_then(|tls| tls.ca.as_ref()) {
            None => builder.with_root_certificates(common_roots()?),
            Some(ca) => {
                let certificates = certificates("ca", ca)?;
                let mut roots = RootCertStore::empty();
                for certificate in certificates.iter().cloned() {
                    roots.add(certificate).map_err(|error| invalid("ca", &error))?;
                }
                let usual = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider)
                    .build()
                    .map_err(|error| invalid("ca", &error))?;
                // "Dangerous" is what `rustls` calls any verifier that is not its own.
                let verifier = Arc::new(OwnRoots { usual, roots: certificates });
                builder.dangerous().with_custom_certificate_verifier(verifier)
            }
        };
        let config = match tls {
            None => builder.with_no_client_auth(),
            Some(tls) => {
                let key = PrivateKeyDer::from_pem_slice(&tls.key).map_err(|_| {
                    invalid("key", &"it holds no private key as PEM (an encrypted one is not supported)")
                })?;
                builder
                    .with_client_auth_cert(certificates("cert", &tls.cert)?, key)
                    .map_err(|error| invalid("cert", &error))?
            }
        };
        Ok(Self(Some(Arc::new(config))))
    }
}

fn certificates(what: &'static str, pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, HttpError> {
    let invalid = |reason: String| HttpError::InvalidTls { what, reason };
    let found: Vec<_> = CertificateDer::pem_slice_iter(pem)
        .collect::<Result<_, _>>()
        .map_err(|error| invalid(format!("it cannot be read as PEM: {error}")))?;
    if found.is_empty() { Err(invalid("it holds no certificate as PEM".to_owned())) } else { Ok(found) }
}

impl<In: Transport> Connector<In> for TlsConnector {
    type Out = Box<dyn Transport>;

    fn connect(&self, details: &ConnectionDetails, chained: Option<In>) -> Result<Option<Self::Out>, Error> {
        let Some(transport) = chained else { return Ok(None) };
        if !details.needs_tls() || transport.is_tls() {
            return Ok(Some(Box::new(transport)));
        }
        let config = self.0.clone().ok_or(Error::Tls("this connection cannot be encrypted"))?;
        let host = details.uri.host().unwrap_or_default().trim_matches(['[', ']']).to_owned();
        let name = ServerName::try_from(host).map_err(|_| Error::Tls("the host is not a name that TLS can verify"))?;
        let mut connection = ClientConnection::new(config, name).map_err(|error| Error::Other(Box::new(error)))?;
        let mut socket = TransportAdapter::new(transport, details.current_time.clone());
        socket.set_timeout(details.timeout);
        connection.complete_io(&mut socket)?;
        let buffers = LazyBuffers::new(details.config.input_buffer_size(), details.config.output_buffer_size());
        Ok(Some(Box::new(TlsTransport { buffers, stream: StreamOwned::new(connection, socket) })))
    }
}

struct TlsTransport<In: Transport> {
    buffers: LazyBuffers,
    stream: StreamOwned<ClientConnection, TransportAdapter<In>>,
}

impl<In: Transport> fmt::Debug for TlsTransport<In> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TlsTransport")
    }
}

impl<In: Transport> Transport for TlsTransport<In> {
    fn buffers(&mut self) -> &mut dyn Buffers {
        &mut self.buffers
    }

    fn transmit_output(&mut self, amount: usize, timeout: NextTimeout) -> Result<(), Error> {
        self.stream.get_mut().set_timeout(timeout);
        let output = &self.buffers.output()[..amount];
        Ok(self.stream.write_all(output)?)
    }

    fn await_input(&mut self, timeout: NextTimeout) -> Result<bool, Error> {
        self.stream.get_mut().set_timeout(timeout);
        let amount = self.stream.read(self.buffers.input_append_buf())?;
        self.buffers.input_appended(amount);
        Ok(amount > 0)
    }

    fn is_open(&mut self) -> bool {
        self.stream.get_mut().get_mut().is_open()
    }

    fn is_tls(&self) -> bool {
        true
    }
}
