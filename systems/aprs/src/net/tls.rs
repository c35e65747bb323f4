//! TLS: settings from files, and the holder of a certificate.

use crate::callsign::Callsign;
use crate::config::TlsFiles;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{ClientConfig, WebPkiServerVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{
    CertificateDer, CertificateRevocationListDer, PrivateKeyDer, ServerName, UnixTime,
};
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{
    CertificateError, DigitallySignedStruct, DistinguishedName, Error, RootCertStore, ServerConfig,
    SignatureScheme,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use x509_parser::prelude::{FromDer, X509Certificate};

/// TrustedQSL's `AROcallsign`: the callsign in the subject of an amateur radio certificate.
const OID_CALLSIGN: &str = "1.3.6.1.4.1.12348.1.1";

/// Reasons why files cannot be used for TLS.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be read, or has another content than expected.
    #[error("{}: {source}", path.display())]
    File {
        /// Path of the file.
        path: PathBuf,
        /// Error of the PEM reader.
        source: rustls::pki_types::pem::Error,
    },
    /// The file holds nothing of the kind.
    #[error("{}: the file holds no certificate", .0.display())]
    Empty(PathBuf),
    /// A port with TLS has to have both.
    #[error("a port with TLS needs a key and a certificate (tlskey=, tlscert=)")]
    Missing,
    /// The files do not fit together, or are of an unknown kind.
    #[error("{}: {reason}", path.display())]
    Refused {
        /// The file that was looked at.
        path: PathBuf,
        /// Reason given by the library.
        reason: String,
    },
}

/// A port's TLS.
#[derive(Clone, Debug)]
pub(crate) struct ServerTls {
    pub(crate) config: Arc<ServerConfig>,
    /// Checks clients' certificates, where the port wants them.
    verifier: Option<Arc<dyn ClientCertVerifier>>,
}

/// An uplink's TLS.
#[derive(Clone, Debug)]
pub(crate) struct ClientTls {
    pub(crate) config: Arc<ClientConfig>,
    /// The server's certificate is checked against an authority.
    pub(crate) verifies: bool,
}

impl ServerTls {
    /// Reads a port's files.
    ///
    /// # Errors
    /// The file that cannot be used, and the reason.
    pub(crate) fn read(files: &TlsFiles) -> Result<Self, TlsError> {
        let (Some(key_path), Some(certificate_path)) = (&files.key, &files.certificate) else {
            return Err(TlsError::Missing);
        };
        let chain = certificates(certificate_path)?;
        let key = key(key_path)?;
        let verifier = match &files.ca {
            Some(ca) => {
                let builder = WebPkiClientVerifier::builder_with_provider(roots(ca)?, provider())
                    .with_crls(crls(files)?)
                    .only_check_end_entity_revocation();
                Some(builder.build().map_err(refused(ca))?)
            }
            None => None,
        };
        let builder = ServerConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()
            .map_err(refused(certificate_path))?;
        let builder = match &verifier {
            Some(verifier) => {
                builder.with_client_cert_verifier(Arc::new(AnyCertificate(verifier.clone())))
            }
            None => builder.with_no_client_auth(),
        };
        let config = builder.with_single_cert(chain, key).map_err(refused(certificate_path))?;
        Ok(Self { config: Arc::new(config), verifier })
    }

    /// Callsign of a client by the certificates it sent: `None` where the port requires none.
    ///
    /// # Errors
    /// The reason why it may not log in, as text for the client.
    pub(crate) fn holder(
        &self,
        shown: Option<&[CertificateDer<'_>]>,
    ) -> Result<Option<Callsign>, String> {
        let Some(verifier) = &self.verifier else { return Ok(None) };
        let Some((end_entity, intermediates)) = shown.and_then(<[_]>::split_first) else {
            return Err("authentication failed: Peer did not present a certificate".to_owned());
        };
        verifier
            .verify_client_cert(end_entity, intermediates, now())
            .map_err(|error| format!("not accepted: {error}"))?;
        let callsign = callsign(end_entity)
            .ok_or_else(|| "authentication failed: no callsign in its subject".to_owned())?;
        Ok(Some(callsign))
    }
}

impl ClientTls {
    /// Reads an uplink's files.
    ///
    /// # Errors
    /// The file that cannot be used, and the reason.
    pub(crate) fn read(files: &TlsFiles) -> Result<Self, TlsError> {
        let chain_verifier = match &files.ca {
            Some(ca) => {
                let builder = WebPkiServerVerifier::builder_with_provider(roots(ca)?, provider())
                    .with_crls(crls(files)?)
                    .only_check_end_entity_revocation();
                Some(builder.build().map_err(refused(ca))?)
            }
            None => None,
        };
        let verifies = chain_verifier.is_some();
        let nothing = Path::new("TLS of an uplink");
        let builder = ClientConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()
            .map_err(refused(nothing))?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(UplinkCertificate {
                chain: chain_verifier,
                provider: provider(),
            }));
        let config = match (&files.certificate, &files.key) {
            (Some(certificate), Some(key_path)) => builder
                .with_client_auth_cert(certificates(certificate)?, key(key_path)?)
                .map_err(refused(certificate))?,
            _ => builder.with_no_client_auth(),
        };
        Ok(Self { config: Arc::new(config), verifies })
    }
}

/// The callsign in a certificate's subject.
pub(crate) fn callsign(certificate: &CertificateDer<'_>) -> Option<Callsign> {
    let (_, certificate) = X509Certificate::from_der(certificate).ok()?;
    let attribute = certificate
        .subject()
        .iter_attributes()
        .find(|attribute| attribute.attr_type().to_id_string() == OID_CALLSIGN)?;
    let text = attribute.as_str().ok()?;
    Callsign::new(text.as_bytes()).filter(|_| text.bytes().all(|octet| octet.is_ascii_graphic()))
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

fn now() -> UnixTime {
    let since_1970 = u64::try_from(chronoscope_clock::utc_now_ns()).unwrap_or(0);
    UnixTime::since_unix_epoch(std::time::Duration::from_nanos(since_1970))
}

fn refused<E: std::fmt::Display>(path: &Path) -> impl Fn(E) -> TlsError {
    move |error| TlsError::Refused { path: path.to_owned(), reason: error.to_string() }
}

fn unreadable(path: &Path) -> impl Fn(rustls::pki_types::pem::Error) -> TlsError {
    move |source| TlsError::File { path: path.to_owned(), source }
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let certificates: Vec<_> = CertificateDer::pem_file_iter(path)
        .and_then(Iterator::collect)
        .map_err(unreadable(path))?;
    if certificates.is_empty() {
        return Err(TlsError::Empty(path.to_owned()));
    }
    Ok(certificates)
}

fn key(path: &Path) -> Result<PrivateKeyDer<'static>, TlsError> {
    PrivateKeyDer::from_pem_file(path).map_err(unreadable(path))
}

fn roots(path: &Path) -> Result<Arc<RootCertStore>, TlsError> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(path)? {
        roots.add(certificate).map_err(refused(path))?;
    }
    Ok(Arc::new(roots))
}

