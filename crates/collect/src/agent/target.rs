//! The collector as an agent reaches it: URL, authorities, token.

use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tonic::Request;
use tonic::metadata::{Ascii, MetadataValue};
use tonic::transport::{Certificate, ClientTlsConfig, Endpoint, Uri};

/// Files of the trusted certificate authorities, in PEM: Debian, Fedora, SUSE, Alpine.
const AUTHORITIES: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];
/// Within which a connection, TLS included, must stand.
const CONNECT_WITHIN: Duration = Duration::from_secs(10);
/// Interval at which a silent collector is pinged, and the time limit for its answer.
const PING: (Duration, Duration) = (Duration::from_secs(10), Duration::from_secs(10));

/// A collector.
#[derive(Clone, Debug)]
pub struct Target {
    url: String,
    endpoint: Endpoint,
    token: Option<MetadataValue<Ascii>>,
}

/// Why a collector cannot be reached that way.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// The URL is none, or is not spoken.
    #[error("{url}: {reason}; expected https://HOST:PORT")]
    Url {
        /// The URL as it was given.
        url: String,
        /// Description of the error.
        reason: &'static str,
    },
    /// Everybody on the way could read rows and token.
    #[error(
        "{url} is not on this host, and {missing} missing: use https:// and --token-file, or give \
         --insecure on a trusted network"
    )]
    Open {
        /// The URL as it was given.
        url: String,
        /// The missing part.
        missing: &'static str,
    },
    /// The authorities cannot be read.
    #[error("certificate authorities {}: {source}", path.display())]
    Authorities {
        /// The file.
        path: PathBuf,
        /// Error of the operating system.
        source: std::io::Error,
    },
    /// The system has no authorities where they are looked for.
    #[error("this system has no list of trusted certificate authorities: give one with --ca FILE")]
    NoAuthorities,
    /// The authorities are none, or the name in the URL is none.
    #[error("{url}: {reason}")]
    Tls {
        /// The URL as it was given.
        url: String,
        /// Description of the error.
        reason: String,
    },
    /// The token cannot be sent in a header.
    #[error("the token has characters that an HTTP header cannot carry: use visible ASCII")]
    Token,
}

impl Target {
    /// The collector at `url`: `https://HOST:PORT`, or on this host `http://127.0.0.1:PORT`.
    /// `authorities` are PEM certificates of whom to trust (default: as the system does). Without
    /// TLS and a token only this host is a target, unless `insecure`.
    ///
    /// # Errors
    /// [`TargetError`].
    pub fn new(
        url: &str,
        authorities: Option<&Path>,
        token: Option<&str>,
        insecure: bool,
    ) -> Result<Self, TargetError> {
        let bad = |reason| TargetError::Url { url: url.to_owned(), reason };
        let uri: Uri = url.parse().map_err(|_| bad("not a URL"))?;
        let host = uri.host().ok_or_else(|| bad("it names no host"))?;
        if !matches!(uri.path(), "" | "/") || uri.query().is_some() {
            return Err(bad("there is text after the port"));
        }
        let tls = match uri.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            _ => return Err(bad("neither http nor https")),
        };
        let missing = match (tls, token) {
            (false, Some(_)) => "TLS is",
            (true, None) => "a token is",
            (false, None) => "TLS and a token are",
            (true, Some(_)) => "",
        };
        if !missing.is_empty() && !insecure && !is_loopback(host) {
            return Err(TargetError::Open { url: url.to_owned(), missing });
        }
        let token = token.map(|token| format!("Bearer {token}").parse()).transpose();
        let mut token: Option<MetadataValue<Ascii>> = token.map_err(|_| TargetError::Token)?;
        if let Some(token) = &mut token {
            token.set_sensitive(true);
        }
        let mut endpoint = Endpoint::from(uri)
            .connect_timeout(CONNECT_WITHIN)
            .http2_keep_alive_interval(PING.0)
            .keep_alive_timeout(PING.1)
            .keep_alive_while_idle(true)
            .tcp_nodelay(true);
        if tls {
            let pem = read_authorities(authorities)?;
            let config = ClientTlsConfig::new().ca_certificate(Certificate::from_pem(pem));
            endpoint = endpoint.tls_config(config).map_err(|error| TargetError::Tls {
                url: url.to_owned(),
                reason: causes(&error),
            })?;
        }
        Ok(Self { url: url.to_owned(), endpoint, token })
    }

    /// The URL as it was given.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Whether what is sent is encrypted.
    pub(crate) fn speaks_tls(&self) -> bool {
        self.endpoint.uri().scheme_str() == Some("https")
    }

    pub(crate) const fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// A request that shows the token.
    pub(crate) fn request<T>(&self, message: T) -> Request<T> {
        let mut request = Request::new(message);
        if let Some(token) = &self.token {
            request.metadata_mut().insert("authorization", token.clone());
        }
        request
    }
}

fn is_loopback(host: &str) -> bool {
    let literal = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || literal.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

fn read_authorities(given: Option<&Path>) -> Result<Vec<u8>, TargetError> {
    let path = match given {
        Some(path) => path,
        None => AUTHORITIES
            .iter()
            .map(Path::new)
            .find(|path| path.exists())
            .ok_or(TargetError::NoAuthorities)?,
    };
    std::fs::read(path).map_err(|source| TargetError::Authorities { path: path.to_owned(), source })
}

/// An error and what it comes from, in one line, each thing said once.
pub(crate) fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let said = error.to_string();
        if !text.contains(&said) {
            text = format!("{text}: {said}");
        }
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(url: &str, token: Option<&str>, insecure: bool) -> Option<String> {
        // Any file that is there: what is in it comes later.
        let ca = Path::new("/proc/self/cmdline");
        match Target::new(url, Some(ca), token, insecure) {
            Err(TargetError::Tls { .. }) | Ok(_) => None,
            Err(error) => Some(error.to_string()),
        }
    }

    #[test]
    fn other_hosts_only_by_tls_and_with_a_token() {
        for (url, token, missing) in [
            ("http://collector:7000", None, "TLS and a token are missing"),
            ("http://10.0.0.1:7000", Some("t"), "TLS is missing"),
            ("https://collector:7000", None, "a token is missing"),
        ] {
            let said = refusal(url, token, false).unwrap();
            assert!(said.contains(missing), "{said}");
            assert_eq!(refusal(url, token, true), None);
        }
        for url in ["http://127.0.0.1:7", "http://[::1]:7", "http://localhost:7"] {
            assert_eq!(refusal(url, None, false), None);
        }
        assert_eq!(refusal("https://collector:7000", Some("t"), false), None);
    }

    #[test]
    fn what_is_wrong_with_a_url_is_said() {
        let said = |url| refusal(url, Some("t"), true).unwrap_or_default();
        assert!(said("ftp://a:1").starts_with("ftp://a:1: neither http nor https"));
        assert!(said("https://a:1/path").contains("text after the port"));
        assert!(said("a b").contains("not a URL"));
        assert!(refusal("https://a:1", Some("a\nb"), true).unwrap().contains("the token has"));
    }
}
