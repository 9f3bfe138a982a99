//! Encryption: rustls with ring.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::url::bad;
use crate::Result;

/// Which servers are spoken to.
#[derive(Clone, Debug)]
pub(crate) enum Trust {
    /// Any: what is sent is encrypted, but nobody knows for whom. As `psql` does with `prefer` and `require`.
    Anybody,
    /// Those with a certificate for their name, by the authorities in a file, or those that the system trusts.
    Certified {
        /// The file, in PEM.
        root: Option<PathBuf>,
    },
}

/// How a connection is encrypted.
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
            Trust::Anybody => {
                let anybody = Arc::new(Anybody(provider));
                let config = versions.dangerous().with_custom_certificate_verifier(anybody);
                (false, config.with_no_client_auth())
            }
            Trust::Certified { root } => {
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
    let unusable = || bad(format!("`sslrootcert` names `{}`, which has no certificates", file.display()));
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
            let reason = "this system has no authorities that it trusts; name a file with `sslrootcert`";
            Err(bad(reason.to_owned()))
        }
        _ => Ok(roots),
    }
}

/// Believes every certificate, and checks only that its owner is at the other end.
#[derive(Debug)]
struct Anybody(Arc<CryptoProvider>);

impl ServerCertVerifier for Anybody {
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
