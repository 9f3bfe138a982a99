//! TLS: rustls with ring.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::url::invalid_url;
use crate::Result;

/// The servers to trust.
#[derive(Clone, Debug)]
pub(crate) enum Trust {
    /// Any server: encrypted, but not authenticated, like `prefer` and `require` of `psql`.
    Any,
    /// Servers with a certificate for their name, signed by an authority in a file or one that the
    /// system trusts.
    Verified {
        /// The file, in PEM.
        root: Option<PathBuf>,
    },
}

/// The TLS configuration of a connection.
#[derive(Clone)]
pub(crate) struct Tls {
    verified: bool,
    pub(crate) connect: MakeRustlsConnect,
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls").field("verified", &self.verified).finish_non_exhaustive()
    }
}

impl Tls {
    pub(crate) fn new(trust: Trust) -> Result<Self> {
        let provider = Arc::new(ring::default_provider());
        let versions = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .expect("ring has what the usual versions need");
        let (verified, config) = match trust {
            Trust::Any => {
                let verifier = Arc::new(AcceptAny(provider));
                let config = versions.dangerous().with_custom_certificate_verifier(verifier);
                (false, config.with_no_client_auth())
            }
            Trust::Verified { root } => {
                let roots = match &root {
                    Some(file) => roots_of(file)?,
                    None => roots_of_system()?,
                };
                (true, versions.with_root_certificates(roots).with_no_client_auth())
            }
        };
        Ok(Self { verified, connect: MakeRustlsConnect::new(config) })
    }

    #[cfg(test)]
    pub(crate) fn is_verified(&self) -> bool {
        self.verified
    }
}

fn roots_of(file: &Path) -> Result<RootCertStore> {
    let unusable = || invalid_url(format!("`sslrootcert` `{}` has no certificates", file.display()));
    let certificates = CertificateDer::pem_file_iter(file).map_err(|_| unusable())?;
    let (mut roots, certificates) = (RootCertStore::empty(), certificates.filter_map(Result::ok));
    match roots.add_parsable_certificates(certificates) {
        (0, _) => Err(unusable()),
        _ => Ok(roots),
    }
}

fn roots_of_system() -> Result<RootCertStore> {
    let mut roots = RootCertStore::empty();
    match roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs) {
        (0, _) => {
            let reason = "the system trusts no certificate authorities; set `sslrootcert`";
            Err(invalid_url(reason.to_owned()))
        }
        _ => Ok(roots),
    }
}

/// Accepts every certificate, and checks only that the server has its key.
#[derive(Debug)]
struct AcceptAny(Arc<CryptoProvider>);

impl ServerCertVerifier for AcceptAny {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
