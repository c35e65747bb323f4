//! TLS on the server's side: certificate and key from PEM files.

use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};
use tokio_rustls::TlsAcceptor;

/// Files of the certificate and key.
#[derive(Clone, Debug)]
pub struct TlsFiles {
    /// PEM: the certificate, then the intermediate ones up to the authority.
    pub certificate: PathBuf,
    /// PEM: its private key (PKCS #8, PKCS #1 or SEC 1).
    pub key: PathBuf,
}

/// Reason why certificate and key cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be read, or its content is not valid.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Error of the parser.
        source: rustls::pki_types::pem::Error,
    },
    /// The two do not fit together, or are of a kind that is not known.
    #[error("certificate {} and its key cannot be used: {source}", path.display())]
    Pair {
        /// The certificate.
        path: PathBuf,
        /// Error of the TLS library.
        source: rustls::Error,
    },
}

/// The certificate that is presented now.
pub(crate) struct Tls {
    files: TlsFiles,
    acceptor: RwLock<TlsAcceptor>,
}

impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tls").field("files", &self.files).finish_non_exhaustive()
    }
}

impl Tls {
    pub(crate) fn new(files: TlsFiles) -> Result<Self, TlsError> {
        let acceptor = RwLock::new(files.acceptor()?);
        Ok(Self { files, acceptor })
    }

    /// The acceptor for the next connection.
    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        self.acceptor.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Reads the files anew; when they cannot be used the certificate stays.
    pub(crate) fn reload(&self) -> Result<(), TlsError> {
        let acceptor = self.files.acceptor()?;
        *self.acceptor.write().unwrap_or_else(PoisonError::into_inner) = acceptor;
        Ok(())
    }
}

impl TlsFiles {
    /// Reads both; TLS 1.2 and 1.3, HTTP/2 before HTTP/1.1.
    pub(crate) fn acceptor(&self) -> Result<TlsAcceptor, TlsError> {
        let bad = |path: &PathBuf| {
            let path = path.clone();
            move |source| TlsError::File { path, source }
        };
        let chain: Result<Vec<_>, _> = CertificateDer::pem_file_iter(&self.certificate)
            .and_then(Iterator::collect)
            .map_err(bad(&self.certificate));
        let key = PrivateKeyDer::from_pem_file(&self.key).map_err(bad(&self.key))?;
        let refused = |source| TlsError::Pair { path: self.certificate.clone(), source };
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(refused)?
            .with_no_client_auth()
            .with_single_cert(chain?, key)
            .map_err(refused)?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(TlsAcceptor::from(Arc::new(config)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_with_the_files_is_said() {
        let dir = tempfile::tempdir().unwrap();
        let pair = |name: &str| {
            let key = rcgen::KeyPair::generate().unwrap();
            let params = rcgen::CertificateParams::new(vec![name.to_owned()]).unwrap();
            (params.self_signed(&key).unwrap().pem(), key.serialize_pem())
        };
        let ((certificate, key), (_, other)) = (pair("a"), pair("b"));
        let put = |name: &str, text: &str| {
            std::fs::write(dir.path().join(name), text).unwrap();
            dir.path().join(name)
        };
        let files = TlsFiles { certificate: put("c.pem", &certificate), key: put("k.pem", &key) };
        assert!(files.acceptor().is_ok());
        let said = |files: &TlsFiles| files.acceptor().err().unwrap().to_string();
        let files = TlsFiles { key: put("other.pem", &other), ..files };
        assert!(said(&files).contains("c.pem and its key cannot be used"), "{}", said(&files));
        let files = TlsFiles { key: put("empty.pem", "no key"), ..files };
        assert!(said(&files).contains("empty.pem: "), "{}", said(&files));
        let files = TlsFiles { certificate: dir.path().join("none.pem"), ..files };
        assert!(said(&files).contains("none.pem") || said(&files).contains("empty.pem"));
    }
}