fn crls(files: &TlsFiles) -> Result<Vec<CertificateRevocationListDer<'static>>, TlsError> {
    let Some(path) = &files.crl else { return Ok(Vec::new()) };
    CertificateRevocationListDer::pem_file_iter(path)
        .and_then(Iterator::collect)
        .map_err(unreadable(path))
}

/// Accepts any certificate of a client, or none, and has it prove that it has the key. The
/// certificate is checked after the handshake ([`ServerTls::holder`]): only then can the client be
/// informed by a line of text, which programs of APRS-IS show to people.
#[derive(Debug)]
struct AnyCertificate(Arc<dyn ClientCertVerifier>);

impl ClientCertVerifier for AnyCertificate {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        self.0.root_hint_subjects()
    }

    fn client_auth_mandatory(&self) -> bool {
        false
    }

    fn verify_client_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        Ok(ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.0.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.0.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_verify_schemes()
    }
}

/// Checks an uplink's certificate against the configured authority, where there is one. The name
/// in it need not be the host's: servers of APRS-IS are reached by rotating names and show
/// certificates of callsigns.
#[derive(Debug)]
struct UplinkCertificate {
    chain: Option<Arc<WebPkiServerVerifier>>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for UplinkCertificate {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(chain) = &self.chain else { return Ok(ServerCertVerified::assertion()) };
        match chain.verify_server_cert(end_entity, intermediates, name, ocsp, now) {
            // The chain was checked before the name.
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            result => result,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
